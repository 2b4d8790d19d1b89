// The record of a run: what its folder (src/results/run_folder.h) tells of it, also while it is
// under way or when it was killed. Only what is drawn of each line of metrics is kept, for with
// many peers and over hours their links take gigabytes. Values; reading by one thread.
//
// The time of a metrics line is that of its peer's process. With `ako launch --restart` the lines
// of a peer's processes follow one another, and each begins at zero: here its time goes on where
// the one before ended. How long the peer was away is in no file, so that it is left out, and what
// comes after stands that much earlier than with the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/results/curve.h"
#include "src/results/metrics_line.h"

namespace ako {

/// A metrics line, as far as it is drawn.
struct PeerMoment {
    double seconds = 0;    ///< since the peer's first process began
    unsigned process = 0;  ///< counted from 0
    // Nothing where it is not known, where the peer made no round and was not about to, and so soon
    // after the line before that it would be of some rounds alone.
    std::optional<double> loss;
    std::optional<double> samples_per_s;
    std::optional<double> partitions;
    std::optional<double> staleness_rounds;
    // The newest verdict, of whichever peer.
    std::optional<double> accuracy;
    std::optional<double> accuracy_at;
};

struct PeerRecord {
    std::string name;
    std::vector<PeerMoment> moments;  ///< at least one, in order of time
    MetricsLine newest;               ///< its last line, as it stands
    // Totals of all its processes.
    std::uint64_t samples = 0;
    std::uint64_t egress_bytes = 0;
    std::uint64_t ingress_bytes = 0;
    double cpu_seconds = 0;

    unsigned processes() const { return moments.back().process + 1; }
};

/// What summary.json says.
struct RunOutcome {
    double seconds = 0;
    std::optional<double> accuracy;
    bool replicas_identical = false;
    std::vector<std::string> finished_with;
    std::vector<std::string> lost_peers;
    std::string digest;
    int exit = 0;
};

struct RunRecord {
    std::string name;               ///< of the folder, where links lead
    std::vector<PeerRecord> peers;  ///< at least one, in the order of the cluster file
    std::optional<Settings> settings;
    std::vector<CurvePoint> curve;      ///< empty: none has been written
    std::optional<RunOutcome> outcome;  ///< nothing: no summary has been written

    /// The time of the last line of any peer.
    double seconds() const;
};

/// Takes in one more line of a peer.
void add_line(PeerRecord& peer, MetricsLine line);

/// Reads metrics-<peer>.jsonl, of which there must be one with a whole line, and what there is of
/// config.yaml, summary.json and curve.json. A last line that was cut, or is being written, is left
/// out. Throws StartupError with the file, and the line, that cannot be read.
RunRecord read_run(const std::string& folder);

}  // namespace ako
