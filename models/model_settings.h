// What is trained, and on what data: the keys `model` and `data` of the cluster file as plain
// structs. Values; any thread.
#pragma once

#include <string>
#include <vector>

#include "ako/types.h"

namespace ako {

/// `layers`: the list in the file; `external`: a program that uses Ako as a library brings it; the
/// others are known by their names.
enum class ModelKind { layers, mlp, lenet, cifar_quick, resnet20, synthetic, external };
/// Does this network learn from a data set that `data` names?
inline bool needs_data(ModelKind kind) {
    return kind != ModelKind::synthetic && kind != ModelKind::external;
}
enum class LayerKind {
    conv,
    max_pool,
    global_average_pool,
    group_norm,
    relu,
    residual,
    subsample,
    dropout,
    flatten,
    dense
};
/// What a convolution finds around the image: zeros, the nearest pixel of its edge, or the image
/// mirrored at the pixels of its edge.
enum class PaddingMode { zeros, replicate, reflect };
enum class DataFormat { idx, cifar10, npy };
enum class Sharding { disjoint, shuffled, elastic, own };

/// Where something stands in the cluster file ("file:line:column"), for complaints. It says nothing
/// of what stands there, so any two are equal.
struct SourcePlace {
    std::string text;

    bool operator==(const SourcePlace&) const { return true; }
};

struct LayerSettings {
    LayerKind kind = LayerKind::relu;
    std::size_t outputs = 0;  ///< conv, dense, subsample
    std::size_t window = 0;   ///< conv, max_pool: side of the square
    std::size_t stride = 1;   ///< conv, max_pool, subsample
    std::size_t padding = 0;  ///< conv: pixels added on each side of the image
    PaddingMode padding_mode = PaddingMode::zeros;  ///< conv
    std::size_t groups = 0;   ///< group_norm: of channels
    double rate = 0;          ///< dropout: the share of values that become 0
    std::vector<LayerSettings> layers = {};    ///< residual: never empty after reading
    std::vector<LayerSettings> shortcut = {};  ///< residual; empty: the input itself
    SourcePlace place = {};

    bool operator==(const LayerSettings&) const = default;
};

struct ModelSettings {
    ModelKind kind = ModelKind::layers;
    // layers only:
    Shape input{0, 0, 0};                    ///< of one image; nothing if there is no list
    std::vector<LayerSettings> layers = {};  ///< never empty after reading
    /// Saved parameters to start from, a safetensors file; empty: from the seed. Absolute after
    /// reading (relative to the cluster file before).
    std::string initial = {};
    // synthetic only:
    std::size_t parameters = 100'000;
    double compute_ms = 10;        ///< how long a gradient takes, per round
    std::size_t samples = 60'000;  ///< size of the data set it pretends to have
    double noise = 0.1;  ///< standard deviation of the noise on each element of a gradient

    bool operator==(const ModelSettings&) const = default;
};

/// What becomes of images of the training set, anew in every pass.
struct AugmentationSettings {
    /// Zeros around the image, on each side, out of which it is cut at random in its old size.
    std::size_t crop = 0;
    bool flip = false;  ///< mirrored left to right, or not, at random

    bool operator==(const AugmentationSettings&) const = default;
};

struct DataSettings {
    DataFormat format = DataFormat::idx;
    std::string path;  ///< folder; absolute after reading (relative to the cluster file before)
    // One number for all channels, or one per channel; never empty after reading.
    std::vector<double> mean;
    std::vector<double> deviation;
    Sharding sharding = Sharding::disjoint;
    AugmentationSettings augmentation = {};
    double validation = 0;  ///< share of the training set that takes the test set's place
    double subset = 1;      ///< share of what is left of it that is trained on

    bool operator==(const DataSettings&) const = default;
};

}  // namespace ako
