// The plan of a comparison: a cluster file, and lists of what is tried with it. Strict as a cluster
// file is. Every key, with its meaning and its default, is in experiments/compare-example.yaml.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/compare/contender.h"
#include "src/compare/rate.h"
#include "src/config/config_value.h"

namespace ako {

/// Successive halving before the comparison: which variant and learning rate stands for each
/// contender.
struct ScreeningPlan {
    Rate rate;
    double epochs = 1;        ///< of the first rung; every rung has twice those of the one before
    double minutes_max = 90;  ///< of all rungs together
    unsigned finalists = 1;   ///< of each contender
};

/// Figures of synchronous modes put together from rounds to target and round time.
struct CompositionPlan {
    /// The length of the short runs that measure the round time at a rate; those of local SGD are
    /// a little longer, see timing_epochs().
    double epochs = 0.25;
};

/// A machine whose peer is killed while it trains.
struct PeerLoss {
    std::size_t machine = 0;  ///< from 0
    double after_s = 0;       ///< since the cell began

    bool operator==(const PeerLoss&) const = default;
};

/// What a plan leaves out is taken from its cluster file, which says it for one run.
struct ClusterDefaults {
    double learning_rate = 0;
    std::size_t batch = 0;
    double epochs = 0;
    std::uint64_t seed = 0;
    std::size_t machines = 0;
    double warm_up = 0;         ///< training.schedule.warm_up
    unsigned local_rounds = 0;  ///< exchange.local_rounds
    Variant told;               ///< server_keys(), and the learners
};

enum class NetworkChoice { automatic, testbed, paced };

struct TestbedPlan {
    NetworkChoice use = NetworkChoice::automatic;
    std::string name = "compare";
    /// Share of one core: of each machine, or one for all; empty: no limit.
    std::vector<double> cpus;
};

struct Plan {
    std::string file;
    std::string text;  ///< as it was read
    std::vector<std::string> overrides;
    std::string name;
    ConfigValue cluster;
    std::string cluster_file;  ///< where it stands, which relative paths in it start from
    ClusterDefaults defaults;  ///< of the cluster file, where nothing else is said
    /// In the training set, of which `epochs` counts; filled in by who can read it.
    std::optional<std::uint64_t> training_samples;
    Variant settings;  ///< keys of the cluster file, for all cells
    std::vector<double> target_accuracy;
    std::vector<std::size_t> machines;
    std::vector<Rate> rates;
    std::vector<std::uint64_t> seeds;
    std::vector<double> learning_rates;
    std::vector<std::size_t> batch_per_peer;
    double epochs = 1;
    double evaluate_every = 0.25;  ///< epochs between two points of a curve
    std::vector<Contender> modes;  ///< last, if it is asked for, one machine alone
    /// Names of contenders, or modes, that the others are given as a ratio to.
    std::vector<std::string> baselines;
    std::optional<ScreeningPlan> screening;
    std::optional<CompositionPlan> composition;
    std::optional<PeerLoss> loss;  ///< in every cell of the comparison proper
    TestbedPlan testbed;
    double cell_minutes_max = 120;
    std::string output;  ///< folder, absolute
};

/// Reads and checks a plan and the `--set` overrides. Throws StartupError "file:line:column: key:
/// expected ..., found ...". What is wrong with the cluster file itself is found by
/// check_contenders().
Plan read_plan(const std::string& file, const std::vector<std::string>& overrides);
Plan read_plan_text(const std::string& text, const std::string& file,
                    const std::vector<std::string>& overrides);

}  // namespace ako
