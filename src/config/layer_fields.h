// The list of layers of the cluster file, `model.input` and `model.layers`:
//
//   model:
//     input: [28, 28, 1]              # height, width, channels
//     layers:
//       - conv: {outputs: 20, window: 5, stride: 1, padding: 0}   # stride and padding: as here
//       - max_pool: {window: 2, stride: 2}                        # stride: that of the window
//       - group_norm: {groups: 4}     # or `group_norm: 4`
//       - relu
//       - residual:                   # or a list alone, `residual: [...]`, without a shortcut
//           layers:
//             - conv: {outputs: 20, window: 3, padding: 1}
//           shortcut:                 # nothing if left out: the input itself
//             - subsample: {stride: 1, outputs: 20}
//       - global_average_pool
//       - flatten
//       - dropout: {rate: 0.5}        # or `dropout: 0.5`
//       - dense: {outputs: 10}        # or `dense: 10`; and `max_pool: 2`
//
// What stands here is what each layer takes; whether the layers fit together is for models/ to say.
#pragma once

#include <string>
#include <vector>

#include "src/config/fields.h"

namespace ako {

Field input_shape_field();
Field layers_field();

/// A line of the list.
struct LayerLine {
    std::string text;    ///< "    - conv: {outputs: 20, window: 5, ..}", with all its keys
    bool layer = false;  ///< or it is a key of one, with layers of its own below it
};
/// The list as it stands below `layers:` in the group `model`.
std::vector<LayerLine> layer_lines(const std::vector<LayerSettings>& layers);
/// A line for every kind of layer: an example, and its keys with their ranges, in brackets those
/// that may be left out.
std::vector<std::string> layer_forms_text();
/// "[28, 28, 1]".
std::string shape_text(const Shape& shape);

}  // namespace ako
