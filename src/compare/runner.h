// The runner: runs cells, each as an `ako launch` of its own in a folder of its own, and keeps what
// came of them. One thread.
//
//   cells/<name>/cluster.yaml   what it runs: `ako launch` of this file alone repeats it
//   cells/<name>/launch.log     what launch printed
//   cells/<name>/run/    the run folder: summary.json, curve.json and the rest
//   cells/<name>/cell.json      that it has ended, and how; see cell_result.h
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/compare/cell_network.h"
#include "src/compare/cell_result.h"

namespace ako {

class Runner {
  public:
    /// `program` is ako itself; `commit` is written beside every result.
    Runner(const Plan& plan, CellNetwork& network, std::string program, std::string commit);

    /// Runs it to its end and keeps the result; nullopt if it was interrupted, which leaves
    /// nothing. `every_second` is called while it runs. Throws StartupError.
    std::optional<CellResult> run(const Cell& cell, const std::atomic<int>& interrupts,
                                  const std::function<void(double seconds)>& every_second);

  private:
    std::vector<std::string> prepare(const Cell& cell, const std::string& folder);

    const Plan& plan_;
    CellNetwork& network_;
    const std::string program_;
    const std::string commit_;
    const std::string machine_;
    std::string prepared_;  ///< for what the network stands
    std::vector<double> achievable_mbit_;
};

}  // namespace ako
