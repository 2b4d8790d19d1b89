// Relaying rows: serving blocks that others ask for, and asking for blocks of rows whose owner does
// not stream them: this peer cannot reach it or, at the end, it has not claimed what an earlier
// process of its name made. Any peer may pass on any row, because per block the newer version wins.
// Compute thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "ako/frame.h"
#include "ako/threads.h"
#include "ako/types.h"
#include "src/exchange/roster.h"
#include "src/rows/ledger.h"
#include "src/rows/outbox.h"
#include "src/rows/puller.h"

namespace ako {

/// A block of exactly this version.
using FindBlock = std::function<HeldBlock(RowIndex row, BlockIndex block, Version version)>;

class Relaying {
  public:
    /// The most blocks in one relayed partial: 64 KiB. A peer asks for few because its link is
    /// slow: then a partial has half of what was asked at most, but one block at least.
    static constexpr BlockIndex relay_run_max = 4;

    /// All outlive this.
    Relaying(const Ledger& ledger, const Roster& roster, Outbox& outbox);

    /// Copies what `peer` wants and is held here into pooled buffers, as far as its queue has room,
    /// and answers which blocks do not come. `find` knows the blocks of an exact version, in the
    /// ledger or beside it.
    void serve(PeerIndex peer, const Want& want, const FindBlock& find) AKO_COMPUTE_THREAD;

    /// Says which version of every block is held here.
    void tell_versions(PeerIndex peer) AKO_COMPUTE_THREAD;

    /// Asks for what others hold newer of rows whose owner has no session with this peer; at the
    /// end, of rows that their owners do not stream.
    void step(Time now, bool at_the_end = false) AKO_COMPUTE_THREAD;

    /// A Partial came, whatever became of its blocks.
    void arrived(PeerIndex from, const Partial& partial, Time at) AKO_COMPUTE_THREAD {
        puller_.arrived(from, partial, at);
    }
    void lacks(PeerIndex from, const Lack& lack, Time now) AKO_COMPUTE_THREAD {
        puller_.lacks(from, lack, now);
    }
    void forget_asked(PeerIndex holder) AKO_COMPUTE_THREAD { puller_.forget_asked(holder); }

  private:
    /// The longest run from `first` on, of at most `count_max`, that can be sent as one partial;
    /// count 0: none.
    BlockRun run_to_send(const Want& want, const Want::Run& asked, BlockIndex first,
                         BlockIndex count_max, const FindBlock& find) const AKO_COMPUTE_THREAD;
    /// False if there is no room for it.
    bool send(PeerIndex peer, const Want& want, Version version, BlockRun run,
              const FindBlock& find) AKO_COMPUTE_THREAD;
    /// The peers that hold newer blocks of the row, and the newest version that any of them holds.
    struct Informed {
        PeerSet holders = 0;
        Version newest;
    };
    Informed better_informed(RowIndex row, bool at_the_end) const AKO_COMPUTE_THREAD;

    const Ledger& ledger_;
    const Roster& roster_;
    Outbox& outbox_;
    Puller puller_;
    std::vector<std::byte> coded_;  ///< the payload that is being made
};

}  // namespace ako
