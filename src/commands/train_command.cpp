#include "src/commands/train_command.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "ako/error.h"
#include "src/commands/chosen_mode.h"
#include "src/config/cluster_file.h"
#include "src/native_peer/native_peer.h"
#include "src/reporting/learning_verdict.h"
#include "src/reporting/peer_run.h"
#include "src/results/milestone_evaluation.h"
#include "src/results/milestone_file.h"
#include "src/system/interrupts.h"
#include "src/training/trainer.h"

namespace ako {

namespace {

/// Without a final exchange the network thread still runs. It must not outlive the trainer, whose
/// gradient it may be sending, however the trainer ends.
class NetworkStop {
  public:
    explicit NetworkStop(Wiring& wiring) : wiring_(wiring) {}
    ~NetworkStop() { wiring_.transport().stop(wiring_.clock().now()); }
    NetworkStop(const NetworkStop&) = delete;
    NetworkStop& operator=(const NetworkStop&) = delete;

  private:
    Wiring& wiring_;
};

RunOptions run_options(const TrainOptions& options, const EarlierRun& earlier) {
    RunOptions run;
    run.output_dir = options.output_dir;
    run.view = options.plain ? View::lines : View::live;
    run.restarted = options.restarted;
    run.resumes = !earlier.none();
    run.branches = earlier.branches;
    run.report_fd = options.report_fd;
    return run;
}

/// `ako train`: a peer, its training and its run.
class PeerProcess {
  public:
    PeerProcess(const TrainOptions& options, const std::atomic<int>& interrupts)
        : options_(options),
          interrupts_(interrupts),
          settings_(read_with_choice(options.file, options.overrides)),
          self_(peer_by_name(settings_, options.peer)),
          earlier_(earlier_run(options.resume, settings_, {options.peer})),
          run_(run_options(options, earlier_), settings_, self_,
               [this] {  // as Ctrl-C
                   if (interrupts_ == 0) kill(getpid(), SIGINT);
               }),
          peer_(settings_, self_, earlier_, run_.member_calls(asked_to_leave), interrupts) {}

    ExitStatus run() {
        run_.begin(peer_.wiring(), peer_.network().tensors(),
                   {peer_.network().parameter_count(), peer_.data().sample_budget(), peer_.memory(),
                    peer_.data().notes(), chance_accuracy(peer_.data().test_samples_of_class())});
        const TrainingOutcome outcome = train_or_serve();
        const PeerResult result = run_.end(outcome, peer_.data().sample_count(),
                                           [this](PeerResult& it) { evaluate_milestones(it); });
        if (!options_.exit_zero || result.exit == exit_ok)
            return static_cast<ExitStatus>(result.exit);
        run_.log().notice()(fmt::format("exit 0 instead of {} (--exit-zero)", result.exit));
        return exit_ok;
    }

  private:
    TrainingOutcome train_or_serve() {
        if (settings_.peers[self_].role == Role::server) {
            const NetworkStop stop(peer_.wiring());
            return RunDriver(settings_.training, interrupts_)
                .serve(peer_.wiring().exchange(), run_.metrics());
        }
        const auto batches = peer_.batches();
        const auto checkpoints = run_.make_checkpoints();
        const auto learners = peer_.learners({run_.log().notice(), run_.log().detail()});
        Trainer trainer(peer_.network(), *batches, peer_.data().test_set(),
                        peer_.wiring().exchange(), settings_.training, interrupts_, run_.metrics(),
                        checkpoints.get(), learners.get());
        const NetworkStop stop(peer_.wiring());
        return trainer.run();
    }

    /// Completes the result's curve with what was kept for later.
    void evaluate_milestones(PeerResult& result) {
        if (settings_.training.evaluate != EvaluateWhen::after) return;
        if (result.ending == Ending::left) return;  // at short notice; they stay in their file
        const std::string path = milestone_path(run_.folder(), options_.peer);
        const int interrupts = interrupts_.load();
        bool all = true;
        const std::vector<CurvePoint> points =
            MilestoneEvaluation(peer_.network(), peer_.data().test_set())
                .evaluate(path,
                          [&](const auto&, auto number, auto count) {
                              run_.log().detail()(
                                  fmt::format("milestone {} of {} is evaluated", number, count));
                              all = number == count;
                              return interrupts_.load() == interrupts;
                          })
                .points;
        result.curve.insert(result.curve.begin(), points.begin(), points.end());
        std::error_code stays;  // then it takes room, and no more
        if (all && !options_.keep_milestones) std::filesystem::remove(path, stays);
    }

    const TrainOptions& options_;
    const std::atomic<int>& interrupts_;
    const Settings settings_;
    const PeerIndex self_;
    const EarlierRun earlier_;
    PeerRun run_;
    NativePeer peer_;
};

}  // namespace

ExitStatus train(const TrainOptions& options) {
    return PeerProcess(options, count_interrupts()).run();
}

}  // namespace ako
