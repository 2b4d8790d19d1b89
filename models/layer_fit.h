// Whether a layer fits what it is fed with: the checks between the settings of layers and layers.
// Each throws StartupError that names the place of the layer in the file, its input and a remedy.
// Functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ako/types.h"
#include "models/model_settings.h"

namespace ako {

/// Labels are bytes (see Batch), so there are no more classes than those can tell.
inline constexpr std::size_t class_count_max = 256;

/// Of every layer, before it is made: its input has a size that can be, and what it is told of
/// windows and groups can be done with that.
void check_fits(const LayerSettings& layer, const Shape& input);

/// Of a residual: what its layers give and what is added to that.
void check_sum(const LayerSettings& layer, const Shape& input, const Shape& body,
               const Shape& shortcut);

/// Of the whole list, whose outputs are the scores of the classes.
void check_scores(const std::vector<LayerSettings>& settings, const Shape& output,
                  std::size_t parameter_count);

}  // namespace ako
