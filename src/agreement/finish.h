// The final exchange of one peer: from its last round to a cut that all who finish together hold.
//
//   regain   a later life of a peer asks for the vote that its earlier life may have used, once it
//            has come in or been there for a while: a second process of a name, which the others
//            turn away before that, is not to take the vote of the first; without it, it may only
//            adopt (agreement.h)
//   propose  the lowest live peer with a vote, once it holds every live peer's final round (or
//            after a while, then others too), proposes the version map it holds; only with a
//            majority in reach, so that no side of a cut network binds the other to what it lacks
//   accept   a peer accepts a cut only once it holds exactly its blocks, so that a decided cut
//            outlives its proposer
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
#include <tuple>
#include <vector>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/agreement/agreement.h"
#include "src/agreement/cut_puller.h"
#include "src/agreement/movement.h"
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
    /// Within so long a second process of a peer's name is turned away.
    static constexpr Time turned_away_within = std::chrono::seconds(10);
    /// So many other lives of the own row are remembered; of one that is forgotten, hearing of it
    /// again costs the vote again, which is safe.
    static constexpr std::size_t lives_kept = 64;

    /// Both outlive this. `process_id`: of this life of the peer.
    Finish(const Ledger& ledger, const Roster& roster, Send send, FinishTimes times,
           std::uint64_t process_id);

    /// This process may be a later life of its peer, of which nobody can have told it yet: another
    /// has taken its place, or it says so itself. Else it finds out in `heard`.
    void lose_vote();
    bool has_vote() const { return agreement_.has_vote(); }
    /// This process goes on with an earlier run, with its own row of this incarnation (0: without
    /// it). All who were part of that are over. So what others know of it from their disks costs no
    /// vote; what somebody knows who did not begin beside this process does.
    void resume(Incarnation own_row);

    /// This peer has made its last round.
    void begin(Time now);
    bool begun() const { return begun_at_.has_value(); }

    /// `peer` has said this, which Roster knows already. Whoever has heard of more rounds of this
    /// peer than this process has made, of another process's row, or that the peer may have voted
    /// before this process could, has heard of another life: then the vote is lost.
    void heard(PeerIndex peer, const Status& status, Time now);
    /// Messages of the agreement (Prepare, Promise, Accept, Accepted, WantCut, CutRow, Lack).
    void handle(PeerIndex from, const Header& header, Time now);

    /// From now on only `take` may change the ledger.
    bool frozen() const { return frozen_; }
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
        asked_.reset();
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

    /// For the Status.
    PeerSet may_have_voted() const;
    CutId accepted() const { return agreement_.accepted(); }
    CutId decided() const { return agreement_.decided(); }
    /// The decided cut is in the ledger.
    bool adopted() const { return digest_.has_value(); }
    /// Of all rows in order; the caller adds the anchor's. Set once adopted.
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
    /// Can these peers, this one perhaps among them, come to a decision? A majority must be there,
    /// and enough of them with a vote to give the others theirs.
    bool enough(PeerSet peers) const;
    /// As far as this peer has heard.
    bool has_vote(PeerIndex peer) const;
    /// Whom this peer waits for, where nothing is lacking but peers that are not there or, once it
    /// has adopted, do not move; empty while others keep it busy.
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
    /// Heard of for the first time: it is of another process.
    bool is_of_another_life(Incarnation own_row);
    /// Does this process of `peer` go on with an earlier run, as this one does, and had neither
    /// begun when they met?
    bool resumes_beside(PeerIndex peer, const Status& status);
    /// How long neither the agreement nor anybody who pulls a cut has moved.
    Time quiet(Time now) const;
    /// So long it must have been quiet before this peer outbids others.
    Time patience() const;
    /// For whom it stays once it has adopted.
    PeerSet awaited(Time now, bool hurried) const;
    /// Not adopted: those without whom it can not go on.
    PeerSet missed_before_the_cut() const;
    /// Is every row here that can still come?
    bool complete() const;
    /// Not where a later life has come to the end before it took in what the earlier one made.
    bool own_row_here() const;
    bool settled(RowIndex row) const;
    /// Will its owner say a final round? Not while it takes in the row of its own earlier life.
    bool final_round_comes(RowIndex row) const;
    void regain(Time now);
    void propose(Time now);
    bool pull(CutId cut, Time now);
    void push_agreement(Time now);
    void try_accept(Time now);
    /// False if it says nothing new.
    bool handle_message(PeerIndex from, const Header& header, Time now);
    void keep_maps();
    void deliver(PeerIndex to, Header header, Time now);
    /// May a question of `from` be answered with this peer's vote?
    bool may_vote_on(PeerIndex from) const;
    /// From its first round on, or its end.
    bool may_vote() const;
    /// Is it known here that `peer` may vote? Before, its answers do not count: should it be
    /// started again, nobody could tell it that it had voted.
    bool may_have_voted(PeerIndex peer) const { return (may_have_voted() & peer_bit(peer)) != 0; }
    void handle_prepare(PeerIndex from, const Prepare& prepare, Time now);
    void handle_accept(PeerIndex from, const Accept& accept, Time now);
    void handle_promise(PeerIndex from, Promise promise, Time now);
    void answer(PeerIndex proposer, const Promise& promise, Time now);

    const Ledger& ledger_;
    const Roster& roster_;
    const Send send_;
    const FinishTimes times_;

    const std::uint64_t process_id_;
    Agreement agreement_;
    CutPuller cut_;
    Movement movement_;
    bool frozen_ = false;
    bool ready_to_adopt_ = false;
    std::optional<Digest> digest_;

    std::optional<Time> begun_at_;
    Time adopted_at_{};
    Time propose_from_{};          ///< see rows_change
    unsigned proposals_ = 0;       ///< each waits twice as long before the next
    PeerSet heard_of_ = 0;         ///< peers that may have voted, as others say
    Round rounds_of_earlier_ = 0;  ///< the most that others have heard of and this process not made
    std::vector<Incarnation> other_lives_;  ///< of the own row, heard of; oldest first
    bool resumes_ = false;
    std::vector<std::uint64_t> beside_;       ///< [peer]: its process that resumes beside this one
    std::vector<Incarnation> earlier_lives_;  ///< of the own row, from disks
    unsigned asked_for_vote_ = 0;             ///< and so does this
    std::optional<Time> asked_for_vote_at_;   ///< last, under a new ballot
    std::optional<Time> voteless_since_;
    Time vote_came_to_nothing_at_{};  ///< the question that was asked then
    Time heard_at_{};  ///< of the agreement, or a block of a cut: something still moves
    std::optional<Time> asked_at_;  ///< the outstanding question was last sent
    Time ask_again_in_{};           ///< after that
    std::optional<Header> asked_;
};

}  // namespace ako
