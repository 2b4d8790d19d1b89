// The training account: what the training of one peer, or its service as a parameter server, took
// of time, bytes and processor. Told the moments of its rounds; the figures are there when it has
// stopped.
//
// Compute thread only. The transport must outlive the last call.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ako/transport.h"
#include "src/results/metrics_line.h"
#include "src/results/training_figures.h"
#include "src/training/round_times.h"

namespace ako {

class TrainingAccount {
  public:
    explicit TrainingAccount(const Transport& transport) : transport_(transport) {}

    void reached(RoundMoment moment, Time now);
    /// A line is written while it trains.
    void second_passed(const MetricsLine& line) { stalest_.push_back(line.staleness_rounds()); }
    void serving(Time now);
    /// The rounds are over; `line` is the newest.
    void stopping(const MetricsLine& line);
    /// So is all that a server did.
    void finished(Time now);

    const RoundTimes& times() const { return times_; }
    /// Figures of the rounds that were made; nothing without any, or before they are over.
    const std::optional<TrainingFigures>& figures() const { return figures_; }
    /// What this peer sent, Mbit/s, from the beginning of its first round to the end of its last;
    /// of one that only serves, while it served. Nothing if it did neither to its end.
    const std::optional<double>& egress_mbit() const { return egress_mbit_; }

  private:
    /// Bytes of all links and processor time of the process.
    struct Totals {
        std::uint64_t egress_bytes = 0;
        std::uint64_t ingress_bytes = 0;
        double cpu_seconds = 0;
    };
    Totals totals() const;
    TrainingFigures make_figures(const MetricsLine& line) const;

    const Transport& transport_;
    RoundTimes times_;
    /// When the first round began and the last ended: what is sent after it, as a last averaging
    /// that no round waits for, is of no round, and its time is not in them either.
    Totals at_first_, at_last_;
    std::optional<Time> serving_since_;   ///< and then at_first_ is of that moment
    std::vector<std::uint64_t> stalest_;  ///< the largest staleness of each second of training
    std::optional<TrainingFigures> figures_;
    std::optional<double> egress_mbit_;
};

}  // namespace ako
