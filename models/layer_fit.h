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

/// Checks a layer before it is made. Throws StartupError if its input is too large, or if its
/// windows, groups or channels do not fit that input.
void check_fits(const LayerSettings& layer, const Shape& input);

/// Throws StartupError if what a residual's layers give and what is added to it differ in shape.
void check_sum(const LayerSettings& layer, const Shape& input, const Shape& body,
               const Shape& shortcut);

/// Checks the end of a list. Throws StartupError if it does not give the scores of 2 to
/// class_count_max classes, or has no parameters, or a last layer that spoils the scores.
void check_scores(const std::vector<LayerSettings>& settings, const Shape& output,
                  std::size_t parameter_count);

}  // namespace ako
