// Group normalisation (Wu, He, "Group Normalization", 2018): of each image and group of channels
// the values are brought to mean 0 and variance 1, then scaled and shifted channel by channel. It
// keeps no statistics from batch to batch, unlike batch normalisation: all that it learns is in the
// flat vector, and one image is treated as it is in any batch.
#pragma once

#include <string>
#include <vector>

#include "models/layer.h"
#include "models/parameter_layout.h"

namespace ako {

/// `groups` divides the channels, and a group has two values or more. Parameters: NAME.weight
/// [channels], the factors, which begin at 1, and NAME.bias [channels].
class GroupNorm final : public Layer {
  public:
    /// Added to the variance, as PyTorch does.
    static constexpr float epsilon = 1e-5f;

    GroupNorm(const std::string& name, Shape input, std::size_t groups, ParameterLayout& layout);

    Shape output_shape() const override { return input_; }
    Range parameters() const override { return {weight_.first, weight_.count + bias_.count}; }
    std::size_t scratch_bytes(std::size_t /*threads*/) const override {
        return 4 * input_.channels * sizeof(float);
    }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    /// Writes the mean and 1 / deviation of each channel's group in this image to `mean_` and
    /// `inverse_`.
    void measure(std::span<const float> image);
    /// Brings `values` [channels] to the sum over the channels of the group, at each of them.
    void sum_in_groups(std::vector<float>& values) const;

    const Shape input_;
    const std::size_t groups_;
    const Range weight_;
    const Range bias_;
    // Of one image, each [channels].
    std::vector<float> mean_;
    std::vector<float> inverse_;   ///< 1 / deviation
    std::vector<float> sums_;      ///< of the gradient; in the forward pass what x is multiplied by
    std::vector<float> products_;  ///< sums of the gradient times the normalised input
};

}  // namespace ako
