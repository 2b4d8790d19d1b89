// The newest line: the metrics line of one peer as it stands now. Filled from its rounds as they
// are made and, before it is written, from the counters of its links, from what its process used
// and from what its exchange says; its rates are over the time since the line before.
//
// Compute thread only. Transport and exchange must outlive the last update.
#pragma once

#include <string>
#include <vector>

#include "ako/exchange.h"
#include "ako/transport.h"
#include "src/results/metrics_line.h"
#include "src/results/usage.h"
#include "src/training/round_times.h"
#include "src/training/run_driver.h"

namespace ako {

class NewestLine {
  public:
    /// `began`: the line's time is since then.
    NewestLine(const std::vector<std::string>& peer_names, PeerIndex self,
               const Transport& transport, Time began);

    /// The exchange that it tells of, once that is made.
    void watch(const Exchange& exchange) { exchange_ = &exchange; }

    void round_done(const RoundReport& report);
    void checkpoints_paced(const CheckpointInterval& interval) { line_.checkpoints = interval; }
    void loss_not_finite() { ++line_.losses_not_finite; }
    /// See metrics_line.h.
    void enter(const char* phase) { line_.phase = phase; }
    bool is_in(const char* phase) const { return line_.phase == phase; }
    void wait_for(std::vector<std::string> missing);
    void set_agreed(bool agreed) { line_.agreed = agreed; }

    /// Brings it up to this moment, to be written. The next one has the losses from here on.
    void update(Time now, const RoundTimes& times);

    const MetricsLine& line() const { return line_; }

  private:
    void take_counters(const std::vector<LinkCounters>& counters);
    /// What the exchange says, which is there.
    void take_standing(const std::vector<LinkCounters>& counters);
    /// What the window over the last seconds says, once this moment's is in it.
    void take_usage(const ProcessUsage& process, const std::vector<LinkCounters>& counters);
    void take_rates(Time now);
    LinkLine& link_to(PeerIndex peer) { return line_.links[peer < self_ ? peer : peer - 1]; }

    const PeerIndex self_;
    const Transport& transport_;
    const Time began_;
    const Exchange* exchange_ = nullptr;

    MetricsLine line_;
    MetricsLine before_;  ///< the totals from which rates are taken
    Time before_at_;
    UsageWindow usage_;
    double loss_sum_ = 0;
    unsigned rounds_since_ = 0;  ///< the last update
    unsigned losses_since_ = 0;  ///< of those, with a loss
};

}  // namespace ako
