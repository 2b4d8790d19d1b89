// Agreement on one cut: single-decree Paxos (Lamport, "Paxos Made Simple", 2001) among all peers of
// the file. Proposer, acceptor and learner of one peer; no clock, no sockets, no blocks. What makes
// a decided cut safe beyond Paxos is the caller's rule that a peer accepts only what it holds
// (`accept_pending`). Compute thread only.
#pragma once

#include <optional>

#include "ako/frame.h"

namespace ako {

class Agreement {
  public:
    Agreement(PeerIndex self, std::size_t peer_count) : self_(self), peer_count_(peer_count) {}

    /// A ballot is plausible if it is at most so far above the highest seen here. A proposer that
    /// nobody answers raises its own by one every few seconds, so in the longest final exchange it
    /// comes to some hundreds; but numbers are compared, and whoever names the highest there is
    /// would end all agreement.
    static constexpr std::uint32_t ballot_step_max = 1024;
    /// And at most so high: proposals are made above it, and their numbers never wrap.
    static constexpr std::uint32_t ballot_number_max = std::uint32_t{1} << 31;

    std::size_t majority() const { return peer_count_ / 2 + 1; }

    /// As proposer: starts a ballot above all that were seen. Unless an acceptor has accepted a cut
    /// before, the cut proposed is the caller's own, known by this ballot.
    Ballot propose();

    /// The message that the proposer waits for answers to; nothing if it does not propose.
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

    /// As proposer again.
    void on_promise(PeerIndex from, const Promise& promise);
    void on_accepted(PeerIndex from, const Accepted& accepted);

    /// As learner: a peer knows the decision.
    void learn(CutId cut) { decided_ = cut; }

    CutId decided() const { return decided_; }  ///< none() = not yet
    /// What this peer proposes now: its own cut or, once it has heard of one, what was accepted
    /// before.
    CutId proposed() const { return cut_; }
    CutId accepted() const { return accepted_cut_; }
    Ballot promised() const { return promised_; }
    Ballot highest_seen() const { return highest_seen_; }

  private:
    enum class Phase { idle, preparing, accepting };

    /// Remembers the ballot; false, and nothing is remembered, if it is not plausible.
    bool see(Ballot ballot);
    std::size_t answer_count() const;

    const PeerIndex self_;
    const std::size_t peer_count_;
    Ballot highest_seen_;

    Phase phase_ = Phase::idle;  // proposer
    Ballot ballot_;
    PeerSet answered_ = 0;
    Ballot best_accepted_ballot_;
    CutId cut_;

    Ballot promised_;  // acceptor
    Ballot accepted_ballot_;
    CutId accepted_cut_;
    std::optional<Accept> pending_;

    CutId decided_;  // learner
};

}  // namespace ako
