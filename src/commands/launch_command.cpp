#include "src/commands/launch_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>

#include "ako/clock.h"
#include "ako/error.h"
#include "ako/printable.h"
#include "models/blas.h"
#include "models/catalog.h"
#include "src/config/cluster_file.h"
#include "src/launch/peer_child.h"
#include "src/launch/peer_place.h"
#include "src/launch/ports.h"
#include "src/peer/initial_parameters.h"
#include "src/peer/link_safety.h"
#include "src/peer/memory_plan.h"
#include "src/peer/training_data.h"
#include "src/peer/warnings.h"
#include "src/results/checkpoint_file.h"
#include "src/results/milestone_evaluation.h"
#include "src/results/milestone_file.h"
#include "src/results/peer_result.h"
#include "src/results/run_folder.h"
#include "src/results/summary.h"
#include "src/screen/live_view.h"
#include "src/screen/run_display.h"
#include "src/screen/terminal.h"
#include "src/system/console.h"
#include "src/system/interrupts.h"

namespace ako {

namespace {

/// Signals as something to read: SIGINT, SIGTERM, SIGCHLD, SIGHUP unless it is ignored (as under
/// nohup), and with a live view those of a terminal. They stay blocked for launch.
class SignalQueue {
  public:
    explicit SignalQueue(bool live) {
        sigset_t signals;
        sigemptyset(&signals);
        for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, number);
        if (!hangups_ignored()) sigaddset(&signals, SIGHUP);
        if (live) {
            for (const int number : {SIGWINCH, SIGTSTP}) sigaddset(&signals, number);
        }
        pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        // A reader that is gone, or a file that must not grow, is no reason to die.
        ::signal(SIGPIPE, SIG_IGN);
        ::signal(SIGXFSZ, SIG_IGN);
        fd_ = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
        if (fd_ < 0) throw StartupError("signalfd is refused by the system");
    }
    ~SignalQueue() { close(fd_); }
    SignalQueue(const SignalQueue&) = delete;
    SignalQueue& operator=(const SignalQueue&) = delete;

    int fd() const { return fd_; }
    struct Taken {
        int interrupts = 0;    ///< requests to end
        bool hung_up = false;  ///< the terminal is gone; a shell and the system may both say so
        bool resized = false;
        bool suspend = false;
    };
    Taken take() const {
        Taken taken;
        signalfd_siginfo info{};
        while (read(fd_, &info, sizeof info) == sizeof info) {
            taken.interrupts += info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM ? 1 : 0;
            taken.hung_up |= info.ssi_signo == SIGHUP;
            taken.resized |= info.ssi_signo == SIGWINCH;
            taken.suspend |= info.ssi_signo == SIGTSTP;
        }
        return taken;
    }

  private:
    int fd_ = -1;
};

/// The peers of one run while they run. One thread.
class Launch {
  public:
    Launch(const Settings& settings, const PeerPlace& place, bool keep_milestones,
           std::string resume, std::string folder, LatestRun latest, bool live)
        : settings_(settings),
          place_(place),
          keep_milestones_(keep_milestones),
          resume_(std::move(resume)),
          folder_(std::move(folder)),
          latest_(std::move(latest)),
          signals_(live),
          state_(settings.run, settings.training.epochs, peer_names(settings)) {
        if (live)
            view_ = std::make_unique<LiveView>(console_, peer_names(settings));
        else
            view_ = std::make_unique<RunDisplay>(console_, peer_names(settings));
    }

    ExitStatus run() {
        start_peers();
        while (!all_over()) {
            look(next_second_);
            for (std::size_t k = 0; k < children_.size(); ++k) attend(k);
            show();
        }
        ended_at_ = seconds();
        Summary summary = summarize();
        if (settings_.training.evaluate == EvaluateWhen::after) evaluate_milestones(summary);
        summary.interrupted = interrupted_;
        summary.keep_begins_between(began_, clock_.now());
        // First: a terminal that takes nothing must hold up no file.
        write("summary.json", summary.json());
        write("curve.json", summary.curve(settings_.training.evaluate).json());
        show_outcome(summary);
        const ExitStatus status = summary.exit_status();
        return went_well(status) && !not_written_.empty() ? exit_not_written : status;
    }

  private:
    /// That it cannot be written is said after the outcome, and no more.
    void write(const std::string& name, const std::string& text) try {
        write_whole_file(folder_ + "/" + name, text);
    } catch (const StartupError& error) {
        not_written_ += fmt::format("ako: {}\n     {}\n", printable_lines(error.what()),
                                    printable_lines(error.hint()));
    }

    void show_outcome(const Summary& summary) {
        if (const PeerResult* finisher = summary.finisher())
            state_.take_accuracy(*finisher->accuracy);
        state_.refresh(seconds());
        view_->close(state_);
        console_.print(Console::Stream::out, "\n" + summary.text(folder_));
        if (!not_written_.empty()) console_.print(Console::Stream::err, not_written_);
    }

    double seconds() const { return std::chrono::duration<double>(clock_.now() - began_).count(); }

    void start_peers() {
        for (std::size_t k = 0; k < settings_.peers.size(); ++k) {
            const std::string& name = settings_.peers[k].name;
            std::vector<std::string> arguments = {folder_ + "/config.yaml", "--peer", name,
                                                  "--output-dir", folder_};
            if (goes_on(name)) arguments.insert(arguments.end(), {"--resume", resume_});
            children_.push_back(
                std::make_unique<PeerChild>(name, arguments, place_.words(k, name)));
        }
    }

    /// In the mode ako a peer without a checkpoint begins anew, and has its part from the others.
    bool goes_on(const std::string& name) {
        if (resume_.empty()) return false;
        const bool anew =
            settings_.exchange.mode == Mode::ako && checkpoint_paths(resume_, name).empty();
        if (anew) say(fmt::format("{} has no checkpoint in {}: it begins anew", name, resume_));
        return !anew;
    }

    /// Waits for something to happen, at most until `moment`; takes in signals and keys.
    void look(double moment) {
        wait_until(moment);
        take_signals();
        if (input_ready_ && view_->take_input(state_) && !interrupted_) interrupt(1);
    }

    /// Once a second.
    void show() {
        if (seconds() < next_second_) return;
        state_.refresh(seconds());
        view_->show_second(state_);
        next_second_ = std::floor(seconds()) + 1;
    }

    /// All have ended, and all they said is read.
    bool all_over() {
        return std::all_of(children_.begin(), children_.end(), [](const auto& child) {
            return child->ended() && child->log().fd() < 0 && child->report().fd() < 0;
        });
    }

    void wait_until(double moment) {
        std::vector<pollfd> watched = {{signals_.fd(), POLLIN, 0},
                                       {input_gone_ ? -1 : view_->input_fd(), POLLIN, 0}};
        for (const auto& child : children_) {
            for (const int fd : {child->log().fd(), child->report().fd()}) {
                if (fd >= 0) watched.push_back({fd, POLLIN, 0});
            }
        }
        const double left_ms = std::max(0.0, (moment - seconds()) * 1e3);
        poll(watched.data(), watched.size(), static_cast<int>(left_ms) + 1);
        input_ready_ = (watched[1].revents & POLLIN) != 0;
        input_gone_ |= watched[1].revents != 0 && !input_ready_;
    }

    void take_signals() {
        const SignalQueue::Taken taken = signals_.take();
        if (taken.interrupts > 0) interrupt(taken.interrupts);
        if (taken.hung_up && !interrupted_) interrupt(1);
        if (taken.suspend) view_->suspend(state_);
        if (taken.resized) view_->resized(state_);
    }

    void interrupt(int times) {
        const bool again = interrupted_ || times > 1;
        interrupted_ = true;
        if (evaluating_) return say("interrupted: what is not evaluated yet stays in its file");
        say(again ? "interrupted again: ending the peers at once"
                  : "interrupted: the peers stop after this round; once more ends them at once");
        for (const auto& child : children_) child->signal(again ? SIGKILL : SIGINT);
    }

    void attend(std::size_t k) {
        PeerChild& child = *children_[k];
        for (const std::string& line : child.log().read_lines()) log(child.name(), line);
        for (MetricsLine& line : child.read_report()) {
            if (line.round > 0) latest_.trained();
            state_.take_line(k, std::move(line), seconds());
        }
        if (!child.ended()) return;
        state_.take_exit(k, child.exit());
        // One that cannot start would leave the others waiting for it.
        if (could_not_start(k) && !start_failed_ && !interrupted_) {
            start_failed_ = true;
            say(fmt::format("{} could not start: stopping the others", child.name()));
            for (const auto& other : children_) other->signal(SIGINT);
        }
    }

    /// Without a word from the peer it was the command that is to start it that failed.
    bool command_failed(std::size_t k) const {
        return !place_.here() && !interrupted_ && children_[k]->exit() >= 0 &&
               !state_.peers()[k].heard;
    }
    bool could_not_start(std::size_t k) const {
        const bool trained = state_.peers()[k].line.round > 0;  // and then the others can go on
        return (children_[k]->exit() == exit_start_up && !trained) || command_failed(k);
    }

    /// What the peers kept for now, on this machine's whole processor, into their curves.
    void evaluate_milestones(Summary& summary) {
        evaluating_ = true;
        const bool interrupted_before = interrupted_;
        interrupted_ = false;
        try {
            evaluate_kept(summary);
        } catch (const std::exception& error) {  // the result of the run is worth more
            say(fmt::format("what is not evaluated yet stays in its file: {}", error.what()));
        }
        interrupted_ |= interrupted_before;
    }

    void evaluate_kept(Summary& summary) {
        const auto network = make_network(settings_.model);
        set_blas_threads(settings_.training.threads);
        TrainingData data(settings_, DataParts::test);
        MilestoneEvaluation evaluation(*network, data.test_set());
        for (PeerResult& peer : summary.peers) {
            const std::string path = milestone_path(folder_, peer.name);
            std::error_code ignored;
            if (interrupted_ || !std::filesystem::exists(path, ignored)) continue;
            MilestoneEvaluation::Evaluated kept;
            bool all = true;
            try {
                kept = evaluation.evaluate(path, [&](const auto& point, auto number, auto count) {
                    all = number == count;
                    say_evaluated(peer.name, point, number, count);
                    look(seconds());
                    show();
                    return !interrupted_;
                });
            } catch (const StartupError& error) {  // the result of the run is worth more
                all = false;
                say(error.what());
            }
            peer.curve.insert(peer.curve.begin(), kept.points.begin(), kept.points.end());
            // One that was killed says nothing else.
            if (!peer.training_began) peer.training_began = kept.began;
            if (all && !keep_milestones_) std::filesystem::remove(path, ignored);
        }
    }

    void say_evaluated(const std::string& name, const CurvePoint& point, std::size_t number,
                       std::size_t count) {
        // A line a second, and the last.
        if (number < count && seconds() < next_second_) return;
        say(fmt::format("evaluated {} of {} milestones of {}: {:.2f} % at {:.2f} epochs", number,
                        count, name, 100 * point.accuracy,
                        point.progress * settings_.training.epochs));
    }

    void say(const std::string& text) { log("ako", text); }
    void log(const std::string& name, const std::string& text) {
        // Also of a command of --in, which says what it likes.
        LogEntry entry{seconds(), name, printable(text)};
        view_->show_log(entry);
        state_.take_log(std::move(entry));
    }

    Summary summarize() {
        Summary summary;
        summary.run = settings_.run;
        summary.seconds = ended_at_;
        summary.alone = settings_.exchange.mode == Mode::local;
        for (std::size_t k = 0; k < children_.size(); ++k) {
            const PeerChild& child = *children_[k];
            const MetricsLine& line = state_.peers()[k].line;
            PeerResult result;
            const std::string file = fmt::format("{}/result-{}.json", folder_, child.name());
            if (child.result()) {
                result = *child.result();
            } else if (const auto written = read_result(file)) {
                result = *written;
            } else {
                result.rounds = line.round;
                result.images = line.images;
                result.egress_bytes = line.egress_bytes;
                result.ingress_bytes = line.ingress_bytes;
            }
            result.name = child.name();
            result.role = settings_.peers[k].role;
            result.exit = child.exit();
            if (command_failed(k)) {
                result.why = fmt::format("started by --in, it ended with exit {} before it began",
                                         child.exit());
                result.exit = exit_start_up;
            }
            summary.peers.push_back(result);
        }
        return summary;
    }

    const Settings& settings_;
    const PeerPlace& place_;
    const bool keep_milestones_;
    const std::string resume_;  ///< the run folder to go on from; empty: none
    const std::string folder_;
    LatestRun latest_;
    const SteadyClock clock_;
    const Time began_ = clock_.now();
    Console console_;
    SignalQueue signals_;
    RunState state_;
    std::unique_ptr<RunView> view_;
    std::vector<std::unique_ptr<PeerChild>> children_;
    bool input_ready_ = false;
    bool input_gone_ = false;  ///< nobody can press keys any more
    bool interrupted_ = false;
    bool start_failed_ = false;
    bool evaluating_ = false;  ///< all peers have ended
    double next_second_ = 0;   ///< when people are shown the state again
    double ended_at_ = 0;      ///< seconds: the last peer
    std::string not_written_;  ///< which files, for people
};

/// Refuses now what every peer would refuse later, before anything is started.
void check_before(const Settings& settings, const PeerPlace& place) {
    const auto network = make_network(settings.model);
    check_memory(settings, plan_memory(settings, {network->parameter_count(),
                                                  training_data_bytes(settings)}));
    if (!settings.model.initial.empty()) initial_parameters(settings, *network);
    const TrainingData data(settings);
    check_links(settings);
    for (const std::string& warning :
         warnings(settings, {network->parameter_count(), data.sample_budget()}))
        fmt::print(stderr, "ako: warning: {}\n", printable(warning));
    // Elsewhere, as in another network namespace, other ports are free.
    if (place.here()) require_free_ports(settings);
}

}  // namespace

ExitStatus launch(const LaunchOptions& options) {
    Settings settings = read_cluster_file(options.file, options.overrides);
    if (options.free_ports) use_free_ports(settings);
    const PeerPlace place(options.in);
    const std::string resume = resume_folder(options.resume, settings, peer_names(settings));
    check_before(settings, place);
    const bool live = !options.plain && Terminal::usable();
    const std::string folder = options.output_dir.empty()
                                   ? make_run_folder(settings)
                                   : make_run_folder(settings, options.output_dir);
    LatestRun latest(options.output_dir.empty() ? folder : "");
    return Launch(settings, place, options.keep_milestones, resume, folder, std::move(latest), live)
        .run();
}

}  // namespace ako
