#include "src/compare/cell_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "ako/error.h"
#include "src/compare/agenda.h"
#include "src/compare/cell_network.h"
#include "src/config/cluster_file.h"

namespace ako {

namespace {

const Contender* contender_of(const Plan& plan, const Cell& cell) {
    const auto found = std::find_if(plan.modes.begin(), plan.modes.end(), [&](const auto& one) {
        return one.name == cell.candidate.contender;
    });
    return found == plan.modes.end() ? nullptr : &*found;
}

}  // namespace

Settings cell_settings(const Plan& plan, const Cell& cell,
                       const std::vector<std::string>& network_overrides) {
    std::vector<std::string> overrides = cell.overrides(plan);
    overrides.insert(overrides.end(), network_overrides.begin(), network_overrides.end());
    try {
        Settings settings = read_cluster_tree(plan.cluster, plan.cluster_file, overrides);
        // What learns nothing is a result of a comparison, and no failure of it.
        settings.training.must_learn = false;
        return settings;
    } catch (const StartupError& error) {
        const Contender* contender = contender_of(plan, cell);
        throw StartupError(
            fmt::format("{}: {}: {}", contender != nullptr ? contender->where : plan.file,
                        contender != nullptr ? contender->key() : cell.candidate.contender,
                        error.what()),
            error.hint());
    }
}

std::string identity_text(Settings settings) {
    settings.output.clear();
    return write_cluster_text(settings);
}

void check_contenders(const Plan& plan) {
    const auto network = make_paced_network("");
    for (const Setting& setting : settings_of(plan)) {
        for (const Contender& contender : plan.modes) {
            const std::vector<Candidate> candidates = candidates_of(plan, contender, setting);
            if (candidates.empty())
                throw StartupError(
                    fmt::format("{}: modes.{}: no variant leaves a machine of {} to train",
                                contender.where, contender.name, setting.machines));
            for (const Candidate& candidate : candidates) {
                const Cell cell =
                    full_cell(plan, candidate, setting, plan.rates.front(), plan.seeds.front());
                cell_settings(plan, cell, network->overrides(cell));
            }
        }
    }
}

}  // namespace ako
