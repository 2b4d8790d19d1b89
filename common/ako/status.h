// Status: what every peer says of itself all the time, in parts. Each part says which code it
// concerns, and that code takes this part. Values; any thread.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "ako/bounds.h"
#include "ako/membership.h"
#include "ako/portions.h"
#include "ako/row_index.h"
#include "ako/types.h"

namespace ako {

/// Checkpoints that a Status names: kept are fewer.
inline constexpr std::size_t checkpoints_told_max = 8;

/// Words of 64 portions each, of one pass over the data.
inline constexpr std::size_t covered_words_max = portions_max / 64;

/// How far a peer is, as far as the sender has heard; merged by maximum.
struct Progress {
    Round round = 0;
    std::uint64_t samples = 0;

    bool operator==(const Progress&) const = default;

    static void fields(auto& it, auto&& each) {
        each("round", it.round);
        each("samples", it.samples);
    }
};

/// What the sender holds of one row. Equal `map_checksum` means the same version of every block.
struct RowHeld {
    Version lowest;
    Version highest;
    std::uint32_t map_checksum = 0;

    bool operator==(const RowHeld&) const = default;

    static void fields(auto& it, auto&& each) {
        each("lowest", it.lowest);
        each("highest", it.highest);
        each("map_checksum", it.map_checksum);
    }
};

/// A cut is known by the ballot under which it was first proposed.
using CutId = Ballot;

/// The newest verdict of the evaluating peer on the test set, at a mark of progress (0 .. 1).
struct Verdict {
    double progress = 0;
    float accuracy = 0;                ///< 0 .. 1
    std::optional<float> loss = 0.0F;  ///< nothing where the program does not say it

    bool operator==(const Verdict&) const = default;

    static void fields(auto& it, auto&& each) {
        each("progress", it.progress, bound::share);
        each("accuracy", it.accuracy, bound::share);
        each("loss", it.loss);
    }
};

/// What of the data has been trained on, by anybody, as far as the sender has heard, where data
/// shards follow the live peers (src/exchange/coverage.h); merged by union.
struct Covered {
    std::uint32_t pass = 0;                ///< all before it are over
    std::vector<std::uint64_t> done;       ///< portions of it that are: bit k % 64 of word k / 64
    std::vector<std::uint64_t> done_next;  ///< and of the pass after it
    std::optional<Portion> in_hand;        ///< what the sender trains on
    std::uint64_t items = 0;               ///< so many of it, in rounds that have ended

    bool operator==(const Covered&) const = default;

    static void fields(auto& it, auto&& each) {
        each("pass", it.pass);
        each("done", it.done, bound::AtMost{covered_words_max});
        each("done_next", it.done_next, bound::AtMost{covered_words_max});
        each("in_hand", it.in_hand);
        each("items", it.items);
    }
};

/// Which peers keep step, so that each waits for the newest rounds of the others: chosen by one of
/// them (src/rows/staleness_choice.h); merged by maximum.
struct Waits {
    static constexpr std::uint64_t number_max = std::uint64_t{1} << 48;
    static constexpr std::uint32_t bound_max = 1'000'000;

    std::uint64_t number = 0;      ///< of the choice: the newest counts
    std::uint32_t rounds_max = 0;  ///< so many rounds of the others a round may lack; 0: no bound
    PeerSet left_out = 0;          ///< they are too slow to be waited for, and wait for nobody
    /// [peer_count]: the rounds that go together, from which on they are counted; empty: 0 of all.
    std::vector<Round> starts;

    auto operator<=>(const Waits&) const = default;

    /// Do these two keep step?
    bool between(PeerIndex a, PeerIndex b) const {
        return rounds_max > 0 && (left_out & (peer_bit(a) | peer_bit(b))) == 0;
    }
    /// So many rounds `a` has made more than `b` when they are level.
    std::int64_t offset(PeerIndex a, PeerIndex b) const {
        return starts.empty() ? 0 : static_cast<std::int64_t>(starts[a] - starts[b]);
    }

    /// Whoever is waited for sends all of its row within so many rounds.
    double cycle_max(double rounds_per_cycle) const {
        return rounds_max > 0 ? std::min(rounds_per_cycle, static_cast<double>(rounds_max))
                              : rounds_per_cycle;
    }

    static void fields(auto& it, auto&& each) {
        each("number", it.number);
        each("rounds_max", it.rounds_max);
        each("left_out", it.left_out);
        each("starts", it.starts);
    }
};

/// The state of the sender, repeated as a heartbeat; nothing in it is said only once.
struct Status {
    /// Which peers live, and with whom they have sessions: for the links and the roster
    /// (src/exchange), in every mode.
    struct Heartbeat {
        Time sent_at{};       ///< sender's clock
        Time echo_sent_at{};  ///< `sent_at` of the newest Status received from you; 0 = none
        Time echo_held{};     ///< how long I have held it
        std::uint64_t process_id = 0;  ///< the process that says all this
        PeerSet reached = 0;           ///< peers I have a session with

        bool operator==(const Heartbeat&) const = default;

        static void fields(auto& it, auto&& each) {
            each("sent_at", it.sent_at);
            each("echo_sent_at", it.echo_sent_at);
            each("echo_held", it.echo_held);
            each("process_id", it.process_id);
            each("reached", it.reached);
        }
    };

    /// How far the training is and whether it ends: for everybody, in every mode.
    struct Standing {
        std::vector<Progress> progress;    ///< [peer_count]
        std::optional<float> loss;         ///< mean loss of my newest round, where it is known
        std::optional<Verdict> verdict;    ///< where a peer evaluates and has done so
        std::optional<Round> final_round;  ///< my last round, once I have stopped
        StopReason stop = StopReason::none;
        /// Peers that were asked for a stop that is `requested`, as far as I have heard, merged by
        /// union. The modes with buckets leave it empty: there everybody's `stop` is its own wish.
        PeerSet asked = 0;
        bool leaving = false;  ///< I make no more rounds and go as soon as you hold my row
        /// Digest of what I end with, once I hold it: the cut's rows and anchor, or the parameters.
        std::optional<Digest> digest;
        /// So many times the global batch is to be doubled by now, as far as I have heard; merged
        /// by maximum. Only ako says so: in the other modes it travels as a wish with the elements.
        std::uint8_t batch_doublings = 0;
        /// The largest norm of a gradient or an update that I have given so far; 0 = none yet. It
        /// says what is usual (src/exchange/growth_watch.h).
        float largest_norm = 0;

        bool operator==(const Standing&) const = default;

        static void fields(auto& it, auto&& each) {
            each("progress", it.progress);
            each("loss", it.loss);
            each("verdict", it.verdict);
            each("final_round", it.final_round);
            each("stop", it.stop);
            each("asked", it.asked);
            each("leaving", it.leaving);
            each("digest", it.digest);
            each("batch_doublings", it.batch_doublings);
            each("largest_norm", it.largest_norm, bound::not_negative);
        }
    };

    /// What I say of the cut at the end: for src/agreement, in ako alone.
    struct Vote {
        CutId accepted;                ///< the cut that I hold and have accepted
        CutId decided;                 ///< the cut that a majority accepted
        std::uint32_t cut_blocks = 0;  ///< blocks that I hold of the cut I pull: a sign that I move
        bool has_vote = true;          ///< my answers on the cut count (src/agreement/agreement.h)
        /// Peers that may have voted on it, in this life or an earlier one, because I have heard
        /// that they trained or came to the end. Merged by union.
        PeerSet may_have_voted = 0;

        bool operator==(const Vote&) const = default;

        static void fields(auto& it, auto&& each) {
            each("accepted", it.accepted);
            each("decided", it.decided);
            each("cut_blocks", it.cut_blocks);
            each("has_vote", it.has_vote);
            each("may_have_voted", it.may_have_voted);
        }
    };

    /// What I begin from: for src/exchange/common_start.h in the modes that all resume, and for a
    /// beginning beside a run that is under way in ako.
    struct Start {
        /// My checkpoints on the disk, newest first. Before the first round those that I could go
        /// on from; none: I begin anew.
        std::vector<CheckpointId> checkpoints;
        /// So many marks of progress are to lie between two of them, if it were for me; 0: I do not
        /// know yet. Where all go on from the same, the most that anybody says counts.
        std::uint64_t marks_apart = 0;
        bool joining = false;   ///< I take in the rows of a run, mine too, and make no rounds yet
        bool resuming = false;  ///< I go on from a checkpoint, and have not begun
        std::uint64_t run_id = 0;  ///< the same for a run through all its starts; 0: not known yet
        std::optional<Digest> initial;  ///< digest of the run's initial parameters, once I have
                                        ///< them; nothing where all bring the same

        bool operator==(const Start&) const = default;

        static void fields(auto& it, auto&& each) {
            each("checkpoints", it.checkpoints, bound::AtMost{checkpoints_told_max});
            each("marks_apart", it.marks_apart);
            each("joining", it.joining);
            each("resuming", it.resuming);
            each("run_id", it.run_id);
            each("initial", it.initial);
        }
    };

    Heartbeat heartbeat;
    Standing standing;
    PerRow<RowHeld> rows;  ///< [peer_count]: what I hold of each; for src/rows, in ako alone
    // Likewise:
    Waits waits;             ///< as far as I have heard
    bool keeps_step = true;  ///< I wait for others where all do
    /// Tenths of my time that I have waited for others since I heard of the newest choice.
    std::uint8_t waited_tenths = 0;
    Vote vote;
    Start start;
    std::optional<Covered> covered;  ///< for src/exchange/coverage.h, with `data.sharding: elastic`

    bool operator==(const Status&) const = default;

    static void fields(auto& it, auto&& each) {
        each("heartbeat", it.heartbeat);
        each("standing", it.standing);
        each("rows", it.rows);
        each("waits", it.waits);
        each("keeps_step", it.keeps_step);
        each("waited_tenths", it.waited_tenths);
        each("vote", it.vote);
        each("start", it.start);
        each("covered", it.covered);
    }
};

}  // namespace ako
