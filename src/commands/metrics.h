// Metrics: the observer of a training run that writes one line a second, to a file and, under
// `ako launch`, to its pipe. Compute thread only.
#pragma once

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "ako/clock.h"
#include "ako/exchange.h"
#include "ako/transport.h"
#include "src/commands/metrics_line.h"
#include "src/trainer.h"

namespace ako {

class Metrics final : public TrainingObserver {
  public:
    /// Lines go to `path` and to `listener`, which is called on the compute thread.
    Metrics(const std::string& path, std::function<void(const MetricsLine&)> listener,
            std::vector<std::string> peer_names, PeerIndex self, const Transport& transport,
            const Clock& clock);

    /// The exchange that lines tell of, once it is made. Must outlive the last line.
    void watch(const Exchange& exchange) { exchange_ = &exchange; }

    void round_done(const RoundReport& report) override;
    void evaluation_done(const Verdict& verdict) override;
    void serving() override;
    void stopping(const std::string& why) override;
    void finished(const FinishReport& report) override;
    /// The exchange waits: at the start for the peers that are missing.
    void waits(const std::vector<PeerIndex>& missing);

    /// The last line, brought up to date.
    const MetricsLine& last();

  private:
    void write_line(Time now);
    void update_totals();
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

    std::ofstream file_;
    MetricsLine line_;
    Time due_at_;         ///< the next line
    MetricsLine before_;  ///< the totals from which rates are taken
    Time before_at_;
    double loss_sum_ = 0;
    unsigned rounds_since_ = 0;
};

}  // namespace ako
