// The elastic ring (`exchange.mode: ring`, `exchange.elastic: true`): its two halves, and what they
// share, and what it costs.
#pragma once

#include <span>
#include <utility>

#include "ako/clock.h"
#include "ako/transport.h"
#include "src/buckets/bucket_board.h"
#include "src/buckets/buckets.h"
#include "src/buckets/elastic_ring.h"
#include "src/buckets/epoch_board.h"
#include "src/exchange/halves.h"
#include "src/exchange/mode_settings.h"
#include "src/modes/costs.h"
#include "src/modes/elastic_compute.h"
#include "src/modes/elastic_traffic.h"

namespace ako {

ModeCosts elastic_costs(const ModeSettings& settings, std::size_t parameter_count);

class ElasticMode final : public Halves {
  public:
    /// All references outlive this.
    ElasticMode(const ModeSettings& settings, Buckets buckets, std::span<const float> initial,
                Mailbox& mailbox, Transport& transport, const Clock& clock)
        : buckets_(std::move(buckets)),
          state_(settings.training, initial),
          board_(buckets_.count(), [&mailbox] { mailbox.wake(); }),
          epochs_([&mailbox] { mailbox.wake(); }),
          ring_(buckets_, settings.self, settings.peer_count(), settings.straight_bytes_max,
                state_.memory(), board_, transport),
          compute_(settings, buckets_, mailbox, board_, epochs_, ring_, state_),
          traffic_(settings, buckets_, mailbox, board_, epochs_, ring_, transport, clock) {}

    ElasticCompute& compute() override { return compute_; }
    ElasticTraffic* traffic() override { return &traffic_; }

  private:
    const Buckets buckets_;
    ElasticState state_;  // of either thread: see EpochBoard
    BucketBoard board_;   // both threads
    EpochBoard epochs_;
    ElasticRing ring_;  // network thread

    ElasticCompute compute_;  // compute thread
    ElasticTraffic traffic_;  // network thread
};

}  // namespace ako
