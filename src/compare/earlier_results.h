// Earlier results: what the comparisons before this one left in the folder of a plan, found by what
// a cell is and not by what this machine could run it on. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/compare/cell_network.h"
#include "src/compare/cell_result.h"

namespace ako {

/// cells/<name> in the plan's folder: the same for the same cell on the same kind of network.
std::string cell_folder(const Plan& plan, const Cell& cell, const CellNetwork& network);

class EarlierResults {
  public:
    /// Finds results of cells on these networks; the first network that has one counts. The plan
    /// and the networks are to outlive this.
    EarlierResults(const Plan& plan, std::vector<const CellNetwork*> networks);

    /// nullopt: it has not been run to its end; or it failed, and those are run again.
    std::optional<CellResult> of(const Cell& cell, bool retry_failed) const;
    /// Adds the results of cells in the order in which they are run, up to the first without one.
    void take_in_order(ResultSet& results, bool retry_failed) const;
    /// Adds whatever there is, also behind cells that are missing, as after the plan has grown.
    void take_all(ResultSet& results) const;

  private:
    const Plan& plan_;
    const std::vector<const CellNetwork*> networks_;
};

}  // namespace ako
