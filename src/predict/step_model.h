// The step model: what a round of a cluster takes, by mode, from the profile of its machines and
// the rates of their links. Where peers wait for each other it is the replay of a round
// (replay.h), where nobody waits the balance of each machine's processor and links, and alone what
// computing takes. Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/exchange/mode_settings.h"
#include "src/predict/machine_profile.h"

namespace ako {

/// What TCP gets through of a link's rate: headers, acknowledgements.
inline constexpr double tcp_goodput = 0.957;

/// A machine as the model sees it: one peer on it.
struct ModelMachine {
    const MachineProfile* profile = nullptr;
    double cores = 0;        ///< that the peer may use
    double period_s = 0;     ///< after which a quota is filled anew; 0: none
    double egress_mbit = 0;  ///< of its link, as its owner calls it; 0: no limit
    double ingress_mbit = 0;

    bool operator==(const ModelMachine&) const = default;
};

struct StepQuestion {
    ModeSettings mode;          ///< names of as many peers as machines, exchange and training
    std::size_t batch = 0;      ///< samples of one peer's round
    std::vector<Range> layers;  ///< runs of the parameters, as buckets follow them
    std::vector<ModelMachine> machines;
    double latency_s = 0;  ///< one way
    /// Processors of the one machine that all these are groups of; 0: they are apart.
    double shared_cores = 0;
    double goodput = tcp_goodput;
};

struct StepAnswer {
    double round_s = 0;  ///< workers over all rounds per second
    double low_s = 0;    ///< the next: between which it lies four times in five
    double high_s = 0;
    double compute_s = 0;      ///< of the round, computing and what holds the processor up
    double exchange_s = 0;     ///< what the exchange alone would take
    double exposed_s = 0;      ///< of the round, waiting for it
    double bytes = 0;          ///< sent by the busiest peer in a round
    double samples_per_s = 0;  ///< of all peers
    double naive_s = 0;        ///< compute + bytes / rate, to be held against it
    double partitions = 0;     ///< ako: P; else 0
    std::string limit;         ///< what a round spends most of its time on: a word for people

    double hidden_s() const { return exchange_s > exposed_s ? exchange_s - exposed_s : 0; }
};

/// Nothing for a mode in which rounds go at a pace of their own that the model does not have: a
/// parameter server that nobody waits for.
std::optional<StepAnswer> predict_step(const StepQuestion& question);

}  // namespace ako
