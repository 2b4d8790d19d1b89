// From the settings of layers to layers: each is shaped by the one before and checked against it.
// A layer with parameters is named after its kind and its number among those: conv1, group_norm1,
// conv2, dense1. The layers inside a residual sum are counted with all others, its own before those
// of its shortcut.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/layer.h"
#include "models/model_settings.h"
#include "models/parameter_layout.h"

namespace ako {

/// A layer, for people.
struct OutlinedLayer {
    std::string name;  ///< "conv1", or "relu"
    Shape output;
    std::size_t parameter_count = 0;  ///< of a residual none: those inside it have them
};

struct LayerList {
    Shape input;
    std::vector<std::unique_ptr<Layer>> layers;
    ParameterLayout layout;
    /// Every layer in the order of the file: after a residual, those inside it.
    std::vector<OutlinedLayer> outline;

    Shape output_shape() const { return layers.empty() ? input : layers.back()->output_shape(); }
};

/// Throws StartupError that names the place of the layer in the file, its input and a remedy: a
/// window that does not fit, a dense layer on an image that is not flattened, a sum of two shapes,
/// a last layer that does not give one score per class.
LayerList build_layers(Shape input, const std::vector<LayerSettings>& settings);

}  // namespace ako
