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
#include "models/catalog.h"
#include "src/commands/memory_plan.h"
#include "src/commands/peer_child.h"
#include "src/commands/peer_result.h"
#include "src/commands/ports.h"
#include "src/commands/run_display.h"
#include "src/commands/run_folder.h"
#include "src/commands/summary.h"
#include "src/commands/training_data.h"
#include "src/config/cluster_file.h"

namespace ako {

namespace {

/// A peer that has said nothing for so many seconds gets a row that says so.
constexpr double silence_noted_s = 2.5;
/// Seconds between two rows of a peer in the final exchange, in which there is little to tell.
constexpr double finishing_row_s = 5;

/// SIGINT, SIGTERM and SIGCHLD as something to read. The signals stay blocked for launch.
class SignalQueue {
  public:
    SignalQueue() {
        sigset_t signals;
        sigemptyset(&signals);
        for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, number);
        sigprocmask(SIG_BLOCK, &signals, nullptr);
        ::signal(SIGPIPE, SIG_IGN);
        fd_ = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
        if (fd_ < 0) throw StartupError("signalfd is refused by the system");
    }
    ~SignalQueue() { close(fd_); }
    SignalQueue(const SignalQueue&) = delete;
    SignalQueue& operator=(const SignalQueue&) = delete;

    int fd() const { return fd_; }
    /// How many requests to end have come.
    int take_interrupts() const {
        int interrupts = 0;
        signalfd_siginfo info{};
        while (read(fd_, &info, sizeof info) == sizeof info) {
            if (info.ssi_signo != SIGCHLD) ++interrupts;
        }
        return interrupts;
    }

  private:
    int fd_ = -1;
};

/// The peers of one run while they run. One thread.
class Launch {
  public:
    Launch(const Settings& settings, std::string folder)
        : settings_(settings),
          folder_(std::move(folder)),
          display_(names(settings), settings.run) {}

    ExitStatus run() {
        for (const PeerSettings& peer : settings_.peers)
            children_.push_back(std::make_unique<PeerChild>(
                peer.name, std::vector<std::string>{folder_ + "/config.yaml", "--peer", peer.name,
                                                    "--output-dir", folder_}));
        double next_row = 1;
        while (!all_over()) {
            wait_until(next_row);
            take_signals();
            for (const auto& child : children_) attend(*child);
            if (seconds() < next_row) continue;
            show_second();
            next_row = std::floor(seconds()) + 1;
        }
        display_.clear_bar();
        const Summary summary = summarize();
        write_whole_file(folder_ + "/summary.json", summary.json());
        fmt::print("\n{}", summary.text(folder_));
        return summary.exit_status();
    }

  private:
    static std::vector<std::string> names(const Settings& settings) {
        std::vector<std::string> names;
        for (const PeerSettings& peer : settings.peers) names.push_back(peer.name);
        return names;
    }

    double seconds() const { return std::chrono::duration<double>(clock_.now() - began_).count(); }

    /// All have ended, and all they said is read.
    bool all_over() {
        return std::all_of(children_.begin(), children_.end(), [](const auto& child) {
            return child->ended() && child->log().fd() < 0 && child->report().fd() < 0;
        });
    }

    void wait_until(double moment) const {
        std::vector<pollfd> watched = {{signals_.fd(), POLLIN, 0}};
        for (const auto& child : children_) {
            for (const int fd : {child->log().fd(), child->report().fd()}) {
                if (fd >= 0) watched.push_back({fd, POLLIN, 0});
            }
        }
        const double left_ms = std::max(0.0, (moment - seconds()) * 1e3);
        poll(watched.data(), watched.size(), static_cast<int>(left_ms) + 1);
    }

    void take_signals() {
        const int interrupts = signals_.take_interrupts();
        if (interrupts == 0) return;
        const bool again = interrupted_ || interrupts > 1;
        interrupted_ = true;
        say(again ? "interrupted again: ending the peers at once"
                  : "interrupted: the peers stop after this round; once more ends them at once");
        for (const auto& child : children_) child->signal(again ? SIGKILL : SIGINT);
    }

    void attend(PeerChild& child) {
        for (const std::string& line : child.log().read_lines())
            display_.show_log(seconds(), child.name(), line);
        child.read_report(seconds());
        // One that cannot start would leave the others waiting for it.
        if (child.ended() && child.exit() == exit_start_up && !start_failed_ && !interrupted_) {
            start_failed_ = true;
            say(fmt::format("{} could not start: stopping the others", child.name()));
            for (const auto& other : children_) other->signal(SIGINT);
        }
    }

    void say(const std::string& text) { display_.show_log(seconds(), "ako", text); }

    void show_second() {
        double progress = 0;
        std::string phase = "starting";
        for (const auto& child : children_) {
            const auto& line = child->last_line();
            if (!line) continue;
            progress = std::max(progress, line->progress);
            if (line->phase == "training" || phase == "starting") phase = line->phase;
            if (child->ended() || line->phase == "done") continue;
            show_peer(child->name(), *line, seconds() - child->last_line_at());
        }
        display_.show_progress(seconds(), progress, phase);
    }

    /// The row of one peer, whose newest line is so many seconds old.
    void show_peer(const std::string& name, const MetricsLine& line, double age) {
        if (line.phase == "finishing") {
            if (std::fmod(age, finishing_row_s) < 1)
                display_.show_state(seconds(), name, line.round, "final exchange");
        } else if (age > silence_noted_s) {
            display_.show_state(seconds(), name, line.round,
                                fmt::format("silent for {:.0f} s", age));
        } else {
            display_.show_row(seconds(), name, line);
        }
    }

    Summary summarize() {
        Summary summary;
        summary.run = settings_.run;
        summary.seconds = seconds();
        summary.interrupted = interrupted_;
        for (const auto& child : children_) {
            PeerResult result;
            if (auto written =
                    read_result(fmt::format("{}/result-{}.json", folder_, child->name())))
                result = *written;
            else if (const auto& line = child->last_line()) {
                result.rounds = line->round;
                result.images = line->images;
                result.egress_bytes = line->egress_bytes;
                result.ingress_bytes = line->ingress_bytes;
            }
            result.name = child->name();
            result.exit = child->exit();
            summary.peers.push_back(result);
        }
        return summary;
    }

    const Settings& settings_;
    const std::string folder_;
    const SteadyClock clock_;
    const Time began_ = clock_.now();
    SignalQueue signals_;
    RunDisplay display_;
    std::vector<std::unique_ptr<PeerChild>> children_;
    bool interrupted_ = false;
    bool start_failed_ = false;
};

/// Refuses now what every peer would refuse later, before anything is started.
void check_before(const Settings& settings) {
    const auto network = make_network(settings.model);
    const TrainingData data(settings);
    check_memory(settings, plan_memory(settings, {network->parameter_count(), data.bytes()}));
    require_free_ports(settings);
}

}  // namespace

ExitStatus launch(const LaunchOptions& options) {
    Settings settings = read_cluster_file(options.file, options.overrides);
    if (options.free_ports) use_free_ports(settings);
    check_before(settings);
    return Launch(settings, make_run_folder(settings)).run();
}

}  // namespace ako
