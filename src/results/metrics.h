// Metrics: the observer of a training run. It has the clock, writes one line a second, to files
// and, under `ako launch`, to its pipe, and gathers the figures and the curve that stay when the
// run is over. Compute thread only.
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
#include "src/results/training_figures.h"
#include "src/results/usage.h"
#include "src/training/round_times.h"
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
    void watch(const Exchange& exchange) { exchange_ = &exchange; }
    /// What progress counts: samples of all peers.
    void set_sample_budget(std::uint64_t samples) { sample_budget_ = samples; }
    std::uint64_t sample_budget() const { return sample_budget_; }
    /// Where milestones go, with `evaluate: after`. Must outlive the last round.
    void keep_milestones_in(MilestoneWriter& file) { milestones_ = &file; }

    void reached(RoundMoment moment) override;
    void round_done(const RoundReport& report) override;
    void loss_not_finite() override { ++line_.losses_not_finite; }
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
    const MetricsLine& newest() const { return line_; }
    /// Of the rounds that were made; nothing if there were none, or if the training did not end.
    const std::optional<TrainingFigures>& figures() const { return figures_; }
    /// From the beginning of the first round to the end of the final exchange, without what came
    /// after it for others; 0 without either.
    double seconds_to_end() const { return ended_after_; }
    /// When the first round began; nothing before it, or if this peer only serves.
    std::optional<Time> training_began() const { return times_.began_at(); }
    /// What this peer sent, Mbit/s, from the beginning of its first round to the end of its last;
    /// of one that only serves, while it served. Nothing if it did neither to its end.
    const std::optional<double>& egress_mbit() const { return egress_mbit_; }
    /// What this peer evaluated while it trained.
    const std::vector<CurvePoint>& curve() const { return curve_; }
    const LossTrend& loss_trend() const { return loss_trend_; }

  private:
    /// Bytes of all links and processor time of the process.
    struct Totals {
        std::uint64_t egress_bytes = 0;
        std::uint64_t ingress_bytes = 0;
        double cpu_seconds = 0;
    };
    Totals totals() const;
    TrainingFigures make_figures() const;
    void write_line(Time now);
    void update_totals();
    /// What the exchange says, which is there.
    void update_standing(const std::vector<LinkCounters>& counters);
    /// What the window over the last seconds says, once this moment's is in it.
    void update_usage(const ProcessUsage& process, const std::vector<LinkCounters>& counters);
    LinkLine& link_to(PeerIndex peer) { return line_.links[peer < self_ ? peer : peer - 1]; }
    void update_rates(Time now);

    // Constant after construction.
    const std::function<void(const MetricsLine&)> listener_;
    const std::vector<std::string> peer_names_;
    const PeerIndex self_;
    const Transport& transport_;
    const Clock& clock_;
    const Time began_;
    const Exchange* exchange_ = nullptr;
    std::uint64_t sample_budget_ = 0;
    MilestoneWriter* milestones_ = nullptr;

    MetricsFiles files_;
    MetricsLine line_;
    Time due_at_;         ///< the next line
    MetricsLine before_;  ///< the totals from which rates are taken
    Time before_at_;
    double ended_after_ = 0;
    double loss_sum_ = 0;
    unsigned rounds_since_ = 0;
    unsigned losses_since_ = 0;  ///< of those, with a loss

    RoundTimes times_;
    UsageWindow usage_;
    /// When the first round began and the last ended: what is sent after it, as a last averaging
    /// that no round waits for, is of no round, and its time is not in them either.
    Totals totals_at_first_, totals_at_last_;
    std::optional<Time> serving_since_;  ///< and then totals_at_first_ is of that moment
    std::optional<double> egress_mbit_;
    std::vector<std::uint64_t> stalest_;  ///< the largest staleness of each second of training
    std::optional<TrainingFigures> figures_;
    CurvePoint evaluating_;  ///< what is being evaluated, without its verdict
    std::vector<CurvePoint> curve_;
    LossTrend loss_trend_;
};

}  // namespace ako
