// One peer's run as people and files see it, whatever the peer trains: its log, its run folder, the
// metrics, the view, and at the end its results. Made before the peer is, for the peer logs; begun
// when the peer is there; ended with what the training came to. Compute thread, but for the log.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/launch/report_pipe.h"
#include "src/observe/board.h"
#include "src/observe/http_server.h"
#include "src/reporting/warnings.h"
#include "src/results/checkpoint_folder.h"
#include "src/results/metrics.h"
#include "src/results/milestone_file.h"
#include "src/results/model_files.h"
#include "src/results/peer_result.h"
#include "src/results/run_folder.h"
#include "src/screen/view_thread.h"
#include "src/system/console.h"
#include "src/system/log.h"
#include "src/training/checkpoints.h"
#include "src/training/run_driver.h"
#include "src/wiring/wiring.h"

namespace ako {

/// How a run is shown while it runs.
enum class View {
    live,   ///< the table, where there is a terminal; else lines
    lines,  ///< of text
    none,
};

struct RunOptions {
    std::string output_dir;  ///< the run folder, made by `ako launch`; empty: make one
    View view = View::live;
    bool restarted = false;  ///< its files go on where an earlier process of it has left off
    bool resumes = false;    ///< somebody asked for it to go on from checkpoints
    bool branches = false;   ///< which are another run's, and stay there
    int report_fd = -1;      ///< where `ako launch` reads metrics lines; -1: show them here
    int view_fd = 1;         ///< where the view goes; the log is on standard error
};

class PeerRun {
  public:
    /// What completes a result's curve with milestones that were kept for later; empty: nothing.
    using Evaluate = std::function<void(PeerResult&)>;

    /// `end`: somebody asks in the view that the run ends; of another thread. Everything handed in
    /// outlives this.
    PeerRun(RunOptions options, const Settings& settings, PeerIndex self,
            std::function<void()> end);
    ~PeerRun();
    PeerRun(const PeerRun&) = delete;
    PeerRun& operator=(const PeerRun&) = delete;

    /// For the Wiring of this run.
    WiringCalls member_calls(std::function<bool()> leaves);
    Log& log() { return log_; }
    /// Only in a child that fork has made, of which nothing else is used.
    void close_report_pipe() const { report_.close_in_child(); }

    /// Makes the run folder, with files and metrics from now on, opens the view and starts the
    /// wiring. `model`: the tensors of its flat vector. Throws StartupError.
    void begin(Wiring& wiring, std::vector<Tensor> model, const RunSize& size);

    // From then on.
    Metrics& metrics() { return *metrics_; }
    const std::string& folder() const { return folder_; }
    /// Null if none are asked for.
    std::unique_ptr<Checkpoints> make_checkpoints();

    /// Tells and writes what it came to: everything that stays, the smallest first and each by
    /// itself, so that what cannot be written takes nothing else with it. `item_count`: samples of
    /// the training set. Once.
    PeerResult end(const TrainingOutcome& outcome, std::uint64_t item_count,
                   const Evaluate& evaluate);

  private:
    bool launched() const { return options_.report_fd >= 0; }
    void start_view();
    void show(const MetricsLine& line);
    void start_server(const RunSize& size);
    CheckpointPace checkpoint_pace() const;
    void say_warnings(const RunSize& size);
    /// What it goes on from is in its own run folder from now on, too.
    void take_over_earlier(Wiring& wiring);
    /// Null if nothing is evaluated later.
    std::unique_ptr<MilestoneWriter> make_milestones(std::size_t parameter_count);
    void close_view(const PeerResult& result);
    /// In a pipe before anything is written: whatever the disk does, the outcome is known.
    void tell(const PeerResult& result);
    void write_results(const TrainingOutcome& outcome, const Evaluate& evaluate,
                       PeerResult& result);
    void write_model(const TrainingOutcome& outcome) const;
    void write_curve(const PeerResult& result) const;
    void write_summary(const PeerResult& result);

    // Constant after construction.
    const RunOptions options_;
    const Settings& settings_;
    const PeerIndex self_;
    const std::string& name_;
    const std::function<void()> end_;
    const bool live_;  ///< the view is a screen

    Console console_;  // outlives whoever prints
    ReportPipe report_;
    Log log_;
    LatestRun latest_;
    std::unique_ptr<ViewThread> view_;  ///< null under launch, which shows all its peers
    SystemFiles system_files_;
    Board board_;  // outlives the server

    // From begin on.
    std::string folder_;
    std::size_t parameter_count_ = 0;
    std::optional<double> chance_;
    std::optional<Metrics> metrics_;
    std::unique_ptr<MilestoneWriter> milestones_;
    std::optional<ModelFiles> files_;
    std::optional<CheckpointFolder> checkpoint_folder_;
    RunPast past_ = {0, 0};  ///< of the run that this one goes on with
    ObservedRun observed_;
    std::unique_ptr<HttpServer> server_;  ///< null if nobody is observed
};

}  // namespace ako
