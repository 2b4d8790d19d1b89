// A residual sum (He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", 2015):
//
//   output = body(input) + shortcut(input)
//
// Both are chains of layers whose outputs have one shape; without a shortcut the input itself is
// added. The body's parameters come first in the flat vector, then the shortcut's: they are asked
// for in this order, and their gradients are complete in the reverse.
#pragma once

#include <optional>
#include <vector>

#include "models/layer_chain.h"

namespace ako {

class Residual final : public Layer {
  public:
    /// `shortcut`: nothing for the input itself, which has the shape `input`.
    Residual(Shape input, LayerChain body, std::optional<LayerChain> shortcut);

    Shape output_shape() const override { return body_.output_shape(); }
    Range parameters() const override;
    std::size_t scratch_bytes(std::size_t threads) const override;
    HeldNumbers held_per_image() const override;
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    const Shape input_;
    LayerChain body_;
    std::optional<LayerChain> shortcut_;
    // The chains' outputs are kept apart from their sum, for a layer may read its output again.
    std::vector<float> body_output_;
    std::vector<float> shortcut_output_;
    std::vector<float> input_gradient_;  ///< what the shortcut says of it, before it is added
};

}  // namespace ako
