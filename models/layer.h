// A layer: a function of a batch of activations and of its run of the flat parameter vector, with
// its derivative. A layer holds no parameters; it views those it is handed. One thread at a time.
//
// Activations are channels-last, [count x height x width x channels]: what a convolution window
// or a pooling window reads of one row is contiguous then, and inner loops run over channels.
// Parameters keep PyTorch's order ([out, in, height, width] and [out, in]), so that files load
// there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ako/network.h"
#include "ako/types.h"

namespace ako {

/// What a forward pass reads and writes.
struct ForwardPass {
    std::size_t count;                  ///< images
    std::span<const float> parameters;  ///< the whole flat vector
    std::span<const float> input;       ///< [count x input elements]
    std::span<float> output;            ///< [count x output elements]
    const AwaitRange* await = nullptr;  ///< whom a layer asks first; null or empty: nobody
    /// In training: what is drawn at random in this pass follows from it. Nothing: evaluation.
    std::optional<std::uint64_t> chance = {};

    /// A layer calls it before it reads these parameters, which may still be under way. It may ask
    /// for pieces, in the order in which its backward pass completes their gradients.
    void need(Range run) const {
        if (await && *await) (*await)(run);
    }
};

/// What a backward pass reads and writes. "Gradient" is the derivative of the batch's mean loss.
struct BackwardPass {
    std::size_t count;
    std::span<const float> parameters;
    std::span<const float> input;            ///< as in the forward pass before
    std::span<const float> output;           ///< as in the forward pass before
    std::span<const float> output_gradient;  ///< [count x output elements]
    std::span<float> parameter_gradient;     ///< flat; the layer overwrites its own run only
    std::span<float> input_gradient;         ///< [count x input elements]; empty: not wanted
    const RangeReady* ready = nullptr;       ///< whom a layer tells; null or empty: nobody
    std::optional<std::uint64_t> chance = {};  ///< as in the forward pass before

    /// A layer calls it once for each piece of its run of `parameter_gradient`, as soon as that is
    /// complete and it reads the piece's parameters no more, for they may change now. What it still
    /// computes overlaps with the exchange of the piece.
    void complete(Range run) const {
        if (ready && *ready) (*ready)(run);
    }
};

/// Numbers of one image that a layer holds besides what it is handed.
struct HeldNumbers {
    std::size_t always = 0;    ///< from a forward pass on
    std::size_t backward = 0;  ///< in training only
};

class Layer {
  public:
    virtual ~Layer() = default;

    virtual Shape output_shape() const = 0;

    /// Its run of the flat vector; count 0 for a layer without parameters.
    virtual Range parameters() const { return {}; }

    /// Memory of its own, whatever the batch, that is held from the first batch on with so many
    /// threads.
    virtual std::size_t scratch_bytes(std::size_t threads) const {
        static_cast<void>(threads);
        return 0;
    }

    /// Memory of its own that grows with the batch: what layers inside it hand on.
    virtual HeldNumbers held_per_image() const { return {}; }

    virtual void forward(const ForwardPass& pass) = 0;
    virtual void backward(const BackwardPass& pass) = 0;
};

}  // namespace ako
