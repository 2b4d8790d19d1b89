// The mode `ako`: its two halves, what they share, and what it costs.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "ako/payload.h"
#include "src/exchange/halves.h"
#include "src/modes/ako_compute.h"
#include "src/modes/ako_traffic.h"
#include "src/modes/costs.h"
#include "src/rows/outbox.h"
#include "src/rows/snapshots.h"

namespace ako {

class AkoMode final : public Halves {
  public:
    /// `initial` is [parameter_count]; all references outlive this.
    AkoMode(const ModeSettings& settings, std::vector<float> initial, Mailbox& mailbox,
            Transport& transport, const Clock& clock)
        : initial_(std::move(initial)),
          outbox_(settings.peer_count()),
          snapshots_(Blocks(initial_.size(), settings.block_elements)),
          compute_(settings, initial_, mailbox, outbox_, snapshots_),
          traffic_(settings, Blocks(initial_.size(), settings.block_elements), mailbox, outbox_,
                   snapshots_, transport, clock) {}

    /// What the payloads in the mailbox may take: one round's ingress, every other peer's whole
    /// row. Never less than one largest frame a peer.
    static std::size_t payload_bytes_max(std::size_t peer_count, std::size_t parameter_count) {
        return (peer_count - 1) * std::max(payload_bytes_of(parameter_count), payload_bytes_limit);
    }

    static ModeCosts costs(const ModeSettings& settings, std::size_t parameter_count);

    AkoCompute& compute() override { return compute_; }
    AkoTraffic* traffic() override { return &traffic_; }

  private:
    std::vector<float> initial_;  // constant once this peer has begun
    Outbox outbox_;               // both threads
    Snapshots snapshots_;

    AkoCompute compute_;  // compute thread
    AkoTraffic traffic_;  // network thread
};

}  // namespace ako
