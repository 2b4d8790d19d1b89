// A fully connected layer: output = weight input + bias. A large weight is worked through in pieces
// of some rows, in the same order by both passes, so that its exchange begins with the first piece
// of the gradient and the next forward pass goes on with the first that is back.
#pragma once

#include <string>

#include "models/layer.h"
#include "models/parameter_layout.h"

namespace ako {

/// Reads its input as a vector, in the order it lies in memory; see flatten.h for images.
/// Parameters: NAME.weight [outputs x inputs], NAME.bias [outputs].
class Dense final : public Layer {
  public:
    Dense(const std::string& name, Shape input, std::size_t outputs, ParameterLayout& layout);

    Shape output_shape() const override { return {1, 1, outputs_}; }
    Range parameters() const override { return {weight_.first, weight_.count + bias_.count}; }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    /// Large enough that a product of it runs at full speed.
    static constexpr std::size_t piece_bytes = std::size_t{256} * 1024;

    /// Calls visit(first row, row count, their run of the flat vector) for each piece.
    template <class Visit>
    void for_each_piece(Visit visit) const;

    const std::size_t inputs_;
    const std::size_t outputs_;
    const Range weight_;
    const Range bias_;
};

}  // namespace ako
