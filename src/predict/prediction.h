// The prediction: what so many machines make of a network in each mode, at each rate. Values and
// pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/config/cluster_settings.h"
#include "src/predict/convergence.h"
#include "src/predict/network_profile.h"
#include "src/predict/step_model.h"

namespace ako {

/// A way for peers to agree, as a cluster file says it.
struct PredictedMode {
    std::string name;                    ///< "parameter-server, 4 servers"
    std::vector<std::string> overrides;  ///< what `--set` takes
    std::string whatever = "";           ///< the name without the machines; empty: it has none

    const std::string& kind() const { return whatever.empty() ? name : whatever; }
};

/// What is asked. Lists are never empty.
struct PredictionQuestion {
    std::vector<std::size_t> machines;
    std::vector<double> rates_mbit;  ///< 0: no limit
    std::vector<std::size_t> batches;
    std::vector<double> cores;  ///< of each machine; fewer than machines: the last of all others
    double period_s = 0;        ///< after which a quota that `cores` makes is filled anew
    double latency_s = 0;
    double goodput = 0;        ///< 0: what StepQuestion takes
    /// Of each machine as measured, at whatever rate; fewer than machines: the last of all others.
    /// Empty: all have the rate.
    std::vector<MachineLink> links = {};
    bool one_machine = false;  ///< all peers share the cores of one machine, and no link
    std::optional<Convergence> convergence;
    bool shared = false;  ///< machines are groups of one, with links and shares of their own
    /// Strong scaling: a batch is that of all machines together, in parts as equal as they can be.
    bool divided = false;

    /// Samples of a round of each peer.
    std::size_t own_batch(std::size_t asked, std::size_t of_machines) const {
        if (!divided) return asked;
        return std::max<std::size_t>(1, (asked + of_machines / 2) / of_machines);
    }
};

/// One cell of the tables.
struct Predicted {
    PredictedMode mode;
    std::size_t machines = 1;
    double rate_mbit = 0;
    std::size_t batch = 0;      ///< as it was asked for
    std::size_t own_batch = 0;  ///< samples of a round of each peer
    StepAnswer step;
    std::size_t memory_bytes = 0;  ///< resident, of the peer with the most
    double speed_up = 0;           ///< samples per second, over one machine alone
    double efficiency = 0;         ///< the same over the machines
    /// How many times the rounds of one machine with as large batches it takes to a target; nothing
    /// in modes of which that is not known.
    std::optional<double> rounds_factor;
    /// Seconds to the target; nothing where its rounds are not known, and in modes of which it is
    /// not known what they cost in rounds.
    std::optional<double> target_s;
    bool extrapolated = false;  ///< a batch beyond those that were measured

    /// Of its row in a table.
    std::string name() const { return machines == 1 ? "alone" : mode.name; }
    /// Does the table of this rate and batch have it? That of one machine is in each.
    bool is_in(double table_mbit, std::size_t table_batch) const {
        return batch == table_batch && (machines == 1 || rate_mbit == table_mbit);
    }
};

/// A mode that was left out, and why.
struct LeftOut {
    std::string mode;
    std::string why;
};

struct Prediction {
    std::vector<Predicted> cells;  ///< by machines, rate, batch, mode
    bool divided = false;          ///< as in the question
    std::vector<LeftOut> left_out;
};

/// The settings of the file with these overrides; throws StartupError where they exclude each
/// other.
using ReadSettings = std::function<Settings(const std::vector<std::string>& overrides)>;
/// What a plan says of the memory of one peer, bytes.
using MemoryOf = std::function<std::size_t(const Settings&)>;

/// The modes of a question, for so many machines: that of the file first.
std::vector<PredictedMode> modes_for(const Settings& file, std::size_t machines);

/// What the step model is asked for so many machines with these settings.
StepQuestion step_question(const PredictionQuestion& question,
                           const std::vector<MachineProfile>& profiles,
                           const std::vector<Range>& layers, const Settings& settings,
                           std::size_t machines, double rate, std::size_t batch);

/// What a prediction is of.
struct PredictionBase {
    std::vector<MachineProfile>
        profiles;  ///< [machines at most], the last of all others; not empty
    std::vector<Range> layers;
    ReadSettings read;
    MemoryOf memory;
};

Prediction predict(const PredictionQuestion& question, const PredictionBase& base);

/// The least rate of links, Mbit/s, at which so much (0 .. 1) of the processors' time brings what
/// it brings alone, less what old rows cost in rounds; nothing if no links are fast enough.
struct RateForShare {
    double share = 0;
    std::optional<double> mbit;
};
/// Of a cell of the prediction, whose own rate does not matter: for 50, 75, 90 and 95 %.
std::vector<RateForShare> rates_for(const PredictionQuestion& question, const PredictionBase& base,
                                    const Predicted& cell);

}  // namespace ako
