#include "src/commands/train_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "ako/error.h"
#include "src/config/cluster_file.h"
#include "src/launch/report_pipe.h"
#include "src/numbers/digest.h"
#include "src/peer/peer.h"
#include "src/peer/peer_report.h"
#include "src/peer/warnings.h"
#include "src/results/checkpoint_folder.h"
#include "src/results/metrics.h"
#include "src/results/milestone_evaluation.h"
#include "src/results/milestone_file.h"
#include "src/results/model_files.h"
#include "src/results/peer_result.h"
#include "src/results/run_folder.h"
#include "src/results/summary.h"
#include "src/screen/live_view.h"
#include "src/screen/progress_lines.h"
#include "src/screen/terminal.h"
#include "src/screen/view_thread.h"
#include "src/system/console.h"
#include "src/system/interrupts.h"
#include "src/system/log.h"
#include "src/training/checkpoints.h"
#include "src/training/serving.h"
#include "src/training/trainer.h"

namespace ako {

namespace {

/// How long a launch that is stopped is waited for at the end. Its peers' results are files as
/// well, where a disk takes them.
constexpr std::chrono::seconds report_patience{5};

/// "listens at 0.0.0.0:7701 (for others: 10.0.0.1:7701) and waits for b, c (60 s at most)".
std::string first_words(const Settings& settings, PeerIndex self) {
    if (settings.exchange.mode == Mode::local)
        return "trains alone (exchange.mode: local) and listens nowhere";
    const PeerSettings& own = settings.peers[self];
    std::string text = "listens at " + own.listen;
    if (own.listen != own.address) text += fmt::format(" (for others: {})", own.address);
    std::vector<std::string> others = peer_names(settings);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(self));
    if (others.empty()) return text + "; there are no other peers";
    if (settings.exchange.start_wait_s == 0)
        return text +
               fmt::format(" and begins at once; {} may come later", fmt::join(others, ", "));
    return text + fmt::format(" and waits for {} ({:g} s at most)", fmt::join(others, ", "),
                              settings.exchange.start_wait_s);
}

/// Without a final exchange the network thread still runs. It must not outlive the trainer, whose
/// gradient it may be sending, however the trainer ends.
class NetworkStop {
  public:
    explicit NetworkStop(Member& member) : member_(member) {}
    ~NetworkStop() { member_.transport().stop(member_.clock().now()); }
    NetworkStop(const NetworkStop&) = delete;
    NetworkStop& operator=(const NetworkStop&) = delete;

  private:
    Member& member_;
};

/// `ako train`: a peer, and what is told and written of it.
class PeerProcess {
  public:
    PeerProcess(const TrainOptions& options, const std::atomic<int>& interrupts)
        : options_(options),
          interrupts_(interrupts),
          settings_(read_cluster_file(options.file, options.overrides)),
          live_(options.report_fd < 0 && !options.plain && Terminal::usable()),
          self_(peer_by_name(settings_, options.peer)),
          report_(options.report_fd),
          log_(options.peer, options.report_fd < 0 ? LogStyle::with_time_and_name : LogStyle::bare,
               console_),
          peer_(
              settings_, self_, resume_folder(options.resume, settings_, {options.peer}),
              {{log_.notice(), log_.detail()},
               [this](const auto& missing) { metrics_->waits(missing); },
               asked_to_leave},
              interrupts) {}

    ExitStatus run() {
        const bool own = options_.output_dir.empty();
        const std::string folder =
            own ? make_run_folder(system_files_, settings_) : options_.output_dir;
        latest_ = LatestRun(own ? folder : "");
        log_.keep_in(fmt::format("{}/log-{}.txt", folder, options_.peer));
        if (options_.report_fd < 0) start_view();
        Metrics& metrics = metrics_.emplace(
            fmt::format("{}/metrics-{}.jsonl", folder, options_.peer),
            [this](const MetricsLine& line) { show(line); }, log_.notice(), peer_names(settings_),
            self_, peer_.member().transport(), peer_.member().clock(),
            options_.restarted);
        metrics.watch(peer_.member().exchange());
        metrics.set_sample_budget(peer_.data().sample_budget());
        const auto milestones = make_milestones(folder);
        if (milestones) metrics.keep_milestones_in(*milestones);
        // Launch has said so before it started its peers.
        for (const std::string& warning : warnings_of_this_peer()) log_.notice()(warning);
        peer_.member().start();
        (options_.report_fd < 0 ? log_.notice() : log_.detail())(first_words(settings_, self_));
        const ModelFiles files(folder, settings_, options_.peer, peer_.network().tensors());
        checkpoint_folder_.emplace(system_files_, folder, peer_.member().owner());
        take_over_earlier(folder);
        const TrainingOutcome outcome = train_or_serve(files);
        PeerResult result =
            make_result(settings_, self_, outcome, metrics, peer_.data().sample_count());
        // The others have; who serves makes no round.
        if (result.samples_total > 0) latest_.trained(system_files_);
        if (!live_) tell(result);
        write_results(folder, files, outcome, result);
        if (live_) tell(result);  // last: a terminal that takes nothing must hold up no file
        if (own) log_.notice()("results in " + folder);
        if (!options_.exit_zero || result.exit == exit_ok)
            return static_cast<ExitStatus>(result.exit);
        log_.notice()(fmt::format("exit 0 instead of {} (--exit-zero)", result.exit));
        return exit_ok;
    }

  private:
    /// What people see, drawn by a thread of its own.
    void start_view() {
        const bool alone = settings_.exchange.mode == Mode::local;  // and hears of nobody
        const std::size_t own = alone ? 0 : self_;
        RunState state(fmt::format("{} as {} sees it", settings_.run, options_.peer),
                       settings_.training.epochs,
                       alone ? std::vector{options_.peer} : peer_names(settings_), own);
        const auto make_view = [this]() -> std::unique_ptr<RunView> {
            if (live_) return std::make_unique<LiveView>(console_, peer_names(settings_));
            return std::make_unique<ProgressLines>(console_, options_.peer);
        };
        // As Ctrl-C.
        view_ = std::make_unique<ViewThread>(std::move(state), own, make_view, [this] {
            if (interrupts_ == 0) kill(getpid(), SIGINT);
        });
        if (live_) log_.show_in([this](const std::string& text) { view_->take_log(text); });
    }

    void show(const MetricsLine& line) {
        if (line.round > 0) latest_.trained(system_files_);
        if (view_)
            view_->take_line(line);
        else
            report_.offer(to_json_text(line) + "\n");
    }

    /// The last picture, with what the run came to.
    void close_view(const PeerResult& result) {
        view_->close([&result](RunState& state) {
            for (std::size_t k = 0; k < state.peers().size(); ++k)
                if (state.peers()[k].name == result.name) state.take_exit(k, result.exit);
            if (result.accuracy) state.take_accuracy(*result.accuracy);
            if (result.identical) state.take_finished(result.finished_with);
        });
        log_.show_in(nullptr);
    }

    /// In a pipe before anything is written: whatever the disk does, the outcome is known.
    void tell(const PeerResult& result) {
        report_.send(result_line(result), report_patience);
        if (view_) close_view(result);
        // Launch itself shows how its peers ended, unless something went wrong.
        const bool told_by_launch =
            options_.report_fd >= 0 && result.exit != exit_no_agreement && result.agreed;
        if (!told_by_launch) log_ending(result, log_.notice());
    }

    /// Everything that stays, the smallest first and each by itself: what cannot be written takes
    /// nothing else with it.
    void write_results(const std::string& folder, const ModelFiles& files,
                       const TrainingOutcome& outcome, PeerResult& result) {
        std::vector<std::string> failures;
        const auto attempt = [&failures](const auto& step) {
            try {
                step();
            } catch (const std::exception& error) {
                failures.emplace_back(error.what());
            }
        };
        const auto write_result_file = [&] {
            write_result(fmt::format("{}/result-{}.json", folder, options_.peer), result);
        };
        attempt(write_result_file);
        attempt([&] { write_model(files, outcome); });
        if (options_.report_fd < 0) {
            // Launch does this for all its peers, when none of them trains any more.
            const std::size_t points = result.curve.size();
            attempt([&] { evaluate_milestones(folder, result); });
            if (result.curve.size() != points) attempt(write_result_file);
            attempt([&] { write_curve(folder, result); });
            attempt([&] { write_summary(folder, result); });
        }
        if (failures.empty()) return;
        for (const std::string& failure : failures) log_.notice()("not written: " + failure);
        if (went_well(result.exit)) {
            result.exit = exit_not_written;
            result.why = "trained and agreed, but " + failures.front();
        }
        report_.send(result_line(result), report_patience);
        // What it says of itself, if that can be written by now.
        attempt(write_result_file);
        if (options_.report_fd < 0) attempt([&] { write_summary(folder, result); });
    }

    std::vector<std::string> warnings_of_this_peer() {
        std::vector<std::string> lines;
        if (options_.report_fd >= 0) return lines;
        const RunSize run{peer_.network().parameter_count(), peer_.data().sample_budget()};
        for (const std::string& warning : warnings(settings_, run))
            lines.push_back("warning: " + warning);
        return lines;
    }

    TrainingOutcome train_or_serve(const ModelFiles& files) {
        if (settings_.peers[self_].role == Role::server) {
            const NetworkStop stop(peer_.member());
            return serve(peer_.member().exchange(), interrupts_, *metrics_);
        }
        const auto batches = peer_.batches();
        const auto checkpoints = make_checkpoints(files);
        Trainer trainer(peer_.network(), *batches, peer_.data().test_set(),
                        peer_.member().exchange(), settings_.training, interrupts_, *metrics_,
                        checkpoints.get());
        const NetworkStop stop(peer_.member());
        return trainer.run();
    }

    /// What it goes on from is in its own run folder from now on, too.
    void take_over_earlier(const std::string& folder) {
        if (options_.restarted && !options_.resume.said) {
            // Of the process before, in this folder: to be removed once there are newer ones.
            const auto left = find_checkpoints(folder, peer_.member().owner()).usable;
            if (const auto taken = checkpoint_folder_->take_over(left); !taken)
                log_.notice()(taken.error().what);
            return;
        }
        const EarlierCheckpoints& earlier = peer_.member().earlier();
        for (const std::string& refused : earlier.refused) log_.notice()(refused);
        if (earlier.usable.empty()) {
            if (options_.resume.said)
                log_.notice()("has no checkpoint to go on from: it has its row from the others");
            return;
        }
        const KeptCheckpoint& newest = earlier.usable.front();
        log_.notice()(fmt::format("its newest checkpoint is {}, of {:.0f} % of the run",
                                  newest.path, newest.progress * 100));
        if (const auto taken = checkpoint_folder_->take_over(earlier.usable); !taken)
            log_.notice()(
                "should the run be cut off before its next checkpoint, go on from the "
                "earlier folder: " +
                taken.error().what);
    }

    /// Null if none are asked for.
    std::unique_ptr<Checkpoints> make_checkpoints(const ModelFiles& files) {
        if (settings_.training.checkpoint_every == 0) return nullptr;
        Checkpoints::Write write;
        if (settings_.exchange.keeps_checkpoints())
            write = [this](const Checkpoint& it) { return checkpoint_folder_->write(it); };
        return std::make_unique<Checkpoints>(
            peer_.network().parameter_count(),
            [&files](std::span<const float> parameters, const Verdict& verdict) {
                return files.write_checkpoint(parameters, verdict);
            },
            log_.notice(), log_.detail(), std::move(write));
    }

    /// Null if nothing is evaluated later.
    std::unique_ptr<MilestoneWriter> make_milestones(const std::string& folder) {
        if (settings_.training.evaluate != EvaluateWhen::after) return nullptr;
        return std::make_unique<MilestoneWriter>(milestone_path(folder, options_.peer),
                                                 peer_.network().parameter_count(), log_.notice(),
                                                 options_.restarted);
    }

    /// Completes the result's curve with what was kept for later.
    void evaluate_milestones(const std::string& folder, PeerResult& result) {
        if (settings_.training.evaluate != EvaluateWhen::after) return;
        if (result.ending == Ending::left) return;  // at short notice; they stay in their file
        const std::string path = milestone_path(folder, options_.peer);
        const int interrupts = interrupts_.load();
        bool all = true;
        const std::vector<CurvePoint> points =
            MilestoneEvaluation(peer_.network(), peer_.data().test_set())
                .evaluate(path,
                          [&](const auto&, auto number, auto count) {
                              log_.detail()(
                                  fmt::format("milestone {} of {} is evaluated", number, count));
                              all = number == count;
                              return interrupts_.load() == interrupts;
                          })
                .points;
        result.curve.insert(result.curve.begin(), points.begin(), points.end());
        std::error_code stays;  // then it takes room, and no more
        if (all && !options_.keep_milestones) std::filesystem::remove(path, stays);
    }

    void write_summary(const std::string& folder, const PeerResult& result) {
        const bool alone = settings_.exchange.mode == Mode::local;
        const Summary summary = summary_of_one(settings_.run, alone, result, metrics_->newest());
        write_whole_file(folder + "/summary.json", summary.json());
    }

    void write_curve(const std::string& folder, const PeerResult& result) const {
        Summary alone;
        alone.peers = {result};
        write_whole_file(folder + "/curve.json", alone.curve(settings_.training.evaluate).json());
    }

    /// Of the peers that agreed under one `ako launch`, whose files would all be the same, the
    /// lowest writes; one without agreement, or that holds something else, writes its own.
    void write_model(const ModelFiles& files, const TrainingOutcome& outcome) const {
        if (outcome.parameters.empty()) return;
        const FinishReport& report = outcome.report;
        const bool launched = !options_.output_dir.empty();
        const bool lowest = report.finished_with.empty() || report.finished_with.front() == self_;
        if (launched && report.agreed && report.identical && !lowest) return;
        // In the mode local everybody has its own.
        const bool own = settings_.exchange.mode == Mode::local && self_ != 0;
        const bool apart = launched && (!report.agreed || !report.identical || own);
        const std::string name = apart ? "model-" + options_.peer : "model";
        files.write_model(name, outcome.parameters, outcome.verdict, hex(report.digest));
    }

    const TrainOptions& options_;
    const std::atomic<int>& interrupts_;
    const Settings settings_;
    const bool live_;  ///< the view is a screen
    const PeerIndex self_;
    Console console_;  // outlives whoever prints
    ReportPipe report_;
    Log log_;
    LatestRun latest_;
    std::unique_ptr<ViewThread> view_;  ///< null under launch, which shows all its peers
    std::optional<Metrics> metrics_;    ///< from the run folder on
    SystemFiles system_files_;
    std::optional<CheckpointFolder> checkpoint_folder_;  ///< likewise
    Peer peer_;
};

}  // namespace

ExitStatus train(const TrainOptions& options) {
    return PeerProcess(options, count_interrupts()).run();
}

}  // namespace ako
