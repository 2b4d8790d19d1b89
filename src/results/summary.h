// The summary of a run: what became of every peer, and whether those that finished together hold
// the same. Written as summary.json by `ako launch`, which saw all peers end, and by `ako train`,
// which saw one end and knows of the others what that one heard:
//
//   seen_by             null: of `ako launch`. Else the peer whose word all this is: `peers` has
//   that
//                       one alone, `others` the rest
//   seconds             from the start of the peers to the end of the last
//   accuracy            of the agreed parameters on the test set, 0 .. 1; null without agreement
//   replicas_identical  true if all who agreed hold the same digest, and at least one did
//   finished_with       the names of those
//   finish_seconds      the final exchange, of the peer for which it took longest
//   finish_waiting_seconds, waited_for
//                       the longest that a peer waited at the end for others that were not there
//                       or did not move, and their names
//   digest, samples (of all peers), egress_bytes, exit, interrupted, lost_peers
//   stopped_at          0 .. 1 of the sample budget, if all stopped there because somebody asked
//                       for it; null if the training came to its own end
//   asked_by            then: the names of the peers that were asked
//   lost_shards         [{peer, samples, seen, unseen}] with disjoint data shards, of each lost
//                       peer: samples in its shard, how many it had trained on when it was last
//                       heard of, how many of the shard the training therefore never saw
//   left_peers          [{peer, rounds, at, samples, seen, unseen, cause, since, why}] of each peer
//                       that left on purpose or ended by a failure, while the others went on:
//                       rounds that it made, how much of the budget of all was done then (0 .. 1),
//                       of its shard as above, null without one, and how it ended: ako/farewell.h
//   seen                {samples, passes, of_next, of_after, repeated} with elastic data shards:
//                       all samples were seen in so many passes over them, so many of the next pass
//                       and of the one after it; samples that were trained on twice in one pass.
//                       Null with others
//   bottleneck          {label, evidence, remedy} of what limited the cluster while it trained, as
//                       `ako launch` saw it: src/results/bottleneck.h. Null if that is not known
//   peers               [{name, role, restarts, rounds, samples, losses_not_finite, egress_bytes,
//                       ingress_bytes, digest, lost_peers, exit, why, egress_mbit, train_seconds,
//                       round_ms, ..}]; `losses_not_finite`: as in metrics_line.h;
//                       `exit` is negative if a signal ended it (-9: SIGKILL), and then rounds,
//                       samples and bytes are those of its last metrics line; `egress_mbit` is from
//                       the beginning of its first round to the end of its last, of a server while
//                       it served; from train_seconds on: training_figures.h. `restarts`: how often
//                       `ako launch --restart` started it again. Bytes are then of all its
//                       processes, figures of the last, rounds and samples of the row, which goes
//                       on
//   others              [{name, standing, standing_s, why, rounds, samples}] as last heard of
//                       by the peer `seen_by`; standing: a word of peer_standing.h, for so many
//                       seconds, and why: of one that has no session. How they ended is not
//                       known, but for those in finished_with and lost_peers
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ako/ending.h"
#include "src/results/bottleneck.h"
#include "src/results/metrics_line.h"
#include "src/results/peer_result.h"
#include "src/results/peer_standing.h"

namespace ako {

/// A peer of which no result is here: what the one peer that tells of the run had heard of it.
struct OtherPeer {
    std::string name;
    PeerStanding standing = PeerStanding::absent;
    double standing_s = 0;
    std::string why;
    std::uint64_t rounds = 0;
    std::uint64_t samples = 0;
};

struct Summary {
    std::string run;
    std::string seen_by;  ///< the one peer in `peers`, where only it was seen to end
    double seconds = 0;
    bool interrupted = false;
    bool alone = false;  ///< peers exchanged nothing (mode local), so each has its own parameters
    std::vector<PeerResult> peers;
    std::vector<OtherPeer> others;
    Bottleneck bottleneck;

    /// Forgets when peers began whose clock is not this machine's, as of a peer that --in started
    /// on another one: their moments are not between `from` and `to`, the run by this clock.
    void keep_begins_between(Time from, Time to);
    std::vector<std::string> finished_with() const;
    /// The shards of the peers that those lost, each as the one that heard most of it knows it.
    std::vector<LostShard> lost_shards() const;
    /// The peers that left and did not end with the others after all.
    std::vector<LeftPeer> left_peers() const;
    /// The marks that any of the peers evaluated, then the final parameters. The clock of all is
    /// that of the peer that began first, if the others' beginnings are known by the same clock.
    Curve curve(EvaluateWhen evaluated) const;
    /// As in summary.json.
    std::optional<double> stopped_at() const;
    std::vector<std::string> asked_by() const;
    bool replicas_identical() const;
    /// Seconds of the final exchange at the peer for which it took longest.
    double finish_seconds() const;
    /// The peer that waited longest at the end for others that were not there, or nullptr.
    const PeerResult* longest_waiter() const;
    /// The first peer that finished with agreement, or nullptr.
    const PeerResult* finisher() const;
    /// The exit status of launch. Interrupted: 130. A peer that was killed from outside (SIGKILL,
    /// ..), or was asked to leave, is reported but no failure, as long as others finished
    /// identical: that is what Ako promises. Otherwise the worst of: 1 a peer crashed, 2 could not
    /// start, 3 numbers, 5 a peer could not go on without another, 4 no agreement, or replicas that
    /// differ, 6 a peer could not write its results, 7 all stopped early because somebody else than
    /// launch asked.
    ExitStatus exit_status() const;

    std::string json() const;
    /// Some lines for people.
    std::string text(const std::string& folder) const;
};

/// What the last metrics line of a peer says of its result; all there is of one that left none.
PeerResult result_of_line(const MetricsLine& last);

/// The summary of `ako train`: the result of its peer and what that peer's last metrics line says
/// of the others.
Summary summary_of_one(const std::string& run, bool alone, const PeerResult& result,
                       const MetricsLine& last);

}  // namespace ako
