// The seam between what drives a run and a mode: how peers agree. One implementation, in
// src/exchange/, of which each mode has its two halves. Eight verbs, in the order of a run, five
// views and two for checkpoints. A verb with an `until` waits no longer than that: with `forever`
// it returns when it is done, with `at_once` it takes one step. Called by the compute thread only;
// src/training/run_driver.h has the order in which, for whoever computes.
//
// A round is begin_round, the gradient at the replica, end_round. In the modes in which all wait
// for each other (ring, parameter server, local-sgd, sma) every range is awaited before it is read,
// and so all of them before the round ends; and every range of a gradient is awaited before it is
// given. A round that is to end with an Update gives no gradient before; in the mode sma all do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ako/checkpoint.h"
#include "ako/ending.h"
#include "ako/error.h"
#include "ako/frame.h"
#include "ako/learned.h"
#include "ako/network.h"
#include "ako/presence.h"
#include "ako/types.h"

namespace ako {

/// For `until`; see above.
inline constexpr Time forever = Time::max();
inline constexpr Time at_once = Time::min();

/// What is to be done next.
struct Next {
    enum class Kind {
        train,
        finish,   ///< training is over: the final exchange
        give_up,  ///< there is nothing to finish
    };
    Kind kind = Kind::train;
    std::size_t samples = 0;  ///< train: size of a round whose gradient the caller computes
    std::string why;          ///< finish, give_up: the reason, for people
    Ending ending = Ending::finished;  ///< give_up: how the run ends
    /// Ending::numbers: the peer they belong to; nothing: this peer's, or the common parameters.
    std::optional<PeerIndex> numbers_of = {};
    /// The first train, where learners keep something of their own in checkpoints: the checkpoint
    /// that this peer goes on from; null: it begins anew.
    std::shared_ptr<const Checkpoint> restored = {};

    static Next train(std::size_t samples) { return {Kind::train, samples, "", Ending::finished}; }
    static Next finish(std::string why) { return {Kind::finish, 0, std::move(why)}; }
    static Next give_up(Ending ending, std::string why) {
        return {Kind::give_up, 0, std::move(why), ending};
    }
};

/// What one round gave.
struct RoundResult {
    std::size_t samples = 0;
    std::optional<float> loss;  ///< nothing: the caller does not know it
    /// The gradient noise scale up to here, in samples; nothing: not known.
    std::optional<double> noise_scale = {};
    std::size_t learners = 1;  ///< that made it
};

/// Where this peer and the group are.
struct Standing {
    Round round = 0;         ///< made by this peer, earlier processes of its name included
    double progress = 0;     ///< 0 .. 1 of the sample budget, over all peers; never falls
    bool evaluates = false;  ///< it is this peer that evaluates now
    std::optional<Verdict> newest_verdict;  ///< from whichever peer evaluated
    /// Samples that this peer has trained on, earlier processes of its name included.
    std::uint64_t samples = 0;
    bool joining = false;  ///< it takes in the rows of a run that is under way
    /// sma: learners of all peers in the newest round that is known of; 0: none.
    std::size_t learners_together = 0;
    /// So many marks are to lie between two checkpoints, the most that another peer says, where all
    /// go on from the same; 0: none has said it.
    std::uint64_t marks_apart = 0;
};

/// One link, as the exchange sees it, for reports.
struct LinkView {
    PeerIndex peer = 0;
    Presence presence = Presence::absent;
    bool live = false;
    bool advancing = false;
    bool left_out = false;  ///< it is too slow to be waited for
    bool joining = false;   ///< it takes in the rows of the run, and makes no rounds yet
    double partitions = 0;  ///< observed P: rounds between two sends of the same block; 0 = unknown
    Round staleness_rounds = 0;  ///< newest announced round less the lowest held of its row
    double staleness_ms =
        0;                 ///< age of the oldest block held, by the estimate of when it was sealed
    double age_ms = 0;     ///< newest partials: age on arrival, since their binding; their median
    double answer_ms = 0;  ///< for so long an answer of it is waited for; 0: not the mode ako
    /// Blocks of its row that were refused here, whoever sent them.
    std::uint64_t damaged_blocks = 0;   ///< their bytes do not match its checksum
    std::uint64_t diverged_blocks = 0;  ///< values that are not finite, or too large for a row
    // What is known of the other peer itself, from its own word or, where it cannot be reached,
    // from that of others.
    Round round = 0;            ///< the newest heard of; 0 = none yet
    std::uint64_t samples = 0;  ///< what it has trained on
    /// Mean loss of its newest round, as it last said; nothing before its first.
    std::optional<float> loss = {};
    /// How the peer ended, by its own word, if not as somebody wanted.
    std::optional<Farewell> farewell = {};
};

/// A peer that said goodbye before the end, while the others went on.
struct EarlyLeave {
    PeerIndex peer = 0;
    Round round = 0;         ///< its last
    double progress = 0;     ///< 0 .. 1 of the sample budget of all, when it went
    Farewell farewell = {};  ///< how it ended
};

/// What of the data was trained on, by all peers together, as far as known here.
struct Seen {
    std::uint64_t items = 0;     ///< items in the data set
    std::uint64_t passes = 0;    ///< so many times all of them
    std::uint64_t of_next = 0;   ///< and so many once more
    std::uint64_t of_after = 0;  ///< and of the pass after that
};

/// How a run ended for this peer.
struct FinishReport {
    bool agreed = false;     ///< a cut was decided and adopted here
    bool identical = false;  ///< and every peer in `finished_with` holds the same digest
    std::vector<PeerIndex>
        finished_with;                ///< peers known to hold the same digest, this one included
    std::vector<PeerIndex> lost;      ///< lost (not left) and not back at the end, or never there
    Digest digest{};                  ///< SHA-256 over all rows in order, then the anchor
    double seconds = 0;               ///< what the final exchange took
    std::uint64_t samples_total = 0;  ///< sum over all peers
    std::vector<std::uint64_t> samples;  ///< [peer_count], of each peer as far as known here
    Round rounds = 0;                    ///< rounds that this peer made
    std::string why_not;                 ///< if not agreed: the reason, for people
    double progress = 0;                 ///< 0 .. 1 of the sample budget, over all peers
    StopReason stop = StopReason::none;  ///< why training ended, as all who finished know it
    std::vector<PeerIndex> asked;        ///< requested: peers that were asked, as far as known here

    /// Beside `seconds`: while nothing was lacking but these peers, who were not there or did not
    /// move any more; and while this peer, which had adopted, served others.
    double waiting_seconds = 0;
    std::vector<PeerIndex> waited_for;
    double serving_seconds = 0;
    double after_seconds = 0;  ///< the part of both that came when the parameters were final

    std::optional<Seen> seen;  ///< where data shards follow the live peers

    std::vector<EarlyLeave> left_early;  ///< and did not come back; as far as known here
    /// This peer is one of them: nothing was agreed here, and there is no model. `seconds` is what
    /// handing over its row took.
    bool left = false;
    std::vector<PeerIndex> handed_to;  ///< if it left: peers that stay and hold what it learned

    /// Somebody asked for the end before the training had come to its own.
    bool stopped_early() const { return stop == StopReason::requested && progress < 1; }
};

/// What parameters are awaited for.
enum class Use {
    read,  ///< to compute a gradient at them; with exchange.rounds_ahead they lack the newest step
    give,  ///< the gradient of their range is given next, and they are not read before the next
           ///< round: with exchange.rounds_ahead they then have the step of the round before
    keep,  ///< to go on from, between rounds and all peers after the same one: they lack no step
};

class Exchange {
  public:
    virtual ~Exchange() = default;

    /// Takes in what has arrived and says what is next; nothing while that is not known (before the
    /// start, at a bound). The replica changes only here, in end_round and, where all wait, in
    /// await, copy_parameters and, within its range, gradient_ready.
    virtual std::optional<Next> begin_round(Time until) = 0;
    /// True: where all wait for each other, these parameters are current for that use, or never
    /// will be, and the next begin_round says why.
    virtual bool await(Range range, Use use, Time until) = 0;
    /// REQUIRES: `range` is awaited, to be given. This part of the gradient, [parameter_count] as a
    /// whole, is finished: ring and parameter server start sending it from where it lies, and ako,
    /// where all wait, makes its step and starts sending the row. It must not change until its
    /// range has been awaited in the next round, nor after the last before `close` has returned.
    virtual void gradient_ready(Range range, std::span<const float> gradient) = 0;
    /// Gives all that the round taught, a gradient under the same condition. Returns
    /// Error::Kind::numbers if it is not finite or leads beyond what can be sent: no more of it is
    /// published, and this peer has to close; Error::Kind::unsupported for an Update in a mode
    /// that exchanges gradients (ring, parameter server): the round is not over then.
    virtual Result<void> end_round(const Learned& learned, const RoundResult& result) = 0;

    /// Tells all peers a verdict of this peer.
    virtual void announce(const Verdict& verdict) = 0;
    /// The cluster is to stop after the current round.
    virtual void request_stop(StopReason reason) = 0;

    /// REQUIRES: begin_round has said so. True: the final exchange is over, and `close` is next.
    virtual bool finish(Time until) = 0;
    /// After `finish`, or at any time without it: says goodbye and stops the network; some seconds
    /// at most. Where the mode goes on without a peer that ends for its numbers, that peer first
    /// brings the others what they had no time to take.
    virtual void close(Farewell farewell) = 0;

    /// The parameters to compute the gradient at, [parameter_count]; valid until end_round, each
    /// range from when it is awaited to be read until it is to be given.
    virtual std::span<const float> replica() const = 0;
    /// The parameters to evaluate and to save (ako: the anchor), [parameter_count]; with
    /// exchange.rounds_ahead without the newest step. Between rounds; may wait for what is under
    /// way.
    virtual void copy_parameters(std::span<float> out) = 0;
    virtual Standing standing() const = 0;
    virtual std::vector<LinkView> links() const = 0;
    /// REQUIRES: `finish` has ended, and `close` returned. What came of it; `out` gets the
    /// parameters that all who finished together hold; empty for a peer that only serves.
    virtual FinishReport report(std::span<float> out) = 0;

    /// REQUIRES: all parameters are awaited, to be kept. Puts all that this peer needs to go on
    /// from here into `out`, over what is left there of another. False, and nothing of use in
    /// `out`, in a mode that cannot go on from one, or when the exchange is about to give up.
    virtual bool save(Checkpoint& out) = 0;
    /// May be told after every round.
    virtual void tell_checkpoints(const CheckpointNews& news) = 0;
};

}  // namespace ako
