// The membership of an elastic ring, and what its members say to each other about it: an *epoch* is
// a number and the processes that are in. src/agreement/epoch_vote.h decides the next one,
// src/buckets/elastic_ring.h goes on in it. Values; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ako/bounds.h"
#include "ako/types.h"

namespace ako {

/// A SHA-256.
using Digest = std::array<std::uint8_t, 32>;

/// A number that orders proposals of one agreement; no two processes share one. {0, 0} is "none".
struct Ballot {
    std::uint32_t number = 0;
    PeerIndex proposer = 0;
    std::uint64_t process =
        0;  ///< the proposer's id, so that no later life of it comes to the same

    auto operator<=>(const Ballot&) const = default;
    bool none() const { return number == 0; }

    static void fields(auto& it, auto&& each) {
        each("number", it.number);
        each("proposer", it.proposer, bound::peer);
        each("process", it.process);
    }
};

/// What the strongest wish for the end is.
enum class StopReason : std::uint8_t { none, budget_spent, target_reached, requested };
constexpr StopReason last(StopReason) { return StopReason::requested; }

/// The members. A member is a process, not a name: one that is started again is another member.
struct Epoch {
    std::uint32_t number = 0;              ///< 0: no run is known
    std::vector<std::uint64_t> processes;  ///< [peer_count]: the process that is in; 0 = none

    bool operator==(const Epoch&) const = default;
    bool has(PeerIndex peer) const { return peer < processes.size() && processes[peer] != 0; }
    PeerSet members() const {
        PeerSet set = 0;
        for (PeerIndex peer = 0; peer < processes.size(); ++peer)
            if (processes[peer] != 0) set |= peer_bit(peer);
        return set;
    }

    static void fields(auto& it, auto&& each) {
        each("number", it.number);
        each("processes", it.processes);
    }
};

/// Bound on the runs in which a member tells what it holds: no two neighbouring buckets need have a
/// sum of the same sync, and a bucket has 64 KiB or more, so these are 2 GiB of parameters at the
/// least.
inline constexpr std::size_t sync_runs_max = 32'768;

/// So many neighbouring buckets whose newest sum is of this sync.
struct SyncRun {
    std::uint32_t buckets = 0;
    std::uint64_t sync = 0;

    bool operator==(const SyncRun&) const = default;

    static void fields(auto& it, auto&& each) {
        each("buckets", it.buckets);
        each("sync", it.sync);
    }
};

/// What a member holds when it comes into an epoch.
struct Holding {
    std::uint64_t begun = 0;    ///< the newest sync that it has given anything to
    std::vector<SyncRun> sums;  ///< the newest whole sum of each bucket; empty: it holds no state
    bool late = false;          ///< without state: there was a run before it
    bool operator==(const Holding&) const = default;
    bool has_state() const { return !sums.empty(); }

    static void fields(auto& it, auto&& each) {
        each("begun", it.begun);
        each("sums", it.sums, bound::AtMost{sync_runs_max});
        each("late", it.late);
    }
};

/// "This is the epoch that I am in, what I have promised and accepted of the next, and what I
/// held when I came into it": state, told again whenever it changes and in each new session.
struct Membership {
    Epoch epoch;             ///< the newest that I know of
    Ballot promised;         ///< as acceptor of the next: I follow no lower ballot than this one,
    Ballot accepted_ballot;  ///< and have accepted this under that one; none: nothing
    std::vector<std::uint64_t> accepted;  ///< the processes that are to be in
    Ballot asks;                          ///< as proposer: none: I propose nothing
    std::vector<std::uint64_t> proposed;  ///< empty: I ask for promises first
    PeerSet hears = 0;                    ///< peers I have a session with
    bool broken = false;      ///< a session between members ended: nothing more comes of this epoch
    bool wants_in = false;    ///< I am no member, and what a member holds can be given to me
    Holding holding;          ///< what I hold as a member
    bool ready = false;       ///< I know what every member holds
    bool whole = false;       ///< I hold all that the epoch needs; a newcomer does not at first
    std::uint64_t taken = 0;  ///< newcomer: elements of the state that have come

    bool operator==(const Membership&) const = default;

    static void fields(auto& it, auto&& each) {
        each("epoch", it.epoch);
        each("promised", it.promised);
        each("accepted_ballot", it.accepted_ballot);
        each("accepted", it.accepted);
        each("asks", it.asks);
        each("proposed", it.proposed);
        each("hears", it.hears);
        each("broken", it.broken);
        each("wants_in", it.wants_in);
        each("holding", it.holding);
        each("ready", it.ready);
        each("whole", it.whole);
        each("taken", it.taken);
    }
};

/// What all members know alike of a run, after a sync.
struct Tally {
    std::uint64_t sync = 0;
    PeerSet contributors = 0;  ///< peers whose gradients were in it
    StopReason stop = StopReason::none;
    double progress = 0;                 ///< 0 .. 1 of the sample budget; never falls
    std::vector<std::uint64_t> samples;  ///< [peer_count], of all syncs up to this one

    bool operator==(const Tally&) const = default;

    static void fields(auto& it, auto&& each) {
        each("sync", it.sync);
        each("contributors", it.contributors);
        each("stop", it.stop);
        each("progress", it.progress, bound::share);
        each("samples", it.samples);
    }
};

/// "This is what a member knows after sync `now.sync`, and the digest of its parameters and
/// velocity then": said to a newcomer, which takes them over.
struct MemberState {
    std::uint32_t epoch = 0;
    Tally before;  ///< after the sync before that
    Tally now;
    Digest digest{};

    bool operator==(const MemberState&) const = default;

    static void fields(auto& it, auto&& each) {
        each("epoch", it.epoch);
        each("before", it.before);
        each("now", it.now);
        each("digest", it.digest);
    }
};

}  // namespace ako
