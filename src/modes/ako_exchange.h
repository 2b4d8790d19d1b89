// The mode `ako` behind the seam of the training loop: puts the compute half and the network half
// on their threads and does the waiting for them. Compute thread, but for what runs in AkoLinks.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "ako/clock.h"
#include "ako/exchange.h"
#include "ako/transport.h"
#include "src/buffer_pool.h"
#include "src/inbox.h"
#include "src/modes/ako_links.h"
#include "src/modes/ako_peer.h"
#include "src/modes/mode_settings.h"
#include "src/outbox.h"
#include "src/snapshots.h"
#include "src/waiting_line.h"

namespace ako {

class AkoExchange final : public Exchange {
  public:
    /// What each wait looks at at least so often: interrupts, time-outs.
    static constexpr Time wait_step = std::chrono::milliseconds(50);

    /// `initial` is [parameter_count]; `transport` and `clock` outlive this. `interrupts` counts
    /// signals that ask to end: read while waiting.
    AkoExchange(ModeSettings settings, std::vector<float> initial, Transport& transport,
                const Clock& clock, const std::atomic<int>& interrupts);

    /// Stops the transport, if `finish` has not.
    ~AkoExchange() override;

    void start() override;

    Next begin_round() override;
    std::span<const float> replica() const override { return peer_.replica(); }
    void await(Range) override {}
    void gradient_ready(Range, std::span<const float>) override {}
    Result<void> end_round(std::span<const float> gradient, const RoundResult& result) override;
    double progress() const override { return peer_.progress(); }
    Round round() const override { return peer_.round(); }
    void copy_parameters(std::span<float> out) override { peer_.copy_anchor(out); }
    bool evaluates() const override { return peer_.evaluates(); }
    void announce(const Verdict& verdict) override { peer_.announce(verdict); }
    std::optional<Verdict> newest_verdict() const override { return peer_.newest_verdict(); }
    std::vector<LinkView> links() const override;
    void request_stop(StopReason reason) override { peer_.request_stop(reason); }
    /// Says goodbye and stops the transport before it returns.
    FinishReport finish(std::span<float> out) override;

  private:
    void log_missing();
    void wait(const std::vector<PeerIndex>& missing);

    const ModeSettings settings_;  // constant after construction
    const std::vector<float> initial_;
    Transport& transport_;
    const Clock& clock_;
    const std::atomic<int>& interrupts_;

    BufferPool pool_;  // both threads; outlives what lies in the inbox
    Inbox inbox_;
    Outbox outbox_;
    Snapshots snapshots_;

    AkoPeer peer_;          // compute thread
    bool running_ = false;  ///< the transport
    WaitingLine waiting_line_;

    AkoLinks links_;  // network thread
};

}  // namespace ako
