#include "src/commands/train_command.h"

#include <fmt/format.h>

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
#include "src/results/metrics.h"
#include "src/results/milestone_evaluation.h"
#include "src/results/milestone_file.h"
#include "src/results/model_files.h"
#include "src/results/peer_result.h"
#include "src/results/run_folder.h"
#include "src/results/summary.h"
#include "src/screen/run_display.h"
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

/// Where metrics lines go: to `ako launch`, or to this terminal.
std::function<void(const MetricsLine&)> line_listener(const TrainOptions& options, Console& console,
                                                      ReportPipe& report) {
    if (options.report_fd < 0) {
        auto display = std::make_shared<RunDisplay>(console, std::vector{options.peer});
        return [display, name = options.peer](const MetricsLine& line) {
            display->show_line(line.time, name, line);
        };
    }
    return [&report](const MetricsLine& line) { report.offer(to_json_text(line) + "\n"); };
}

/// Without a final exchange the network thread still runs. It must not outlive the trainer, whose
/// gradient it may be sending, however the trainer ends.
class NetworkStop {
  public:
    explicit NetworkStop(Peer& peer) : peer_(peer) {}
    ~NetworkStop() { peer_.transport().stop(peer_.clock().now()); }
    NetworkStop(const NetworkStop&) = delete;
    NetworkStop& operator=(const NetworkStop&) = delete;

  private:
    Peer& peer_;
};

/// `ako train`: a peer, and what is told and written of it.
class PeerProcess {
  public:
    PeerProcess(const TrainOptions& options, const std::atomic<int>& interrupts)
        : options_(options),
          interrupts_(interrupts),
          settings_(read_cluster_file(options.file, options.overrides)),
          self_(peer_by_name(settings_, options.peer)),
          report_(options.report_fd),
          log_(options.peer, options.report_fd < 0 ? LogStyle::with_time_and_name : LogStyle::bare,
               console_),
          peer_(
              settings_, self_, {log_.notice(), log_.detail()},
              [this](const auto& missing) { metrics_->waits(missing); }, interrupts) {}

    ExitStatus run() {
        const std::string folder =
            options_.output_dir.empty() ? make_run_folder(settings_) : options_.output_dir;
        log_.keep_in(fmt::format("{}/log-{}.txt", folder, options_.peer));
        Metrics& metrics =
            metrics_.emplace(fmt::format("{}/metrics-{}.jsonl", folder, options_.peer),
                             line_listener(options_, console_, report_), log_.notice(),
                             peer_names(settings_), self_, peer_.transport(), peer_.clock());
        metrics.watch(peer_.exchange());
        metrics.set_sample_budget(peer_.data().sample_budget());
        const auto milestones = make_milestones(folder);
        if (milestones) metrics.keep_milestones_in(*milestones);
        peer_.start();
        const ModelFiles files(folder, settings_, options_.peer, peer_.network().tensors());
        const TrainingOutcome outcome = train_or_serve(files);
        PeerResult result =
            make_result(settings_, self_, outcome, metrics, peer_.data().sample_count());
        tell(result);
        write_results(folder, files, outcome, result);
        if (options_.output_dir.empty()) log_.notice()("results in " + folder);
        return static_cast<ExitStatus>(result.exit);
    }

  private:
    /// Before anything is written: whatever the disk does, the outcome is known.
    void tell(const PeerResult& result) {
        report_.send(result_line(result), report_patience);
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
        }
        if (failures.empty()) return;
        for (const std::string& failure : failures) log_.notice()("not written: " + failure);
        if (result.exit == exit_ok) {
            result.exit = exit_not_written;
            result.why = "trained and agreed, but " + failures.front();
        }
        report_.send(result_line(result), report_patience);
        attempt(write_result_file);  // what it says of itself, if that can be written by now
    }

    TrainingOutcome train_or_serve(const ModelFiles& files) {
        if (settings_.peers[self_].role == Role::server) {
            const NetworkStop stop(peer_);
            return serve(peer_.exchange(), interrupts_, *metrics_);
        }
        const auto batches = peer_.data().batches(self_);
        const auto checkpoints = make_checkpoints(files);
        Trainer trainer(peer_.network(), *batches, peer_.data().test_set(), peer_.exchange(),
                        settings_.training, interrupts_, *metrics_, checkpoints.get());
        const NetworkStop stop(peer_);
        return trainer.run();
    }

    /// Null if none are asked for.
    std::unique_ptr<Checkpoints> make_checkpoints(const ModelFiles& files) {
        if (settings_.training.checkpoint_every == 0) return nullptr;
        return std::make_unique<Checkpoints>(
            peer_.network().parameter_count(),
            [&files](std::span<const float> parameters, const Verdict& verdict) {
                return files.write_checkpoint(parameters, verdict);
            },
            log_.notice(), log_.detail());
    }

    /// Null if nothing is evaluated later.
    std::unique_ptr<MilestoneWriter> make_milestones(const std::string& folder) {
        if (settings_.training.evaluate != EvaluateWhen::after) return nullptr;
        return std::make_unique<MilestoneWriter>(milestone_path(folder, options_.peer),
                                                 peer_.network().parameter_count(), log_.notice());
    }

    /// Completes the result's curve with what was kept for later.
    void evaluate_milestones(const std::string& folder, PeerResult& result) {
        if (settings_.training.evaluate != EvaluateWhen::after) return;
        const std::string path = milestone_path(folder, options_.peer);
        const int interrupts = interrupts_.load();
        bool all = true;
        const auto points =
            MilestoneEvaluation(peer_.network(), peer_.data().test_set())
                .evaluate(path, [&](const auto&, auto number, auto count) {
                    log_.detail()(fmt::format("milestone {} of {} is evaluated", number, count));
                    all = number == count;
                    return interrupts_.load() == interrupts;
                });
        result.curve.insert(result.curve.begin(), points.begin(), points.end());
        std::error_code stays;  // then it takes room, and no more
        if (all && !options_.keep_milestones) std::filesystem::remove(path, stays);
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
    const PeerIndex self_;
    Console console_;  // outlives whoever prints
    ReportPipe report_;
    Log log_;
    std::optional<Metrics> metrics_;  ///< from the run folder on
    Peer peer_;
};

}  // namespace

ExitStatus train(const TrainOptions& options) {
    return PeerProcess(options, count_interrupts()).run();
}

}  // namespace ako
