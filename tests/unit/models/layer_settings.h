// Settings of layers, as short as in a cluster file. Values.
#pragma once

#include <utility>
#include <vector>

#include "models/model_settings.h"

namespace ako::test {

inline const LayerSettings relu{LayerKind::relu}, flatten{LayerKind::flatten};

inline LayerSettings conv(std::size_t outputs, std::size_t window, std::size_t stride = 1,
                          std::size_t padding = 0, PaddingMode mode = PaddingMode::zeros) {
    return {LayerKind::conv, outputs, window, stride, padding, mode};
}
inline LayerSettings max_pool(std::size_t window, std::size_t stride) {
    return {LayerKind::max_pool, 0, window, stride};
}
inline LayerSettings dense(std::size_t outputs) { return {LayerKind::dense, outputs}; }
inline LayerSettings residual(std::vector<LayerSettings> layers,
                              std::vector<LayerSettings> shortcut = {}) {
    LayerSettings layer{LayerKind::residual};
    layer.layers = std::move(layers);
    layer.shortcut = std::move(shortcut);
    return layer;
}
inline LayerSettings group_norm(std::size_t groups) {
    LayerSettings layer{LayerKind::group_norm};
    layer.groups = groups;
    return layer;
}

}  // namespace ako::test
