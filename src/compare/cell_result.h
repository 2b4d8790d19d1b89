// What came of a cell: cell.json, which the runner leaves in its folder, and the figures and the
// curve of the run beside it. Values; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/compare/accuracy_curve.h"
#include "src/compare/cell.h"

namespace ako {

/// What a run's summary says, over its peers. Every figure may be missing.
struct RunFigures {
    std::optional<double> train_seconds;
    std::optional<double> rounds;  ///< of a peer that trains; mean
    std::optional<double> accuracy;
    std::optional<double> samples_per_s;  ///< of all peers together
    /// The paces of single peers that train; a peer that came to no round made 0.
    std::optional<double> samples_per_s_median, samples_per_s_slowest, samples_per_s_fastest;
    std::optional<double> compute_share;  ///< 0 .. 1: time in gradients / time of a round; mean
    std::optional<double> cpu_ms_per_round;
    std::optional<double> gradient_ms;             ///< median of a round; mean of the peers
    std::optional<double> wait_ms;                 ///< the same
    std::optional<double> egress_bytes_per_round;  ///< of a peer that trains; mean
    /// At the machine that sends most, be it a server; a round is one of a peer that trains.
    std::optional<double> egress_bytes_per_round_busiest;
    std::optional<double> ingress_bytes_per_round;              ///< of a peer; mean
    std::optional<double> egress_mbit;                          ///< of a peer; mean
    std::optional<double> egress_mbit_busiest;                  ///< of the peer that sends most
    std::vector<std::optional<double>> egress_mbit_by_machine;  ///< servers too
    std::optional<double> partitions;                           ///< mean
    std::optional<double> staleness_rounds;                     ///< mean
    std::optional<double> round_ms_p10, round_ms_p50, round_ms_p90, round_ms_p99;  ///< mean
    std::string bottleneck;  ///< what limited it, "egress of c"; empty: not known
};

struct CellResult {
    bool failed = false;
    std::string why;                      ///< it failed
    double seconds = 0;                   ///< from start to end of the process
    std::string commit;                   ///< of the program that ran it
    std::string network;                  ///< what it ran on, for people
    std::string machine;                  ///< the same: processor, cores, memory, kernel
    std::vector<double> achievable_mbit;  ///< of each machine, all sending to all; empty: not known
    RunFigures figures;
    AccuracyCurve curve;

    /// What each machine sent / what it could have; those of which both are known.
    std::vector<double> egress_shares() const;
    /// How long a round took, over the whole run; 0: not known.
    double round_seconds() const;
};

/// The figures of a summary.json; all missing if it cannot be read.
RunFigures read_figures(const std::string& path);

/// The result in a cell's folder (see runner.h); nullopt if the cell was not run to its end.
std::optional<CellResult> read_cell_result(const std::string& folder);
/// Writes cell.json: everything but figures and curve, which lie beside it. Throws StartupError.
void write_cell_result(const std::string& folder, const Cell& cell, const CellResult& result);

/// A cell that has been run.
struct DoneCell {
    Cell cell;
    CellResult result;
};

/// What has been run so far, by the text of the cell.
class ResultSet {
  public:
    const CellResult* find(const Cell& cell) const;
    void put(const Cell& cell, CellResult result) {
        results_.insert_or_assign(cell.text(), DoneCell{cell, std::move(result)});
    }
    const std::map<std::string, DoneCell>& all() const { return results_; }

  private:
    std::map<std::string, DoneCell> results_;
};

}  // namespace ako
