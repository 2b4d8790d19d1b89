// The final exchange of one peer: from its last round to a cut that all who finish together hold.
//
//   propose  the lowest live peer with a vote, once it holds every live peer's final round (or
//            after a while, then others too), proposes the version map it holds; only with a
//            majority in reach, so that no side of a cut network binds the other to what it lacks
//   accept   a peer accepts a cut only once it holds exactly its blocks (voter.h)
//   adopt    whoever hears of the decision pulls exactly that map; its blocks override newer ones
//   linger   whoever has adopted serves the others for as long as a live one still moves
//
// From the first cut that a peer proposes or accepts, its ledger is *frozen*: what it holds must
// stay held, so only blocks that a cut names, or may come to name because they are their owners'
// last, are still taken, and kept beside it.
//
// Nothing here ends by a time that was fixed before: as long as a block comes, or the agreement
// goes on, at this peer or as another's Status says, it waits. What only lives holds up nobody. So
// that a trickle does not last for ever, there is a bound, which follows from the bytes: see
// `bound`.
//
// No clock, no sockets; `step` is called after events and at least every 50 ms. Compute thread
// only.
#pragma once

#include <optional>
#include <span>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/agreement/cut_puller.h"
#include "src/agreement/movement.h"
#include "src/agreement/voter.h"
#include "src/exchange/roster.h"
#include "src/rows/ledger.h"

namespace ako {

struct FinishTimes {
    Time exchange;  ///< how long the proposer waits for rows that do not come
    Time linger;    ///< how long a peer that has adopted serves others that do not move
    Time timeout;   ///< how long a peer that has not adopted waits while nothing moves
};

class Finish {
  public:
    using Send = CutPuller::Send;
    /// A block of the rows may take so many times as long as an answer of whom nothing was seen,
    /// on average: with 500 ms, 16 KiB in 2 s, which is 0.07 Mbit/s.
    static constexpr int asks_per_block = 4;

    /// Both outlive this. `process_id`: of this life of the peer.
    Finish(const Ledger& ledger, const Roster& roster, const Send& send, FinishTimes times,
           std::uint64_t process_id);
    Finish(const Finish&) = delete;
    Finish& operator=(const Finish&) = delete;

    /// This process may be a later life of its peer, of which nobody can have told it yet: another
    /// has taken its place, or it says so itself. Else it finds out in `heard`.
    void lose_vote() { voter_.lose_vote(); }
    bool has_vote() const { return voter_.has_vote(); }
    /// This process goes on with an earlier run: see OtherLives.
    void resume(Incarnation own_row) { voter_.resume(own_row); }

    /// This peer has made its last round.
    void begin(Time now);
    bool begun() const { return begun_at_.has_value(); }

    /// `peer` has said this, which Roster knows already.
    void heard(PeerIndex peer, const Status& status, Time now);
    /// Messages of the agreement (Prepare, Promise, Accept, Accepted, WantCut, CutRow, Lack).
    void handle(PeerIndex from, const Header& header, Time now);

    /// From now on only `take` may change the ledger.
    bool frozen() const { return cut_.frozen(); }
    /// Keeps the block beside the ledger if a cut under way names exactly it, or if it is its
    /// owner's last, and the ledger neither holds it nor, not being frozen, will take it. True if
    /// it was kept.
    bool take(RowIndex row, BlockIndex block, Version version, std::span<const float> values,
              std::uint32_t checksum, Time now);
    /// A Partial came from `from`, whatever became of its blocks.
    void arrived(PeerIndex from, const Partial& partial, Time at) {
        cut_.arrived(from, partial, at);
    }
    /// A new session: what was asked in the one before may not have come.
    void forget_asked(PeerIndex holder) {
        cut_.forget_asked(holder);
        voter_.forget_asked();
    }
    /// The ledger has taken a block.
    void ledger_changed(Time now);
    /// The own row has changed, and those of others may: nothing is proposed until they had the
    /// time to say so.
    void rows_change(Time now) {
        propose_from_ = now + roster_.answer_time();
        ledger_changed(now);
    }
    /// A block of exactly this version, from the ledger or from beside it; empty if it is not held.
    HeldBlock find(RowIndex row, BlockIndex block, Version version) const {
        return cut_.find(row, block, version);
    }

    /// Also during training: there it only regains its vote, and learns what is decided.
    void step(Time now);

    CutId accepted() const { return voter_.accepted(); }
    CutId decided() const { return voter_.decided(); }
    const Voter& voter() const { return voter_; }
    /// The decided cut is in the ledger.
    bool adopted() const { return digest_.has_value(); }
    /// The digest of all rows in order, then the anchor; the caller sets it after `adopt_cut`.
    void set_digest(const Digest& digest) { digest_ = digest; }
    const std::optional<Digest>& digest() const { return digest_; }
    /// The cut is complete here and waits to be adopted by the caller with `adopt_cut`.
    bool ready_to_adopt() const { return ready_to_adopt_; }
    /// `ledger` is the one given before, with its own row detached.
    void adopt_cut(Ledger& ledger, Time now);
    /// Adopted, and nobody needs this peer any more: everyone who took part has adopted the cut,
    /// has left, is gone, or has not moved for the linger time. Hurried, it does not wait for the
    /// lost.
    bool done(Time now, bool hurried) const;
    /// The peers that alone keep this one waiting: they are not there or, once it has adopted, do
    /// not move. Empty while others keep it busy.
    PeerSet missed(Time now) const;
    /// Not adopted, and nothing has moved for the time-out, or the bound is passed.
    bool timed_out(Time now) const;
    /// How long a final exchange in which something moves all the time may last: the time-out, and
    /// `asks_per_block` for each block of each row.
    Time bound() const;
    /// What it holds and lacks of the cut that it pulls, and how fast that comes.
    const CutPuller& cut() const { return cut_; }

  private:
    bool may_propose(Time now) const;
    /// The lowest live peer that has a vote.
    bool proposes_first() const;
    /// The peers that it stays for once it has adopted.
    PeerSet awaited(Time now, bool hurried) const;
    /// Not adopted: those without whom it can not go on.
    PeerSet missed_before_the_cut() const;

    const Ledger& ledger_;
    const Roster& roster_;
    const FinishTimes times_;

    CutPuller cut_;
    Movement movement_;
    Voter voter_;
    bool ready_to_adopt_ = false;
    std::optional<Digest> digest_;
    std::optional<Time> begun_at_;
    Time adopted_at_{};
    Time propose_from_{};  ///< see rows_change
};

}  // namespace ako
