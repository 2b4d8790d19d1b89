// The rounds of a comparison's cells, as the step model has them: for how long a comparison will
// take, and to be held against what came. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/compare/cell_network.h"
#include "src/compare/cell_result.h"
#include "src/config/cluster_settings.h"
#include "src/predict/machine_profile.h"
#include "src/predict/step_model.h"

namespace ako {

class CellPrediction {
  public:
    /// With the profile of this machine that lies there (`ako profile`), if it is of the network
    /// that the plan trains. Both outlive it. Throws StartupError: settings that are refused.
    CellPrediction(const Plan& plan, const CellNetwork& network, const Cell& first);

    bool has_profiles() const { return !profiles_.empty(); }
    /// Where there are none: a machine of which gradients alone are known, by rising batches.
    void take_gradients(const std::vector<GradientProfile>& gradients, std::size_t parameter_count);

    /// Of so many samples of each peer. Nothing where the model has no such round. REQUIRES
    /// profiles, or gradients.
    std::optional<StepAnswer> round(const Cell& cell, std::size_t batch) const;
    /// As if all waited for the slowest, in a mode with servers.
    std::optional<StepAnswer> round_in_step(const Cell& cell, std::size_t batch) const;

    /// A line for people on what came beside what was predicted, with a line break; empty without
    /// profiles, and where the one or the other is not known. Keeps the pair in the profiles'
    /// history where the run itself could not, for nothing tells it what a testbed's links carry.
    std::string beside(const Cell& cell, const CellResult& result) const;

  private:
    Settings settings_of(const Cell& cell) const;
    StepQuestion question_of(const Cell& cell, std::size_t batch) const;

    const Plan& plan_;
    const CellNetwork& network_;
    std::vector<MachineProfile> profiles_;
};

/// Of the cores that this machine has, the part that each machine of the cell gets: what the
/// testbed gives, or a whole one; less if together they ask for more than there is.
std::vector<double> core_shares(const Plan& plan, const CellNetwork& network, const Cell& cell);

}  // namespace ako
