// The result of one peer: what it leaves in result-<peer>.json for `ako launch` and for people.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ako/ending.h"
#include "ako/types.h"
#include "src/results/curve.h"
#include "src/results/left_peers.h"
#include "src/results/seen_data.h"
#include "src/results/shard_passes.h"
#include "src/results/training_figures.h"

namespace ako {

/// The data shard of a lost peer, which nobody else trains on (`data.sharding: disjoint`).
struct LostShard {
    std::string peer;
    std::uint64_t samples = 0;  ///< in the shard
    std::uint64_t seen = 0;  ///< samples the peer had trained on when it was last heard of; passes
                             ///< over the shard add up
    /// Samples of the shard that the training never saw.
    std::uint64_t unseen() const { return seen < samples ? samples - seen : 0; }
};

/// "d was lost after 7,712 samples: 7,288 of the 15,000 in its data shard were never seen".
std::string lost_shard_text(const LostShard& shard);
/// [{"peer": "d", "samples": 15000, "seen": 7712, "unseen": 7288}, ..].
nlohmann::ordered_json lost_shards_json(const std::vector<LostShard>& shards);

struct PeerResult {
    std::string name;
    Role role = Role::worker;  ///< as the cluster file says; in no file of its own
    unsigned restarts = 0;     ///< by `ako launch --restart`; in no file of its own
    Ending ending = Ending::finished;
    std::string why;  ///< why it stopped, or why there was no agreement
    int exit = 0;
    double seconds = 0;         ///< from the start of the process to the end of the final exchange
    double finish_seconds = 0;  ///< of that, the final exchange
    double finish_waiting_seconds = 0;    ///< and waiting in it or after it for `waited_for`
    double finish_serving_seconds = 0;    ///< and serving slower peers after it
    std::vector<std::string> waited_for;  ///< who were not there, or did not move any more
    std::uint64_t rounds = 0;
    std::uint64_t samples = 0;            ///< that it has trained on
    std::uint64_t losses_not_finite = 0;  ///< as in the metrics line
    std::uint64_t samples_total = 0;      ///< of all peers, as known here
    /// Samples of all peers beyond the budget, if more than a round of every peer; else 0.
    std::uint64_t samples_beyond = 0;
    std::uint64_t egress_bytes = 0;
    std::uint64_t ingress_bytes = 0;
    std::optional<Time> training_began;  ///< its first round, by its machine's monotonic clock
    std::optional<double> egress_mbit;   ///< from its first round to its last, or while it served
    std::optional<double> accuracy;      ///< of the final parameters, 0 .. 1
    std::optional<double> loss;
    bool agreed = false;
    bool identical = false;
    std::string digest;  ///< empty without a final exchange
    std::vector<std::string> finished_with;
    std::vector<std::string> lost_peers;
    std::vector<LostShard> lost_shards;
    std::vector<LeftPeer> left_peers;    ///< this one too, if it left
    std::vector<std::string> handed_to;  ///< then: who held all that it learned when it went
    std::vector<ShardPasses> shards;     ///< of all that trained to the end, as known here
    std::optional<Seen> seen;            ///< of the data, where shards follow the live peers
    /// How much of the sample budget was done, 0 .. 1, when all stopped because somebody asked for
    /// it; nothing if the training came to its own end.
    std::optional<double> stopped_at;
    std::vector<std::string> asked_by;  ///< then: the peers that were asked, as far as known here
    std::optional<TrainingFigures> figures;
    /// Parameters that this peer took, with what they are worth; if there is an accuracy, the last
    /// point is that of the final ones.
    std::vector<CurvePoint> curve;
};

/// The last words of a run, the same for a peer alone and for all: "replicas identical: yes
/// (857b52a4707cb9b5) on a, b, c, d". The digest is cut to what people compare.
std::string identical_text(const std::string& digest, const std::vector<std::string>& names);
/// "replicas identical: no (a has 857b52a4707cb9b5)".
std::string differs_text(const std::string& name, const std::string& digest);
/// "stopped early at 14 % of the budget: peer b asked for it"; `who`: the words after the colon.
std::string stopped_early_text(double progress, const std::string& who);
/// "3 losses are not numbers"; empty if there were none.
std::string losses_text(const PeerResult& result);
/// "1,088 samples (5 %) beyond the budget of 20,000: ..."; empty if it was kept.
std::string beyond_budget_text(const PeerResult& result);
/// How many samples `made` by all are beyond the budget, if these are more than a round of every
/// peer; `round`: the samples of a usual one, of one peer.
std::uint64_t samples_beyond(std::uint64_t made, std::uint64_t budget, double round,
                             std::size_t peers);
/// As many of its 64 digits as people compare; all are in the files.
std::string short_digest(const std::string& digest);

/// "9.8 s waiting for d, which was lost", of the end of one peer; empty if it waited for nobody.
std::string waiting_text(const PeerResult& result);

/// "all that it learned is at a, c (0.2 s)", of a peer that left.
std::string handed_over_text(const PeerResult& result);

/// As JSON on one line.
std::string result_text(const PeerResult& result);
/// The same for a pipe in which other lines come too, and back: nullopt if it is none.
std::string result_line(const PeerResult& result);
std::optional<PeerResult> parse_result_line(const std::string& line);

/// Writes it as JSON. Throws StartupError.
void write_result(const std::string& path, const PeerResult& result);
/// nullopt if there is none that can be read.
std::optional<PeerResult> read_result(const std::string& path);

}  // namespace ako
