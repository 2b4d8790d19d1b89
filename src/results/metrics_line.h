// The metrics line: how one peer stands, once a second. One JSON object per line in
// metrics-<peer>.jsonl and on the pipe to `ako launch`. With `ako launch --restart` the lines of
// the processes of a peer follow one another there. Values; any thread.
//
//   time          seconds since this peer's process began
//   phase         "waiting" (for other peers), "joining" (a run that is under way:
//                 it takes in its rows), "training", "serving" (a parameter
//                 server of its own), "finishing" (the final exchange),
//                 "evaluating" (what came out of it), "done"
//   waiting_for   names of the peers, while waiting
//   round         rounds this peer has made
//   samples       that this peer has computed on; samples_per_s over the time since the last line
//   loss          mean over the rounds since the last line that had one; null if none is known
//   losses_not_finite
//                 so many rounds of this process had a loss that is not a number
//   noise_scale   of the gradient, in samples (gradient_noise.h); null unless batches are computed
//                 in parts (training.batch.accumulate)
//   checkpoints   how often they are made (training.checkpoint_every: auto): seconds between two,
//                 and the share of the time of training that they take; null if none are paced
//   learners      that made the newest round (training.learners); 1 where a peer has no others
//   accuracy      newest verdict of any peer on the test set, 0 .. 1; null before the first
//   accuracy_at   the progress at which its parameters were taken; null before the first
//   progress      0 .. 1 of the sample budget of all peers
//   egress_bytes, ingress_bytes, egress_mbit, ingress_mbit
//                 wire bytes since the start, and 10^6 bit/s since the last line
//   agreed        whether the final exchange agreed on the parameters; null before its end
//   cpu_seconds   of all threads of the process since it began; memory_bytes it has resident
//   memory_limit  bytes that its control group may have; 0: no limit
//   round_parts   where the time of its rounds went, by part (round_parts.h): seconds of all
//                 rounds, and counts of rounds by how long it took
//   usage         of machine and links while it trained or served, over the last ten seconds or two
//                 rounds, by which is found what limits it: src/results/usage.h; each link has its
//                 own
//   links         the same per link, and presence of the other peer (a word of
//                 common/ako/presence.h: "up", "lost" ...), live, advancing, left_out (too slow to
//                 be waited for), joining; standing, which is all of these as one word
//                 ("advancing", "slow", "lost", ..: peer_standing.h), since when (seconds, as
//                 time) and, where it has no session,
//                 why; ended, the cause by which it ended otherwise than somebody wanted
//                 (ako/farewell.h: "numbers", "program", "broken"; else ""); partitions
//                 (observed P; 0: not known), staleness_rounds, staleness_ms, age_ms (from the
//                 binding of a partial at its sender to its arrival here: median of the newest, by
//                 the estimate of the clocks), answer_ms (for so long an answer of it is waited
//                 for; 0 in modes other than ako); sessions that came up, rejects (how often
//                 one end refused the other, by the field of the Hello); blocks of its row that
//                 were refused here, whoever sent them: damaged_blocks, diverged_blocks; of the
//                 kernel's path
//                 round_trip_ms, delivery_mbit (its newest estimate) and retransmits (segments,
//                 since the start), 0 if not known; and how far the other peer is, as far as heard
//                 here: round, samples, samples_per_s since the last line, loss of its newest round
//                 (null before the first)
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ako/presence.h"
#include "src/results/peer_standing.h"
#include "src/results/usage.h"
#include "src/training/checkpoint_pace.h"
#include "src/training/round_parts.h"

namespace ako {

struct LinkLine {
    std::string peer;
    Presence presence = Presence::absent;
    bool live = false;
    bool advancing = false;
    bool joining = false;
    double since = 0;
    std::string why;
    double partitions = 0;
    std::uint64_t staleness_rounds = 0;
    double staleness_ms = 0;
    double age_ms = 0;
    double answer_ms = 0;
    std::uint64_t sessions = 0;
    std::map<std::string, std::uint64_t> rejects;
    std::uint64_t damaged_blocks = 0;
    std::uint64_t diverged_blocks = 0;
    double round_trip_ms = 0;
    double delivery_mbit = 0;
    std::uint64_t retransmits = 0;
    std::uint64_t egress_bytes = 0;
    std::uint64_t ingress_bytes = 0;
    double egress_mbit = 0;
    double ingress_mbit = 0;
    std::uint64_t round = 0;
    std::uint64_t samples = 0;
    double samples_per_s = 0;
    std::optional<double> loss;
    LinkUsage usage;
    std::string ended;
    bool left_out = false;
};

PeerStanding standing_of(const LinkLine& link);

struct MetricsLine {
    double time = 0;
    std::string phase;
    std::vector<std::string> waiting_for;
    std::uint64_t round = 0;
    std::uint64_t samples = 0;
    double samples_per_s = 0;
    std::optional<double> loss;
    std::uint64_t losses_not_finite = 0;
    std::optional<double> noise_scale;
    std::optional<CheckpointInterval> checkpoints;
    std::uint64_t learners = 1;
    std::optional<double> accuracy;
    std::optional<double> accuracy_at;
    double progress = 0;
    std::optional<bool> agreed;
    std::uint64_t egress_bytes = 0;
    std::uint64_t ingress_bytes = 0;
    double egress_mbit = 0;
    double ingress_mbit = 0;
    double cpu_seconds = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t memory_limit = 0;
    RoundParts round_parts;
    Usage usage;
    std::vector<LinkLine> links;

    /// Mean observed P over the live links that know theirs; 0 if none does.
    double partitions() const {
        double sum = 0;
        int known = 0;
        for (const LinkLine& link : links) {
            if (!link.live || link.partitions <= 0) continue;
            sum += link.partitions;
            ++known;
        }
        return known == 0 ? 0 : sum / known;
    }
    bool any_live() const {
        return std::any_of(links.begin(), links.end(),
                           [](const LinkLine& link) { return link.live; });
    }
    /// The largest staleness of a live link, in rounds.
    std::uint64_t staleness_rounds() const {
        std::uint64_t most = 0;
        for (const LinkLine& link : links)
            if (link.live) most = std::max(most, link.staleness_rounds);
        return most;
    }
};

/// One line of JSON, without the line break.
std::string to_json_text(const MetricsLine& line);
/// nullopt if the text is not such a line.
std::optional<MetricsLine> parse_metrics_line(const std::string& text);

}  // namespace ako
