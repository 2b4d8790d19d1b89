// Relaying rows: serving blocks that others ask for, and asking for blocks of rows whose owner this
// peer cannot reach. Any peer may pass on any row, because per block the newer version wins.
// Compute thread only.
#pragma once

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
    /// Blocks in one relayed partial: 64 KiB. Who asks for few, because the link is slow, gets them
    /// one by one: half of what was asked at most.
    static constexpr BlockIndex relay_run_max = 4;

    /// All outlive this. `ask`: see Puller.
    Relaying(const Ledger& ledger, const Membership& membership, Outbox& outbox, Time ask);

    /// Copies what `peer` wants and is held here into pooled buffers, as far as its queue has room;
    /// of the rest it says so.
    void serve(PeerIndex peer, const Want& want, const Finish& finish);

    /// Asks for what others hold newer of rows whose owner has no session with this peer.
    void step(Time now);

    /// A Partial came, whatever became of its blocks.
    void arrived(PeerIndex from, const Partial& partial, Time at) {
        puller_.arrived(from, partial, at);
    }
    void lacks(PeerIndex from, const Lack& lack, Time now) { puller_.lacks(from, lack, now); }
    void forget_asked(PeerIndex holder) { puller_.forget_asked(holder); }

  private:
    /// The longest run from `first` on, of at most `count_max`, that can be sent as one partial;
    /// count 0: none.
    BlockRun run_to_send(const Want& want, const Want::Run& asked, BlockIndex first,
                         BlockIndex count_max, const Finish& finish) const;
    /// False if there is no room for it.
    bool send(PeerIndex peer, const Want& want, Version version, BlockRun run,
              const Finish& finish);
    /// Who holds newer blocks of the row, and the newest version of any.
    struct Informed {
        PeerSet holders = 0;
        Version newest;
    };
    Informed better_informed(PeerIndex row) const;

    const Ledger& ledger_;
    const Membership& membership_;
    Outbox& outbox_;
    Puller puller_;
};

}  // namespace ako
