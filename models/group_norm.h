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
    std::size_t scratch_bytes(std::size_t threads) const override {
        return threads * numbers_per_channel * input_.channels * sizeof(float);
    }
    void forward(const ForwardPass& pass) override;
    void backward(const BackwardPass& pass) override;

  private:
    static constexpr std::size_t numbers_per_channel = 7;  // those of Work

    /// What one thread keeps, each [channels]: of all its images the gradients of the parameters,
    /// of the one at hand the rest.
    struct Work {
        explicit Work(std::size_t channels);

        std::vector<float> mean;     ///< of the channel's group
        std::vector<float> inverse;  ///< 1 / deviation
        std::vector<float> factor;   ///< of the input, or of the gradient
        std::vector<float> sums;     ///< of the gradient
        std::vector<float> products;  ///< of the gradient with the normalised input
        std::vector<float> weight_gradient;
        std::vector<float> bias_gradient;
    };

    std::size_t pixels() const { return input_.height * input_.width; }
    float members() const {
        const std::size_t count = input_.element_count() / groups_;
        return static_cast<float>(count);
    }
    /// One for each thread, with gradients of 0.
    void make_works();
    /// Writes the mean and 1 / deviation of each channel's group in this image.
    void measure(const float* image, Work& work) const;
    /// Brings `values` [channels] to the sum over the channels of the group, at each of them.
    void sum_in_groups(std::vector<float>& values) const;
    void forward_image(const float* image, std::span<const float> weight,
                       std::span<const float> bias, float* output, Work& work) const;
    /// `input_gradient`: null where it is not wanted.
    void backward_image(const float* image, std::span<const float> weight,
                        const float* output_gradient, float* input_gradient, Work& work) const;

    const Shape input_;
    const std::size_t groups_;
    const Range weight_;
    const Range bias_;
    std::vector<Work> works_;
};

}  // namespace ako
