// The peers that are not read from for the moment, because the memory that their next chunk belongs
// into is still in use. Lives as long as the protocol that keeps it. Network thread only.
#pragma once

#include <utility>

#include "ako/threads.h"
#include "ako/transport.h"
#include "ako/types.h"

namespace ako {

class BlockedPeers {
  public:
    /// `transport` outlives this.
    explicit BlockedPeers(Transport& transport) : transport_(transport) {}

    void block(PeerIndex peer) AKO_NETWORK_THREAD { peers_ |= peer_bit(peer); }
    /// Some memory is free again: all of them ask anew.
    void unblock() AKO_NETWORK_THREAD {
        const PeerSet blocked = std::exchange(peers_, 0);
        for (PeerIndex peer = 0; peer < peers_max; ++peer)
            if (blocked & peer_bit(peer)) transport_.resume(peer);
    }

  private:
    Transport& transport_;
    PeerSet peers_ = 0;
};

}  // namespace ako
