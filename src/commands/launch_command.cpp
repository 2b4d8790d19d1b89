#include "src/commands/launch_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "ako/clock.h"
#include "ako/error.h"
#include "ako/mode_table.h"
#include "ako/printable.h"
#include "src/commands/chosen_mode.h"
#include "src/commands/kept_milestones.h"
#include "src/commands/launch_check.h"
#include "src/commands/launch_child.h"
#include "src/commands/launch_place.h"
#include "src/commands/lost_machine.h"
#include "src/commands/prediction_of_run.h"
#include "src/commands/run_bottleneck.h"
#include "src/config/cluster_file.h"
#include "src/launch/launched_peer.h"
#include "src/launch/peer_child.h"
#include "src/launch/peer_words.h"
#include "src/launch/restarts.h"
#include "src/results/checkpoint_file.h"
#include "src/results/peer_result.h"
#include "src/results/run_folder.h"
#include "src/results/summary.h"
#include "src/screen/shown_run.h"
#include "src/screen/terminal.h"
#include "src/system/console.h"
#include "src/system/signal_queue.h"

namespace ako {

namespace {

/// So many seconds what a process has written may still be under way; children of its own may keep
/// its pipes open for longer.
constexpr double pipes_stay_s = 1;

/// Within so many seconds an engine has asked all processes of a job to end.
constexpr double engine_asks_all_s = 1;

/// So many seconds after all others have ended, nobody serves one that was started again.
constexpr double latecomer_s = 3;

/// The peers of one run while they run. One thread.
class Launch {
  public:
    Launch(Settings& settings, LaunchPlace& place, const PeerWords& program,
           const LaunchOptions& options, EarlierRun earlier, std::string folder, LatestRun latest,
           bool live)
        : settings_(settings),
          place_(place),
          program_(program),
          keep_milestones_(options.keep_milestones),
          earlier_(std::move(earlier)),
          folder_(std::move(folder)),
          latest_(std::move(latest)),
          restarts_(settings.peers.size(), options.restart),
          signals_(live),
          shown_(console_, live,
                 RunState(settings.run, settings.training.epochs, peer_names(settings)),
                 peer_names(settings)) {}

    ExitStatus run() {
        start_peers();
        while (!all_over()) {
            look(shown_.next_second());
            for (std::size_t k = 0; k < children_.size(); ++k) attend(k);
            end_latecomer();
            shown_.show(seconds());
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
        const PeerResult* finisher = summary.finisher();
        if (finisher != nullptr && finisher->accuracy)
            shown_.state().take_accuracy(*finisher->accuracy);
        shown_.close(seconds());
        console_.print(Console::Stream::out, "\n" + summary.text(folder_));
        if (!not_written_.empty()) console_.print(Console::Stream::err, not_written_);
        if (summary.interrupted) return;
        const std::string pair = beside_prediction(settings_, summary);
        if (!pair.empty()) console_.print(Console::Stream::out, pair);
    }

    double seconds() const { return seconds_of(clock_.now() - began_); }

    void start_peers() {
        for (std::size_t k = 0; k < place_.peers; ++k) children_.push_back({.process = start(k)});
    }
    std::unique_ptr<PeerChild> start(std::size_t k) const {
        const std::string& name = settings_.peers[k].name;
        const std::string file = folder_ + "/config.yaml";
        const bool again = restarts_.made(k) > 0;
        PeerCommand command;
        command.in = place_.words.of(k, name);
        command.elsewhere = place_.elsewhere;
        command.program = program_.of(k, name);
        if (!program_.none())
            command.environment =
                environment_of({file, name, folder_, PeerChild::report_fd, again});
        command.arguments = {file, "--peer", name, "--output-dir", folder_};
        if (again) command.arguments.emplace_back("--restarted");
        // Once it has trained, its row is with the others; before, they may still wait for it to go
        // on with them, and what only its checkpoint holds nobody has.
        if (!earlier_.none() && !has_begun(k))
            command.arguments.insert(command.arguments.end(),
                                     {earlier_.option(), earlier_.folder});
        return std::make_unique<PeerChild>(name, command);
    }

    bool has_begun(std::size_t k) const { return k < children_.size() && children_[k].has_begun; }

    /// Waits for something to happen, at most until `moment`; takes in signals and keys.
    void look(double moment) {
        wait_until(std::min(moment, interrupts_at_.value_or(moment)));
        if (interrupts_at_ && seconds() >= *interrupts_at_) interrupt(1);
        take_signals();
        if (input_ready_ && shown_.take_input() && !interrupted_) interrupt(1);
    }

    bool all_over() const {
        return std::all_of(children_.begin(), children_.end(),
                           [](const LaunchChild& child) { return child.over && !child.starts_at; });
    }

    void wait_until(double moment) {
        std::vector<pollfd> watched = {{signals_.fd(), POLLIN, 0},
                                       {input_gone_ ? -1 : shown_.input_fd(), POLLIN, 0}};
        for (const LaunchChild& child : children_) {
            if (child.starts_at) moment = std::min(moment, *child.starts_at);
            for (const int fd : {child.process->log().fd(), child.process->report().fd()}) {
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
        if (taken.terminated && place_.elsewhere)
            interrupt_soon();
        else if (taken.interrupts > 0)
            interrupt(taken.interrupts);
        if (taken.hung_up && !interrupted_) interrupt(1);
        if (taken.suspend) shown_.suspend();
        if (taken.resized) shown_.resized();
    }

    /// An engine may ask all processes of a job to end, the peers and their attendants too; and
    /// more than once, which means no more than the first time.
    void interrupt_soon() {
        if (!interrupts_at_ && !interrupted_) interrupts_at_ = seconds() + engine_asks_all_s;
    }
    void interrupt(int times) {
        interrupts_at_.reset();
        const bool again = interrupted_ || times > 1;
        interrupted_ = true;
        if (evaluating_) return say("interrupted: what is not evaluated yet stays in its file");
        say(again ? "interrupted again: ending the peers at once"
                  : "interrupted: the peers stop after this round; once more ends them at once");
        ask_all(again ? &PeerChild::end : &PeerChild::stop);
    }
    /// And nobody is started again.
    void ask_all(void (PeerChild::*request)() const) {
        for (std::size_t k = 0; k < children_.size(); ++k) {
            (children_[k].process.get()->*request)();
            schedule(k, std::nullopt);
        }
    }

    void attend(std::size_t k) {
        LaunchChild& child = children_[k];
        if (child.over) {
            if (child.starts_at && seconds() >= *child.starts_at) start_again(k);
            return;
        }
        PeerChild& process = *child.process;
        for (const std::string& line : process.log().read_lines()) log(process.name(), line);
        for (MetricsLine& line : process.read_report()) {
            if (line.round > 0) latest_.trained(files_);
            child.trained |= line.phase == "training";
            child.has_begun |= child.trained;
            shown_.state().take_line(k, std::move(line), seconds());
        }
        if (place_.elsewhere && has_lost_machine(shown_.state().peers(), k, seconds())) {
            child.machine_lost = true;
            process.abandon();
        }
        if (!process.ended()) return;
        shown_.state().take_exit(k, process.exit());
        if (begins_elsewhere(k)) return;
        if (!child.ended_at) child.ended_at = seconds();
        const bool all_read = process.log().fd() < 0 && process.report().fd() < 0;
        child.over = all_read || seconds() >= *child.ended_at + pipes_stay_s;
        if (child.over) over_at_ = seconds();
        // One that cannot start would leave the others waiting for it.
        if (could_not_start(k) && !start_failed_ && !interrupted_) {
            start_failed_ = true;
            say(fmt::format("{} could not start: stopping the others", process.name()));
            ask_all(&PeerChild::stop);
        }
        if (child.over) decide_restart(k);
    }

    /// Without a word from the peer it was the command that is to start it that failed.
    bool command_failed(std::size_t k) const {
        return !place_.words.none() && !interrupted_ && children_[k].process->exit() >= 0 &&
               !shown_.peer(k).heard;
    }
    bool could_not_start(std::size_t k) const {
        const bool trained = shown_.peer(k).line.round > 0;  // and then the others can go on
        const PeerChild& child = *children_[k].process;
        // A program says of its own mistakes what it likes.
        const bool never_a_peer = !program_.none() && child.exit() >= 0 && !child.result();
        const bool refused = child.exit() == exit_start_up || never_a_peer;
        return !trained && (refused || command_failed(k));
    }

    // ---- peers that died

    /// Where it is to be started again: on its machine, unless that is lost, or has not let it
    /// begin a second time.
    bool has_place_again(std::size_t k) {
        const bool lost = children_[k].machine_lost || is_machine_lost(k);
        if (!lost && (children_[k].trained || restarts_.made(k) == 0)) return true;
        return !place_.elsewhere || move(k) || !lost;
    }
    /// To a spare machine. Whoever is started from now on dials it there; the others it dials.
    bool move(std::size_t k) {
        if (!move_peer(place_, settings_, k)) return false;
        write("config.yaml", write_cluster_text(settings_));
        return true;
    }
    /// A machine on which nothing can begin is as good as lost.
    bool begins_elsewhere(std::size_t k) {
        if (!place_.elsewhere || interrupted_ || !command_failed(k) || !move(k)) return false;
        say(settings_.peers[k].name + " could not begin on its machine, and does so on another");
        children_[k].ended_at.reset();
        children_[k].process = start(k);
        shown_.state().take_start(k);
        return true;
    }
    /// Once it is over: what led to its machine may end well when that is lost.
    bool is_machine_lost(std::size_t k) const {
        const PeerChild& process = *children_[k].process;
        return place_.elsewhere && program_.none() && process.exit() == exit_ok &&
               !process.result();
    }
    /// Once it is over.
    void decide_restart(std::size_t k) {
        const PeerChild& process = *children_[k].process;
        if (restarts_.most() == 0 || interrupted_ || start_failed_) return;
        if (process.result() || !(Restarts::died(process.exit()) || is_machine_lost(k))) return;
        const std::string death =
            fmt::format("{} died ({}) after round {}", process.name(),
                        Restarts::cause(process.exit()), shown_.peer(k).line.round);
        if (!others_train(k))
            return say(death + ": not started again, for no other peer trains any more");
        if (!has_place_again(k))
            return say(death + ": not started again, for its machine is lost and no spare one is "
                               "left (ako submit --spare)");
        const auto pause = restarts_.next(k, children_[k].trained);
        if (!pause)
            return say(fmt::format("{}: not started again, after {} of {} restarts", death,
                                   restarts_.made(k), restarts_.most()));
        say(fmt::format("{}: restart {} of {} in {:g} s", death, restarts_.made(k),
                        restarts_.most(), *pause));
        schedule(k, seconds() + *pause);
    }
    void schedule(std::size_t k, std::optional<double> restart_at) {
        children_[k].starts_at = restart_at;
        shown_.state().take_restart(k, restart_at);
    }

    void start_again(std::size_t k) try {
        LaunchChild& child = children_[k];
        schedule(k, std::nullopt);
        const std::string name = child.process->name();
        if (!others_train(k))
            return say(name + " is not started again: no other peer trains any more");
        child.process = start(k);
        child.over = child.trained = child.machine_lost = false;
        child.ended_at.reset();
        const MetricsLine& last = shown_.peer(k).line;
        child.egress_bytes_before += last.egress_bytes;
        child.ingress_bytes_before += last.ingress_bytes;
        shown_.state().take_start(k);
        say(fmt::format("{} is started again: restart {} of {}", name, restarts_.made(k),
                        restarts_.most()));
    } catch (const StartupError& error) {
        say(error.what());
    }

    /// Is there another from whom this one could take its row again? Not from one that has taken
    /// none yet itself.
    bool others_train(std::size_t k) const {
        for (std::size_t other = 0; other < children_.size(); ++other) {
            const LaunchChild& child = children_[other];
            const bool joined = child.trained || restarts_.made(other) == 0;
            if (other != k && !child.over && joined && !has_finished(shown_.peer(other).line))
                return true;
        }
        return false;
    }

    /// One that was started again too late: the others went before it found them, and it would wait
    /// for them, or train all by itself.
    void end_latecomer() {
        std::size_t latecomer = children_.size();
        bool finished = false;
        for (std::size_t k = 0; k < children_.size(); ++k) {
            const LaunchChild& child = children_[k];
            if (!child.over && latecomer < children_.size()) return;  // two
            if (!child.over) latecomer = k;
            finished |= child.over && child.process->result() && child.process->result()->agreed;
        }
        if (latecomer == children_.size() || !finished || latecomer_ended_) return;
        const std::string& phase = shown_.peer(latecomer).line.phase;
        const bool finishes = phase == "finishing" || has_finished(shown_.peer(latecomer).line);
        if (restarts_.made(latecomer) == 0 || finishes || seconds() < over_at_ + latecomer_s)
            return;
        latecomer_ended_ = true;
        say(fmt::format("the others have finished: {}, which was started again, ends",
                        children_[latecomer].process->name()));
        children_[latecomer].process->stop();
    }

    /// What the peers kept for now, on this machine's whole processor, into their curves.
    void evaluate_milestones(Summary& summary) {
        evaluating_ = true;
        const bool interrupted_before = interrupted_;
        interrupted_ = false;
        try {
            evaluate_kept_milestones(
                settings_, folder_, keep_milestones_, summary.peers,
                {[this](const auto& peer, const auto& point, auto number, auto count) {
                     say_evaluated(peer, point, number, count);
                     look(seconds());
                     shown_.show(seconds());
                     return !interrupted_;
                 },
                 [this](const std::string& why) { say(why); }});
        } catch (const std::exception& error) {  // the result of the run is worth more
            say(fmt::format("what is not evaluated yet stays in its file: {}", error.what()));
        }
        interrupted_ |= interrupted_before;
    }

    void say_evaluated(const std::string& name, const CurvePoint& point, std::size_t number,
                       std::size_t count) {
        // A line a second, and the last.
        if (number < count && seconds() < shown_.next_second()) return;
        say(fmt::format("evaluated {} of {} milestones of {}: {:.2f} % at {:.2f} epochs", number,
                        count, name, 100 * point.accuracy,
                        point.progress * settings_.training.epochs));
    }

    void say(const std::string& text) { log("ako", text); }
    void log(const std::string& name, const std::string& text) {
        shown_.log(seconds(), name, text);
    }

    Summary summarize() {
        Summary summary;
        summary.run = settings_.run;
        summary.seconds = ended_at_;
        summary.alone = entry_of(settings_.exchange).is_alone();
        for (std::size_t k = 0; k < children_.size(); ++k) {
            const PeerChild& child = *children_[k].process;
            const MetricsLine& line = shown_.peer(k).line;
            PeerResult result;
            const std::string file = fmt::format("{}/result-{}.json", folder_, child.name());
            if (child.result()) {
                result = *child.result();
            } else if (const auto written = read_result(file)) {
                result = *written;
            } else {
                result = result_of_line(line);
            }
            result.name = child.name();
            result.restarts = shown_.peer(k).restarts;
            result.egress_bytes += children_[k].egress_bytes_before;
            result.ingress_bytes += children_[k].ingress_bytes_before;
            result.role = settings_.peers[k].role;
            result.exit = exit_of(k);
            if (result.exit != child.exit() && !child.result())
                result.why = fmt::format("the program ended with exit {} without having finished",
                                         child.exit());
            if (command_failed(k)) {
                result.why = fmt::format("started by {}, it ended with exit {} before it began",
                                         place_.by, child.exit());
                result.exit = exit_start_up;
            }
            summary.peers.push_back(result);
        }
        summary.bottleneck = run_bottleneck(settings_, shown_.state());
        return summary;
    }

    /// A program of the user's may end as it likes, whatever its peer came to; what counts then is
    /// what the peer said. Without a word of it, it was never one, or did not finish.
    int exit_of(std::size_t k) const {
        const PeerChild& child = *children_[k].process;
        if (is_machine_lost(k)) return -SIGKILL;
        if (program_.none() || child.exit() < 0) return child.exit();
        if (!child.result()) return children_[k].has_begun ? exit_crash : exit_start_up;
        const int said = child.result()->exit;
        return child.exit() == exit_ok || child.exit() == said ? said : exit_crash;
    }

    Settings& settings_;   ///< a peer that moves to another machine has another address
    LaunchPlace& place_;
    const PeerWords& program_;  ///< none: `ako train`
    const bool keep_milestones_;
    const EarlierRun earlier_;
    const std::string folder_;
    LatestRun latest_;
    Restarts restarts_;
    const SteadyClock clock_;
    const Time began_ = clock_.now();
    SystemFiles files_;
    Console console_;
    SignalQueue signals_;
    ShownRun shown_;
    std::vector<LaunchChild> children_;
    bool input_ready_ = false;
    bool input_gone_ = false;  ///< nobody can press keys any more
    bool interrupted_ = false;
    std::optional<double> interrupts_at_ = {};  ///< seconds
    bool start_failed_ = false;
    bool evaluating_ = false;  ///< all peers have ended
    double ended_at_ = 0;      ///< seconds: the last peer
    double over_at_ = 0;       ///< seconds: the newest that is over
    bool latecomer_ended_ = false;
    std::string not_written_;  ///< which files, for people
};

}  // namespace

ExitStatus launch(const LaunchOptions& options) {
    Settings settings = read_with_choice(options.file, options.overrides);
    if (options.restart > 0 && !entry_of(settings.exchange).goes_on())
        throw at_key(settings, "exchange.mode",
                     StartupError("--restart: a peer that died can come back in the mode ako only, "
                                  "and in an elastic ring",
                                  "leave --restart out, or set exchange.mode=ako"));
    check_program(settings, options);
    LaunchPlace place = launch_place(settings, options);
    const PeerWords program = PeerWords::of_program(options.program, !place.words.none());
    const EarlierRun earlier = earlier_run(options.resume, settings, peer_names(settings));
    check_before(settings, place.words.none() ? PortsAre::here : PortsAre::elsewhere);
    if (!place.note.empty()) fmt::print(stderr, "ako: {}\n", printable(place.note));
    const bool live = !options.plain && Terminal::usable();
    SystemFiles files;
    const std::string folder = options.output_dir.empty()
                                   ? make_run_folder(files, settings)
                                   : make_run_folder(files, settings, options.output_dir);
    LatestRun latest(options.output_dir.empty() ? folder : "");
    return Launch(settings, place, program, options, earlier, folder, std::move(latest), live)
        .run();
}

}  // namespace ako
