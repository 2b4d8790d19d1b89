// Metrics: the observer of a training run. It has the clock, writes the newest line once a second,
// to files and, under `ako launch`, to its pipe, and has what stays when the run is over: the
// account of the training, the curve, the trend of the losses. Compute thread only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/exchange.h"
#include "ako/transport.h"
#include "src/results/curve.h"
#include "src/results/loss_trend.h"
#include "src/results/metrics_files.h"
#include "src/results/metrics_line.h"
#include "src/results/milestone_file.h"
#include "src/results/newest_line.h"
#include "src/results/training_account.h"
#include "src/results/training_figures.h"
#include "src/training/run_driver.h"

namespace ako {

class Metrics final : public TrainingObserver {
  public:
    /// Lines go to the files `stem`.* (metrics_files.h) and to `listener`, which is called on the
    /// compute thread. `say` is told when a file takes no more, and when it does again. `goes_on`:
    /// after the lines that an earlier process of this peer has left there. Throws StartupError.
    Metrics(const std::string& stem, std::function<void(const MetricsLine&)> listener,
            const std::function<void(const std::string&)>& say, std::vector<std::string> peer_names,
            PeerIndex self, const Transport& transport, const Clock& clock, bool goes_on = false);

    /// The exchange that lines tell of, once it is made. Must outlive the last line.
    void watch(const Exchange& exchange) { newest_.watch(exchange); }
    /// What progress counts: samples of all peers.
    void set_sample_budget(std::uint64_t samples) { sample_budget_ = samples; }
    std::uint64_t sample_budget() const { return sample_budget_; }
    /// Where milestones go, with `evaluate: after`. Must outlive the last round.
    void keep_milestones_in(MilestoneWriter& file) { milestones_ = &file; }

    void reached(RoundMoment moment) override { account_.reached(moment, clock_.now()); }
    void round_done(const RoundReport& report) override;
    void checkpoints_paced(const CheckpointInterval& interval) override {
        newest_.checkpoints_paced(interval);
    }
    void loss_not_finite() override { newest_.loss_not_finite(); }
    void milestone_passed(const Milestone& milestone) override;
    void evaluation_done(const Verdict& verdict) override;
    void serving() override;
    void stopping(const std::string& why) override;
    void finished(const FinishReport& report) override;
    /// The exchange waits: at the start for the peers that are missing.
    void waits(const std::vector<PeerIndex>& missing);

    /// The last line, brought up to date.
    const MetricsLine& last();
    /// As it was written.
    const MetricsLine& newest() const { return newest_.line(); }
    /// Figures of the rounds that were made; nothing without any, or if the training did not end.
    const std::optional<TrainingFigures>& figures() const { return account_.figures(); }
    /// From the beginning of the first round to the end of the final exchange, without what came
    /// after it for others; 0 without either.
    double seconds_to_end() const { return ended_after_; }
    /// When the first round began; nothing before it, or if this peer only serves.
    std::optional<Time> training_began() const { return account_.times().began_at(); }
    /// What this peer sent, Mbit/s, from the beginning of its first round to the end of its last;
    /// of one that only serves, while it served. Nothing if it did neither to its end.
    const std::optional<double>& egress_mbit() const { return account_.egress_mbit(); }
    /// What this peer evaluated while it trained.
    const std::vector<CurvePoint>& curve() const { return curve_; }
    const LossTrend& loss_trend() const { return loss_trend_; }

  private:
    void write_line(Time now);

    // Constant after construction.
    const std::function<void(const MetricsLine&)> listener_;
    const std::vector<std::string> peer_names_;
    const Clock& clock_;
    const Time began_;
    std::uint64_t sample_budget_ = 0;
    MilestoneWriter* milestones_ = nullptr;

    MetricsFiles files_;
    NewestLine newest_;
    Time due_at_;  ///< the next line
    TrainingAccount account_;
    LossTrend loss_trend_;
    CurvePoint evaluating_;  ///< what is being evaluated, without its verdict
    std::vector<CurvePoint> curve_;
    double ended_after_ = 0;
};

}  // namespace ako
