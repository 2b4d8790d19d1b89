#include "src/compare/earlier_results.h"

#include <fmt/format.h>

#include <utility>

#include "src/compare/agenda.h"
#include "src/compare/cell_settings.h"

namespace ako {

std::string cell_folder(const Plan& plan, const Cell& cell, const CellNetwork& network) {
    const Settings settings = cell_settings(plan, cell, network.overrides(cell));
    return fmt::format("{}/cells/{}", plan.output,
                       cell.folder_name(identity_text(settings) + network.key()));
}

EarlierResults::EarlierResults(const Plan& plan, std::vector<const CellNetwork*> networks)
    : plan_(plan), networks_(std::move(networks)) {}

std::optional<CellResult> EarlierResults::of(const Cell& cell, bool retry_failed) const {
    for (const CellNetwork* network : networks_) {
        auto result = read_cell_result(cell_folder(plan_, cell, *network));
        if (result) return result->failed && retry_failed ? std::nullopt : result;
    }
    return std::nullopt;
}

void EarlierResults::take_in_order(ResultSet& results, bool retry_failed) const {
    while (const std::optional<Cell> cell = next_cell(plan_, results)) {
        std::optional<CellResult> result = of(*cell, retry_failed);
        if (!result) return;
        results.put(*cell, std::move(*result));
    }
}

void EarlierResults::take_all(ResultSet& results) const {
    take_in_order(results, false);
    // A screening that is decided by what was found asks for further cells.
    for (bool found = true; found;) {
        found = false;
        for (const Cell& cell : open_cells(plan_, results)) {
            std::optional<CellResult> result = of(cell, false);
            if (!result) continue;
            results.put(cell, std::move(*result));
            found = true;
        }
    }
}

}  // namespace ako
