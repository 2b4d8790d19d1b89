// From the settings of layers to layers: each is shaped by the one before and checked against it.
// A layer with parameters is named after its kind and its number among those: conv1, group_norm1,
// conv2, dense1.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/layer.h"
#include "models/parameter_layout.h"
#include "models/settings.h"

namespace ako {

/// Labels are bytes (see Batch), so there are no more classes than those can tell.
inline constexpr std::size_t class_count_max = 256;

struct LayerList {
    Shape input;
    std::vector<std::unique_ptr<Layer>> layers;
    std::vector<std::string> names;  ///< of each layer: "conv1", or "relu"
    ParameterLayout layout;

    Shape output_shape() const { return layers.empty() ? input : layers.back()->output_shape(); }
};

/// Throws StartupError that names the place of the layer in the file, its input and a remedy: a
/// window that does not fit, a dense layer on an image that is not flattened, a last layer that
/// does not give one score per class.
LayerList build_layers(Shape input, const std::vector<LayerSettings>& settings);

}  // namespace ako
