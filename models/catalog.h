// The networks a cluster file can name.
//
//   mlp        784 - 128 - ReLU - 10                                               101,770
//   parameters lenet      conv 20@5x5 - pool - ReLU - conv 50@5x5 - pool - ReLU - dense 500 - ReLU
//   - dense 10
//                                                                                  431,080
//                                                                                  parameters
//   synthetic  see synthetic.h
#pragma once

#include <memory>

#include "ako/network.h"
#include "ako/settings.h"
#include "models/dataset.h"
#include "models/layer.h"

namespace ako {

/// What `mlp` and `lenet` are fed with: MNIST's images, ten classes.
inline constexpr Shape image_shape{28, 28, 1};
inline constexpr std::size_t class_count = 10;

/// Does this network learn from a data set?
inline bool needs_data(ModelKind kind) { return kind != ModelKind::synthetic; }

/// `noise_seed` (of `synthetic` only) should differ between peers, or all see the same noise.
std::unique_ptr<Network> make_network(const ModelSettings& settings, std::uint64_t noise_seed = 0);

/// Throws StartupError, naming `path`, where the images of the data set are not of `image_shape`.
void check_fits(const Dataset& dataset, const std::string& path);

}  // namespace ako
