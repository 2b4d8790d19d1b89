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
#include "src/system/child_process.h"

namespace ako {

class Runner {
  public:
    /// `program` is ako itself; `commit` is written beside every result.
    Runner(const Plan& plan, CellNetwork& network, std::string program, std::string commit);

    /// Runs it to its end and keeps the result; nullopt if it was interrupted, which leaves
    /// nothing. One whose network cannot be made, twice, has failed. `every_second` is called
    /// while it runs. Throws StartupError.
    std::optional<CellResult> run(const Cell& cell, const std::atomic<int>& interrupts,
                                  const std::function<void(double seconds)>& every_second);

    /// How many of the newest cells, one after the other, failed because there was no network.
    unsigned without_network() const { return without_network_; }

  private:
    bool prepare_network(const Cell& cell, std::string& why);
    std::vector<std::string> prepare_folder(const Cell& cell, const std::string& folder);
    /// How launch ended.
    struct Ending {
        double seconds = 0;
        bool interrupted = false;
        bool late = false;  ///< it was ended because it took too long
        bool lost = false;  ///< the peer that was to be lost is, if one was
    };
    Ending wait_for(ChildProcess& child, const Cell& cell, const std::atomic<int>& interrupts,
                    const std::function<void(double seconds)>& every_second);
    /// Empty: it did not fail.
    std::string why_it_failed(const Cell& cell, const std::string& folder, const Ending& ending,
                              int exit, const CellResult& result) const;
    /// What it left, but for whether it failed and how long it took.
    CellResult result_of(const Cell& cell, const std::string& folder) const;

    const Plan& plan_;
    CellNetwork& network_;
    const std::string program_;
    const std::string commit_;
    const std::string machine_;
    std::string prepared_;  ///< for what the network stands
    std::vector<double> achievable_mbit_;
    unsigned without_network_ = 0;
};

}  // namespace ako
