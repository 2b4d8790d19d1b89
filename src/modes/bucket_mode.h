// The modes that exchange buckets (ring, parameter server, local SGD, model averaging): their two
// halves, and what they share, and what each costs.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "ako/transport.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/bucket_protocol.h"
#include "src/buckets/buckets.h"
#include "src/exchange/halves.h"
#include "src/exchange/mode_settings.h"
#include "src/modes/bucket_compute.h"
#include "src/modes/bucket_traffic.h"
#include "src/modes/costs.h"

namespace ako {

/// The protocol of `settings.exchange.mode`; all references outlive it.
std::unique_ptr<BucketProtocol> make_protocol(const ModeSettings& settings, const Buckets& buckets,
                                              std::span<const float> initial, BucketBoard& board,
                                              Transport& transport);
/// What that mode makes of gradients; null for a peer that only serves.
std::unique_ptr<BucketRule> make_rule(const ModeSettings& settings, std::span<const float> initial,
                                      BucketProtocol& protocol);

ModeCosts ring_costs(const ModeSettings& settings, std::size_t parameter_count);
ModeCosts local_sgd_costs(const ModeSettings& settings, std::size_t parameter_count);
/// Without the learners, whose replicas are the trainer's.
ModeCosts sma_costs(const ModeSettings& settings, std::size_t parameter_count);
ModeCosts server_costs(const ModeSettings& settings, std::size_t parameter_count);

class BucketMode final : public Halves {
  public:
    /// All references outlive this.
    BucketMode(const ModeSettings& settings, Buckets buckets, std::span<const float> initial,
               Mailbox& mailbox, Transport& transport)
        : buckets_(std::move(buckets)),
          board_(buckets_.count(), [&mailbox] { mailbox.wake(); }),
          protocol_(make_protocol(settings, buckets_, initial, board_, transport)),
          compute_(settings, buckets_, mailbox, board_, *protocol_,
                   make_rule(settings, initial, *protocol_)),
          traffic_(settings, mailbox, board_, *protocol_) {}

    BucketCompute& compute() override { return compute_; }
    BucketTraffic* traffic() override { return &traffic_; }

  private:
    const Buckets buckets_;
    BucketBoard board_;                               // both threads
    const std::unique_ptr<BucketProtocol> protocol_;  // network thread

    BucketCompute compute_;  // compute thread
    BucketTraffic traffic_;  // network thread
};

}  // namespace ako
