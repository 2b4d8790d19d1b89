#include "models/group_norm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ako/assert.h"
#include "models/eigen_maps.h"

namespace ako {

GroupNorm::GroupNorm(const std::string& name, Shape input, std::size_t groups,
                     ParameterLayout& layout)
    : input_(input),
      groups_(groups),
      weight_(layout.add(name + ".weight", {input.channels})),
      bias_(layout.add(name + ".bias", {input.channels})),
      mean_(input.channels),
      inverse_(input.channels),
      sums_(input.channels),
      products_(input.channels) {
    AKO_ASSERT(groups >= 1 && input.channels % groups == 0,
               std::to_string(groups) + " groups of " + std::to_string(input.channels) +
                   " channels");
}

void GroupNorm::sum_in_groups(std::vector<float>& values) const {
    const auto size = static_cast<std::ptrdiff_t>(input_.channels / groups_);
    for (auto first = values.begin(); first != values.end(); first += size)
        std::fill_n(first, size, std::accumulate(first, first + size, 0.0f));
}

void GroupNorm::measure(std::span<const float> image) {
    const auto pixels = as_rows(image, input_.channels);
    const float members = static_cast<float>(image.size() / groups_);
    as_array(std::span(mean_)) = pixels.colwise().sum();
    sum_in_groups(mean_);
    as_array(std::span(mean_)) /= members;
    // In a second pass: sums of squares less a square of a sum would cancel out.
    const auto mean = as_array(std::span(mean_)).transpose();
    as_array(std::span(inverse_)) = (pixels.rowwise() - mean).square().colwise().sum();
    sum_in_groups(inverse_);
    for (float& value : inverse_) value = 1.0f / std::sqrt(value / members + epsilon);
}

void GroupNorm::forward(const ForwardPass& pass) {
    pass.need(parameters());
    const std::size_t channels = input_.channels;
    const std::size_t image = input_.element_count();
    const auto weight = as_array(pass.parameters.subspan(weight_.first, channels));
    const auto bias = as_array(pass.parameters.subspan(bias_.first, channels));
    for (std::size_t n = 0; n < pass.count; ++n) {
        const auto in = pass.input.subspan(n * image, image);
        measure(in);
        auto factor = as_array(std::span(sums_));
        factor = as_array(std::span(inverse_)) * weight;
        const auto mean = as_array(std::span(mean_)).transpose();
        as_rows(pass.output.subspan(n * image, image), channels) =
            ((as_rows(in, channels).rowwise() - mean).rowwise() * factor.transpose()).rowwise() +
            bias.transpose();
    }
}

void GroupNorm::backward(const BackwardPass& pass) {
    const std::size_t channels = input_.channels;
    const std::size_t image = input_.element_count();
    const auto weight = as_array(pass.parameters.subspan(weight_.first, channels));
    auto weight_gradient = as_array(pass.parameter_gradient.subspan(weight_.first, channels));
    auto bias_gradient = as_array(pass.parameter_gradient.subspan(bias_.first, channels));
    weight_gradient.setZero();
    bias_gradient.setZero();
    const float members = static_cast<float>(image / groups_);
    for (std::size_t n = 0; n < pass.count; ++n) {
        const auto in = pass.input.subspan(n * image, image);
        const auto pixels = as_rows(in, channels);
        const auto given = as_rows(pass.output_gradient.subspan(n * image, image), channels);
        measure(in);
        const auto mean = as_array(std::span(mean_)).transpose();
        const auto inverse = as_array(std::span(inverse_)).transpose();
        // Of the gradient, and of its product with the normalised input.
        auto sum = as_array(std::span(sums_));
        auto product = as_array(std::span(products_));
        sum = given.colwise().sum();
        product = (given * (pixels.rowwise() - mean)).colwise().sum() * inverse;
        bias_gradient += sum;
        weight_gradient += product;
        if (pass.input_gradient.empty()) continue;
        sum *= weight;
        product *= weight;
        sum_in_groups(sums_);
        sum_in_groups(products_);
        sum /= members;
        product *= inverse.transpose() / members;
        // inverse * (given * weight - mean of it - normalised input * mean of the product)
        as_rows(pass.input_gradient.subspan(n * image, image), channels) =
            (((given.rowwise() * weight.transpose()).rowwise() - sum.transpose()) -
             (pixels.rowwise() - mean).rowwise() * product.transpose())
                .rowwise() *
            inverse;
    }
    pass.complete(parameters());
}

}  // namespace ako
