// Why the training of the mode `ako` ends, and who was asked for it, as far as this peer knows: its
// own wish, and what others say. Compute thread only.
#pragma once

#include <string>
#include <vector>

#include "ako/ending.h"
#include "ako/exchange.h"
#include "src/exchange/mode_settings.h"

namespace ako {

class AkoStop {
  public:
    /// `settings` outlives this.
    explicit AkoStop(const ModeSettings& settings) : settings_(settings) {}

    /// `asked`: the peers that were, where `reason` is `requested`.
    void hear(StopReason reason, PeerSet asked = 0);
    void request(StopReason reason) { hear(reason, peer_bit(settings_.self)); }

    bool due() const { return reason_ != StopReason::none; }
    StopReason reason() const { return reason_; }
    PeerSet asked() const { return asked_; }
    /// Has nobody else wished it?
    bool is_own() const {
        return !due() || (reason_ == StopReason::requested && asked_ == peer_bit(settings_.self));
    }
    /// The peers that were asked, if it ends for that; else empty.
    std::vector<PeerIndex> asked_for_it() const;
    /// What this peer does then.
    Next next() const;

  private:
    const ModeSettings& settings_;
    StopReason reason_ = StopReason::none;
    PeerSet asked_ = 0;
};

}  // namespace ako
