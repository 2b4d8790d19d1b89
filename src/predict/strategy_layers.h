// The layers of a network as the strategies take them (strategies.h): shapes and windows from the
// settings of the model, seconds from the steps of gradients that were measured.
//
// A step of a gradient ends where a layer with parameters asks for them, or is ready with their
// gradient. What follows such a layer without parameters of its own, as a ReLU or a pool, is in its
// time, and has of it what its share of the operations is. The step from the last layer's forward
// pass into its backward pass is divided as their operations are, one to two.
//
// Layers inside a residual follow each other: the body, the shortcut, the sum. An input that both
// ways mix the channels of is exchanged for each, though once would do. Of group_norm the
// statistics of parts that lie on other machines are not exchanged.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "models/model_settings.h"
#include "src/predict/machine_profile.h"
#include "src/predict/strategies.h"

namespace ako {

/// Without seconds. Not of `synthetic` and `external`, which have no layers; throws StartupError as
/// build_layers does.
std::vector<StrategyLayer> strategy_layers(const ModelSettings& model);

/// Seconds of both passes over `batch` samples, and of the parts of these that were measured.
/// `slower`: seconds of the day for a second of processor. The profile is of this network.
void set_seconds(std::vector<StrategyLayer>& layers, const MachineProfile& profile,
                 std::size_t batch, double slower);

}  // namespace ako
