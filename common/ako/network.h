// The seam to a neural network: a function of one flat float32 vector and a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ako/types.h"

namespace ako {

/// A mini-batch. `images` is row-major, [count x image_elements], scaled and normalised; `labels`
/// holds one class index per sample. Valid until the source that gave it is asked for the next.
/// Both are empty for a network that needs no data (`synthetic`); `count` is set all the same.
struct Batch {
    std::span<const float> images;
    std::span<const std::uint8_t> labels;
    std::size_t count = 0;

    /// So many samples of it from `first` on, 1 or more.
    Batch part(std::size_t first, std::size_t samples_of_part) const {
        if (images.empty()) return {{}, {}, samples_of_part};
        const std::size_t elements = images.size() / count;
        return {images.subspan(first * elements, samples_of_part * elements),
                labels.subspan(first, samples_of_part), samples_of_part};
    }
};

/// What evaluating some samples gave; sums, so that slices can be added up.
struct Evaluation {
    double loss_sum = 0;
    std::size_t correct = 0;
    std::size_t count = 0;
};

/// Norms of the gradients of a batch and of its parts, from which their noise follows
/// (src/training/gradient_noise.h).
struct GradientNorms {
    double of_part = 0;          ///< squared, mean over the parts
    double samples_of_part = 0;  ///< harmonic mean: noise falls as 1 / samples
    double of_whole = 0;         ///< squared
    double samples = 0;
};

/// One named tensor of the flat vector, for files and for `ako check`.
struct Tensor {
    std::string name;                ///< "conv1.weight"
    std::vector<std::size_t> shape;  ///< row-major
    std::size_t first = 0;           ///< offset of its first element in the flat vector
    std::size_t element_count() const {
        std::size_t count = 1;
        for (const std::size_t extent : shape) count *= extent;
        return count;
    }
};

/// The runs of the flat vector that belong to one layer each: neighbouring tensors whose names are
/// the same before their last '.'. First layer first, without gaps.
inline std::vector<Range> layer_ranges(const std::vector<Tensor>& tensors) {
    std::vector<Range> layers;
    std::string newest;
    for (const Tensor& tensor : tensors) {
        const std::string layer = tensor.name.substr(0, tensor.name.rfind('.'));
        if (layers.empty() || layer != newest) layers.push_back({tensor.first, 0});
        layers.back().count += tensor.element_count();
        newest = layer;
    }
    return layers;
}

/// Called before a layer reads its parameters.
using AwaitRange = std::function<void(Range)>;
/// Called when the gradient of so many parameters is finished and they are not read any more in
/// this round: whoever is called may change them.
using RangeReady = std::function<void(Range)>;

/// A network with all its parameters in one flat vector, first layer first. Holds only scratch
/// memory and no parameters. One thread at a time.
class Network {
  public:
    virtual ~Network() = default;

    virtual std::size_t parameter_count() const = 0;

    /// The tensors in the order of the flat vector, without gaps.
    virtual const std::vector<Tensor>& tensors() const = 0;

    /// Fills `parameters` [parameter_count] from the seed: the same bits on every machine.
    virtual void initialize(std::uint64_t seed, std::span<float> parameters) const = 0;

    /// Mean loss over the batch; writes d(mean loss)/d(parameters) to `gradient` [parameter_count].
    virtual float gradient(const Batch& batch, std::span<const float> parameters,
                           std::span<float> gradient, const AwaitRange& await,
                           const RangeReady& ready) = 0;

    /// Goes on as if so many gradients of batches of so many samples had been computed, where they
    /// do not follow from parameters and batches alone.
    virtual void skip(std::uint64_t gradients, std::size_t samples) {
        static_cast<void>(gradients), static_cast<void>(samples);
    }

    /// Norms of the newest gradient; nothing where it was not computed in parts.
    virtual std::optional<GradientNorms> norms() const { return std::nullopt; }

    /// Loss and correct answers over the batch, forward pass only.
    virtual Evaluation evaluate(const Batch& batch, std::span<const float> parameters) = 0;

    /// Forward pass only: [batch.count x classes], the highest of a sample is the answer; valid
    /// until the next call. Empty for a network without classes.
    virtual std::span<const float> scores(const Batch&, std::span<const float>) { return {}; }
};

/// Where mini-batches come from: a peer's data shard in its own seeded order, endlessly.
class BatchSource {
  public:
    virtual ~BatchSource() = default;
    virtual Batch next(std::size_t count) = 0;
    /// Goes on as if the next `samples` of the order had been drawn.
    virtual void skip(std::uint64_t samples) = 0;
};

}  // namespace ako
