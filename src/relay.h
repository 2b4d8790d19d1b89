// Relaying rows: serving blocks that others ask for, and asking for blocks of rows whose owner this
// peer cannot reach. Any peer may pass on any row, because per block the newer version wins.
// Compute thread only.
#pragma once

#include <vector>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/finish.h"
#include "src/ledger.h"
#include "src/membership.h"
#include "src/outbox.h"
#include "src/puller.h"

namespace ako {

class Relaying {
  public:
    /// Blocks in one relayed partial: 64 KiB take 50 ms at 10 Mbit/s, and the asker stays patient.
    static constexpr BlockIndex relay_run_max = 4;

    /// All outlive this. `ask_timeout`: until the next holder is asked.
    Relaying(const Ledger& ledger, const Membership& membership, Outbox& outbox, Time ask_timeout);

    /// Copies what `peer` wants and is held here into pooled buffers, as far as its queue has room.
    void serve(PeerIndex peer, const Want& want, const Finish& finish);

    /// Asks for what others hold newer of rows whose owner has no session with this peer.
    void step(Time now);

    /// A block of a row was taken.
    void arrived(PeerIndex row, Time now) { pullers_[row].arrived(1, now); }

  private:
    /// The longest run from `first` on, within `end`, that can be sent as one partial; count 0 =
    /// none.
    BlockRun run_to_send(const Want& want, const Want::Run& asked, BlockIndex first,
                         const Finish& finish) const;
    PeerSet better_informed(PeerIndex row) const;

    const Ledger& ledger_;
    const Membership& membership_;
    Outbox& outbox_;
    std::vector<Puller> pullers_;  ///< [peer_count]
};

}  // namespace ako
