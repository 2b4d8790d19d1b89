// The vote on the next epoch: the members of an epoch decide who is in its successor by
// single-decree Paxos (Lamport, "Paxos Made Simple", 2001), one instance for each number. Proposer,
// acceptor and learner of one process; no clock, no sockets. What it says is state (Membership),
// which may be lost, repeated or come late, so that nothing is asked twice and no answer is
// awaited.
//
// The voters are the *processes* that are in, and no process forgets: one that is started again is
// another, has no vote, and asks to be taken in. So no vote is ever regained, as it has to be where
// names vote (agreement.h). What is enough:
//   1. a majority of the members; of an even number, a half with its lowest member
//   2. or all members but those that *fell*, if nobody of the file is unaccounted for: each other
//      name is in contact and knows of no later epoch, or has no process at all
// A member fell, for this one, if it left, or if its connection broke and within the life time-out
// nobody listened at its address, or another process came in its name; and this one has run all the
// time. It had this one for a member until then, for nobody is put out in less. One that fell
// silent, and is over by the time that this one can look again, may have gone on and ended with
// others meanwhile.
//
// Why no two epochs of one number are decided, nor one that others go on from unknown to those who
// decide another:
//   - Two of kind 1 share a member, which Paxos has repeat what it accepted.
//   - Kind 2 takes all members that live. A majority may have decided before without this one:
//     those that fell did not know of it; others that live and do, as members or taken in later,
//     are of the file: in contact, and say so, or unaccounted for, and nothing is decided.
// With all this a cut network goes on in one half at most, and after crashes down to one process is
// enough.
//
// The first epoch is decided by a majority of the names of the file. Taken for granted is that a
// process that is started again before it was ever in meets somebody who knows of the run before it
// meets a majority that does not. Network thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ako/membership.h"
#include "ako/threads.h"
#include "src/agreement/ballots.h"

namespace ako {

class EpochVote {
  public:
    /// What is_plausible says of ballots, of epochs, each of which follows the one before.
    static constexpr std::uint32_t epoch_number_max = ballot_number_max;
    static constexpr std::uint32_t epoch_step_max = ballot_step_max;

    EpochVote(PeerIndex self, std::size_t peer_count, std::uint64_t process_id)
        : self_(self), process_id_(process_id), heard_(peer_count) {}

    /// The newest that was decided, as far as known here. Number 0: none yet.
    const Epoch& epoch() const AKO_NETWORK_THREAD { return epoch_; }
    /// Is this process in it?
    bool member() const AKO_NETWORK_THREAD { return is(self_, process_id_); }
    /// Is this process of that name?
    bool is(PeerIndex peer, std::uint64_t process) const AKO_NETWORK_THREAD {
        return epoch_.has(peer) && epoch_.processes[peer] == process;
    }

    /// What of this cannot be meant, in words, if anything.
    std::optional<std::string> refuse(const Membership& said) const AKO_NETWORK_THREAD;
    /// The newest that this process of `from` says, which was not refused. True if a later epoch is
    /// known now.
    bool hear(PeerIndex from, std::uint64_t process, const Membership& said) AKO_NETWORK_THREAD;
    /// What else is known of the others now.
    struct Reach {
        PeerSet fell = 0;         ///< of the members: see above
        PeerSet unaccounted = 0;  ///< of the file: not in contact, and perhaps somewhere
    };
    /// Takes the next step, as proposer and as learner. True if a later epoch is known now.
    bool step(const Reach& reach) AKO_NETWORK_THREAD;
    /// Puts this epoch forward in a new ballot. What others have accepted already goes before it.
    void propose(Epoch next) AKO_NETWORK_THREAD;
    /// Somebody else's ballot that is followed here.
    Ballot promised() const AKO_NETWORK_THREAD { return promised_; }

    /// Would these be enough to decide the next?
    bool enough(PeerSet voters, const Reach& reach) const AKO_NETWORK_THREAD;
    /// Writes what this peer has to say of it.
    void write(Membership& out) const AKO_NETWORK_THREAD;

  private:
    struct Heard {
        std::uint64_t process = 0;
        Membership said;
    };

    /// Kind 1 above.
    bool majority(PeerSet voters) const AKO_NETWORK_THREAD;
    /// May this peer's word be counted for the next epoch?
    bool counts(PeerIndex peer) const AKO_NETWORK_THREAD;
    void answer(const Membership& said) AKO_NETWORK_THREAD;
    void adopt(const Epoch& epoch) AKO_NETWORK_THREAD;
    bool learn(const Reach& reach) AKO_NETWORK_THREAD;

    const PeerIndex self_;
    const std::uint64_t process_id_;
    Epoch epoch_;
    std::vector<Heard> heard_;  ///< [peer]

    // The vote on the next epoch.
    Ballot highest_seen_;
    Ballot promised_;  // acceptor
    Ballot accepted_ballot_;
    std::vector<std::uint64_t> accepted_;
    Ballot ballot_;  // proposer
    std::vector<std::uint64_t> own_;
    std::vector<std::uint64_t> proposed_;  ///< empty: promises are asked for
};

}  // namespace ako
