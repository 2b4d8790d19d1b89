// A chain of layers, each fed by the one before, with the memory between them: a whole network, and
// each of the two ways through a residual sum. Holds memory for the largest batch seen, and no
// parameters. One thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "models/layer.h"
#include "models/room.h"

namespace ako {

class LayerChain {
  public:
    /// At least one layer, in the order of their parameters, which follow one another.
    explicit LayerChain(std::vector<std::unique_ptr<Layer>> layers);

    Shape output_shape() const { return layers_.back()->output_shape(); }
    /// The parameters of all layers together; count 0 if no layer has any.
    Range parameters() const { return parameters_; }
    /// As of a layer, see there.
    std::size_t scratch_bytes(std::size_t threads) const;
    HeldNumbers held_per_image() const;

    /// Asks for parameters layer by layer from the first.
    void forward(const ForwardPass& pass);
    /// Completes them layer by layer from the last. What lies before the first layer with
    /// parameters is left out where nobody wants the gradient of the input.
    void backward(const BackwardPass& pass);

  private:
    std::size_t output_elements(std::size_t layer) const {
        return layers_[layer]->output_shape().element_count();
    }
    /// Numbers per image; the output of the last layer does not count, for it is the chain's.
    std::size_t largest_inner_output() const;
    std::span<float> inner_output(std::size_t layer, std::size_t count) {
        return room_of(outputs_[layer], count * output_elements(layer));
    }

    std::vector<std::unique_ptr<Layer>> layers_;
    Range parameters_;
    std::size_t first_to_learn_;               ///< the first layer with parameters, or their number
    std::vector<std::vector<float>> outputs_;  ///< of each layer but the last
    /// Gradients of the inner outputs; neighbours take turns, for two are in use at a time.
    std::vector<float> gradients_[2];
};

}  // namespace ako
