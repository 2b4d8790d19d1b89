// Ring, parameter server and local SGD behind the seam of the training loop: puts the two halves of
// a mode that exchanges buckets on their threads and does the waiting for them. Compute thread, but
// for what runs in BucketLinks and the protocol.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "ako/clock.h"
#include "ako/exchange.h"
#include "ako/transport.h"
#include "src/modes/bucket_board.h"
#include "src/modes/bucket_links.h"
#include "src/modes/bucket_peer.h"
#include "src/modes/bucket_protocol.h"
#include "src/modes/buckets.h"
#include "src/modes/mode_settings.h"
#include "src/waiting_line.h"

namespace ako {

/// The protocol of `settings.exchange.mode`; all references outlive it.
std::unique_ptr<BucketProtocol> make_protocol(const ModeSettings& settings, const Buckets& buckets,
                                              std::span<const float> initial, BucketBoard& board,
                                              Transport& transport);
/// What that mode makes of gradients; null for a peer that only serves.
std::unique_ptr<BucketUpdate> make_update(const ModeSettings& settings,
                                          std::span<const float> initial, BucketProtocol& protocol);

class BucketExchange final : public Exchange {
  public:
    /// As AkoExchange.
    static constexpr Time wait_step = std::chrono::milliseconds(50);

    BucketExchange(ModeSettings settings, std::span<const float> initial, Transport& transport,
                   const Clock& clock, const std::atomic<int>& interrupts);
    ~BucketExchange() override;

    void start() override;
    Next begin_round() override;
    std::span<const float> replica() const override { return peer_.replica(); }
    void await(Range range) override;
    void gradient_ready(Range range, std::span<const float> gradient) override;
    Result<void> end_round(std::span<const float> gradient, const RoundResult& result) override;
    double progress() const override { return peer_.progress(); }
    Round round() const override { return peer_.round(); }
    void copy_parameters(std::span<float> out) override;
    bool evaluates() const override { return peer_.evaluates(); }
    void announce(const Verdict& verdict) override { peer_.announce(verdict); }
    std::optional<Verdict> newest_verdict() const override { return peer_.newest_verdict(); }
    std::vector<LinkView> links() const override;
    void request_stop(StopReason reason) override { peer_.request_stop(reason); }
    FinishReport finish(std::span<float> out) override;

  private:
    void log_missing();
    void wait(const std::vector<PeerIndex>& missing);
    /// Waits for this range.
    void wait_for(Range range);
    /// A peer that lives but never sends what has been awaited `since` then breaks it off.
    void break_off_if_stuck(Time since);
    /// Says goodbye and ends the network thread if the exchange cannot go on: from then on the
    /// compute thread may overwrite what was being sent.
    void leave_if_broken();

    const ModeSettings settings_;  // constant after construction
    const Buckets buckets_;
    Transport& transport_;
    const Clock& clock_;
    const std::atomic<int>& interrupts_;

    BucketBoard board_;                         // both threads
    std::unique_ptr<BucketProtocol> protocol_;  // network thread

    BucketPeer peer_;  // compute thread
    bool running_ = false;
    WaitingLine waiting_line_;

    BucketLinks links_;  // network thread
};

}  // namespace ako
