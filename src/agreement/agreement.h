// Agreement on one cut: single-decree Paxos (Lamport, "Paxos Made Simple", 2001) among all peers of
// the file, whose processes may end at any time and be started again without any memory. Proposer,
// acceptor and learner of one peer; no clock, no sockets, no blocks. What makes a decided cut safe
// beyond Paxos is the caller's rule that a peer accepts only what it holds (`accept_pending`).
// Compute thread only.
//
// The vote. A later life of a peer does not know what an earlier one has promised or accepted. It
// *has no vote*: its answers do not count, and it does not propose. (How a process finds out that
// it is one: OtherLives::heard.) It *regains* its vote by a Prepare of its own: n - majority + 1
// others that have a vote must promise that ballot b. Its promise is then b, and what it has
// accepted is the newest that they had accepted; it holds that cut first. A vote is known by its
// ballot; the one that a peer has from the start, by none.
//
// Why never two cuts are decided:
//   - Accepted. A majority that the earlier life was part of has majority - 1 others. One of them
//     is among the n - majority + 1. Either it had accepted by then, and said so, or it never will,
//     because it follows b now. Those who had promised the ballot of the majority would not have
//     promised a lower b.
//   - Promised. Those who are asked may not know what the earlier life has promised to a proposer.
//     So each Promise names the newest vote that its sender knows of every peer, and whoever counts
//     promises leaves out those of a vote of which one of the others knows a newer one. Among
//     those who promise a ballot with the earlier life is one that has promised b: before, and then
//     it names the new vote; or after, and then b is the higher ballot, and nothing lower will be
//     accepted by the new vote.
//   - Regained. A peer that regains a vote counts promises in the same way, and knows all that its
//     givers knew. Two that do so at once share a giver, which has promised to one of them first
//     and tells the other. A process that does not know that another one has asked for its vote is
//     told when it promises, for its promise does not count.
//   - Lives. A ballot names its process, so no life comes to a ballot of another one.
// Without the second point five peers decide twice (tests/unit/agreement has the run,
// and tests/sim/vote.cpp finds it). At most majority - 1 may be without a vote at once; if more
// are, nobody regains one, and no cut is decided.
//
// Taken for granted is that one process of a peer takes part at a time; and that a later life
// meets, before it votes, somebody who has heard of the earlier one, of its rounds or that it may
// have voted. Where a majority comes together of which nobody but the restarted peer knew of the
// earlier life, that peer votes a second time, and there may be two cuts. (After "Recovering Shared
// Objects Without Stable Storage", Michael, Ports, Sharma, Szekeres, 2017.)
#pragma once

#include <optional>
#include <vector>

#include "ako/frame.h"
#include "src/agreement/ballots.h"

namespace ako {

class Agreement {
  public:
    /// `process_id` tells the ballots of this life from those of others. It has a vote.
    Agreement(PeerIndex self, std::size_t peer_count, std::uint64_t process_id)
        : self_(self), peer_count_(peer_count), process_id_(process_id), votes_(peer_count) {}

    std::size_t majority() const { return peer_count_ / 2 + 1; }
    /// So many others, with a vote each, give one back.
    std::size_t givers() const { return peer_count_ - majority() + 1; }
    /// Can `peers` of which `votes` have a vote come to a decision?
    bool enough(std::size_t peers, std::size_t votes) const {
        return peers >= majority() && votes >= givers();
    }

    // ---- the vote
    bool has_vote() const { return has_vote_; }
    /// Is it known here that `peer` has regained a vote, or asked for one?
    bool has_regained(PeerIndex peer) const { return !votes_[peer].none(); }
    /// This process may be a later life, or another one has taken its place.
    void lose_vote();
    /// Without a vote: asks for one, or anew under a higher ballot.
    void ask_for_vote();
    /// Enough have promised: the vote comes as soon as the caller holds this cut. None() = no such.
    CutId to_hold() const { return phase_ == Phase::holding ? cut_ : CutId{}; }
    void hold();
    /// Somebody follows a higher ballot than the one that was asked about last ...
    bool outbid() const { return highest_seen_ > ballot_; }
    /// Before anything could be accepted, and only by one who asks for a vote: nobody else
    /// proposes.
    bool outbid_by_vote() const {
        return phase_ == Phase::preparing && outbid() &&
               votes_[highest_seen_.proposer] == highest_seen_;
    }

    /// As proposer, with a vote: starts a ballot above all that were seen. Unless an acceptor has
    /// accepted a cut before, the cut proposed is the caller's own, known by this ballot.
    Ballot propose();

    /// The message that waits for answers; nothing if there is no question.
    std::optional<Header> outstanding() const;
    /// Has `peer` answered it?
    bool answered(PeerIndex peer) const { return (answered_ & peer_bit(peer)) != 0; }

    /// As acceptor. The answer to a Prepare; of a ballot that is too old, or not plausible, it
    /// names the one it follows.
    Promise on_prepare(const Prepare& prepare);
    /// Nothing if the ballot may be accepted: the cut is then pending until `accept_pending`. Else
    /// the answer that names the newer ballot, so that the proposer learns at once that it was
    /// outbid.
    std::optional<Promise> on_accept(const Accept& accept);
    /// The cut that waits to be held.
    std::optional<Accept> pending() const { return pending_; }
    /// The caller holds the pending cut, block for block: accepts it. The answer goes to its
    /// proposer.
    Accepted accept_pending();

    /// To whoever asked. One of a vote that another process has asked for meanwhile does not count;
    /// the answer to it, if there is one, lets its sender know.
    std::optional<Promise> on_promise(PeerIndex from, const Promise& promise);
    void on_accepted(PeerIndex from, const Accepted& accepted);

    /// As learner, which needs no vote: a peer knows the decision. A later, different one, of those
    /// who voted twice (above), is ignored: the first may be adopted already.
    void learn(CutId cut) {
        if (decided_.none()) decided_ = cut;
    }

    CutId decided() const { return decided_; }  ///< none() = not yet
    /// What this peer proposes now: its own cut or, once it has heard of one, what was accepted
    /// before. Without a vote, what it must hold to have one.
    CutId proposed() const { return cut_; }
    /// It is held.
    CutId accepted() const { return accepted_cut_; }
    Ballot promised() const { return promised_; }
    Ballot highest_seen() const { return highest_seen_; }

    bool operator==(const Agreement&) const = default;

  private:
    enum class Phase { idle, preparing, accepting, regaining, holding };

    /// Remembers the ballot; false, and nothing is remembered, if it is not plausible.
    bool see(Ballot ballot);
    void ask(Phase phase);
    Promise promise() const;
    /// Remembers that `peer` has this vote, or asks for it.
    void learn_vote(PeerIndex peer, Ballot vote);
    void learn_votes(const Promise& promise);
    void promises_complete();
    std::size_t answer_count() const;

    const PeerIndex self_;
    const std::size_t peer_count_;
    const std::uint64_t process_id_;
    Ballot highest_seen_;

    bool has_vote_ = true;
    std::vector<Ballot> votes_;  ///< [peer_count]: the newest known of each peer

    Phase phase_ = Phase::idle;  // proposer, or without a vote
    Ballot ballot_;
    PeerSet answered_ = 0;
    std::vector<Ballot> answer_votes_;  ///< [peer_count]: of those who have promised
    Ballot best_accepted_ballot_;
    CutId cut_;

    Ballot promised_;  // acceptor
    Ballot accepted_ballot_;
    CutId accepted_cut_;
    std::optional<Accept> pending_;

    CutId decided_;  // learner
};

}  // namespace ako
