// The networks a cluster file can name, each a list of layers; and the one of its own list.
//
//   mlp          784 - 128 - ReLU - 10; 101,770 parameters
//   lenet        conv 20@5x5 - pool - ReLU - conv 50@5x5 - pool - ReLU - dense 500 - ReLU -
//                dense 10; 431,080 parameters
//   cifar-quick  conv 32@5x5 - pool - ReLU - conv 32@5x5 - ReLU - pool - conv 64@5x5 - ReLU -
//                pool - dense 64 - dense 10; 145,578 parameters
//   resnet20     conv 16@3x3 - nine residuals of two conv @3x3 with 16, 32 and 64 channels - global
//                average pool - dense 10; group normalisation; 270,410 parameters
//   synthetic    no layers: see synthetic.h
#pragma once

#include <memory>

#include "ako/network.h"
#include "models/dataset.h"
#include "models/layer_list.h"
#include "models/model_settings.h"

namespace ako {

/// The same network as a list of layers: what a name stands for. Not of `synthetic` and
/// `external`.
ModelSettings written_out(const ModelSettings& settings);

/// `noise_seed` (of `synthetic` and of dropout) should differ between peers, or all see the same
/// noise.
/// Throws StartupError where the layers do not fit together, and for `external`.
std::unique_ptr<Network> make_network(const ModelSettings& settings, std::uint64_t noise_seed = 0);

/// What the network is to be fed with. Not of `synthetic`.
DataShape data_shape(const ModelSettings& settings);

/// Bytes of the layers' outputs, of so many samples at once in training and in evaluation, and of
/// their gradients; 0 of `synthetic`.
std::size_t activation_bytes(const ModelSettings& settings, std::size_t batch_count,
                             std::size_t evaluated_count);

/// Bytes that the layers hold besides with so many threads, whatever the batch; 0 of `synthetic`.
std::size_t scratch_bytes(const ModelSettings& settings, std::size_t threads);

}  // namespace ako
