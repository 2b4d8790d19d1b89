// This peer's part in the agreement on a cut: its vote, the questions that it asks, and the answers
// that it gives. Agreement knows which answers are safe; who is asked when, and whether what is
// accepted is held, is decided here; whether this peer proposes, by Finish.
//
//   regain   a later life of a peer asks for the vote that its earlier life may have used, once it
//            has come in or been there for a while: a second process of a name, which the others
//            turn away before that, is not to take the vote of the first; without it, it may only
//            adopt
//   propose  freezes what this peer holds, and asks all for their promise
//   accept   only once this peer holds exactly the blocks of the cut, so that a decided cut
//            outlives its proposer
//
// No clock, no sockets. Compute thread only.
#pragma once

#include <optional>

#include "ako/frame.h"
#include "ako/types.h"
#include "src/agreement/agreement.h"
#include "src/agreement/cut_puller.h"
#include "src/agreement/movement.h"
#include "src/agreement/other_lives.h"
#include "src/exchange/roster.h"

namespace ako {

class Voter {
  public:
    using Send = CutPuller::Send;
    /// Within so long a second process of a peer's name is turned away.
    static constexpr Time turned_away_within = std::chrono::seconds(10);

    /// All outlive this. `exchange`: how long a proposer waits for rows that do not come;
    /// `process_id`: of this life of the peer.
    Voter(const Roster& roster, CutPuller& cut, Movement& movement, Send send, Time exchange,
          std::uint64_t process_id);

    // ---- the vote
    bool has_vote() const { return agreement_.has_vote(); }
    /// As far as this peer has heard.
    bool has_vote(PeerIndex peer) const;
    /// Can these peers, this one perhaps among them, come to a decision? A majority must be there,
    /// and enough of them with a vote to give the others theirs.
    bool enough(PeerSet peers) const;
    /// Peers that may have voted, as far as is known; for the Status.
    PeerSet may_have_voted() const;
    /// See Finish.
    void lose_vote();
    void resume(Incarnation own_row) { lives_.resume(own_row); }
    /// This peer has made its last round: from now on it may accept.
    void begin() { begun_ = true; }
    /// `peer` has said this, which Roster knows already. Loses the vote where that shows another
    /// life of this peer.
    void heard(PeerIndex peer, const Status& status);

    // ---- the agreement
    CutId accepted() const { return agreement_.accepted(); }
    CutId decided() const { return agreement_.decided(); }
    /// The cut whose blocks are wanted: what is decided, or to be accepted, or to be held before
    /// the vote comes. None() = there is no such.
    CutId wanted() const;
    void learn(CutId decided) { agreement_.learn(decided); }
    /// Prepare, Promise, Accept, Accepted.
    void handle(PeerIndex from, const Header& header, Time now);
    /// Forgets the version maps of cuts that are no more under way.
    void keep_maps();
    /// Without a vote: asks for it where that is due, and holds what it must hold to have one.
    void regain(Time now);
    /// With a vote: proposes what it holds, under a new ballot.
    void propose(Time now);
    /// It has proposed, and waits for answers.
    bool asks() const { return agreement_.outstanding().has_value(); }
    /// Is another proposal due, for others have outbid this one or nothing moves any more?
    bool outbids(Time now) const;
    /// For so long nothing has moved that this peer may outbid others.
    bool is_impatient(Time now) const { return quiet(now) > patience(); }
    /// Sends the question that waits for answers, if it is new or due again.
    void ask(Time now);
    /// Accepts the cut that is pending, once it is held.
    void accept(Time now);
    /// True once every block of the cut is held; asks for those that are not.
    bool pull(CutId cut, Time now);
    /// A new session: what was asked in the one before may not have come.
    void forget_asked() { asked_.reset(); }

  private:
    /// Its question for its own vote is due once more, or for the first time.
    void ask_for_vote(Time now);
    /// How long neither the agreement nor anybody who pulls a cut has moved.
    Time quiet(Time now) const { return movement_.quiet(now); }
    Time patience() const;
    /// May a question of `from` be answered with this peer's vote?
    bool may_vote_on(PeerIndex from) const;
    /// From its first round on, or its end.
    bool may_vote() const { return begun_ || roster_[roster_.self()].announced > 0; }
    /// Is it known here that `peer` may vote? Before, its answers do not count: should it be
    /// started again, nobody could tell it that it had voted.
    bool may_have_voted(PeerIndex peer) const { return (may_have_voted() & peer_bit(peer)) != 0; }
    void handle_prepare(PeerIndex from, const Prepare& prepare, Time now);
    void handle_promise(PeerIndex from, Promise promise, Time now);
    void handle_accept(PeerIndex from, const Accept& accept, Time now);
    void answer(PeerIndex proposer, const Promise& promise, Time now);
    void deliver(PeerIndex to, Header header, Time now);

    const Roster& roster_;
    CutPuller& cut_;
    Movement& movement_;
    const Send send_;
    const Time exchange_;

    Agreement agreement_;
    OtherLives lives_;
    bool begun_ = false;
    unsigned proposals_ = 0;                 ///< each waits twice as long before the next
    unsigned asked_for_vote_ = 0;            ///< so many times, and so does this
    std::optional<Time> asked_for_vote_at_;  ///< last, under a new ballot
    std::optional<Time> voteless_since_;
    Time vote_came_to_nothing_at_{};  ///< the question that was asked then
    std::optional<Header> asked_;     ///< the question that waits for answers
    std::optional<Time> asked_at_;    ///< it was last sent
    Time ask_again_in_{};             ///< after that
};

}  // namespace ako
