#include "models/group_norm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ako/assert.h"
#include "models/eigen_maps.h"
#include "models/vector_loops.h"
#include "models/workers.h"

namespace ako {

GroupNorm::GroupNorm(const std::string& name, Shape input, std::size_t groups,
                     ParameterLayout& layout)
    : input_(input),
      groups_(groups),
      weight_(layout.add(name + ".weight", {input.channels})),
      bias_(layout.add(name + ".bias", {input.channels})) {
    AKO_ASSERT(groups >= 1 && input.channels % groups == 0,
               std::to_string(groups) + " groups of " + std::to_string(input.channels) +
                   " channels");
}

GroupNorm::Work::Work(std::size_t channels)
    : mean(channels),
      inverse(channels),
      factor(channels),
      sums(channels),
      products(channels),
      weight_gradient(channels),
      bias_gradient(channels) {}

void GroupNorm::make_works() {
    works_.assign(thread_count(), Work(input_.channels));
}

void GroupNorm::sum_in_groups(std::vector<float>& values) const {
    const auto size = static_cast<std::ptrdiff_t>(input_.channels / groups_);
    for (auto first = values.begin(); first != values.end(); first += size)
        std::fill_n(first, size, std::accumulate(first, first + size, 0.0f));
}

void GroupNorm::measure(const float* image, Work& work) const {
    const NormalisedImage view{pixels(), input_.channels, image, work.mean.data()};
    vector_loops().norm.sum_pixels(view, work.mean.data());
    sum_in_groups(work.mean);
    as_array(std::span(work.mean)) /= members();
    // In a second pass: sums of squares less a square of a sum would cancel out.
    vector_loops().norm.sum_squares(view, work.inverse.data());
    sum_in_groups(work.inverse);
    for (float& value : work.inverse) value = 1.0f / std::sqrt(value / members() + epsilon);
}

void GroupNorm::forward(const ForwardPass& pass) {
    pass.need(parameters());
    const std::size_t image = input_.element_count();
    const auto weight = pass.parameters.subspan(weight_.first, weight_.count);
    const auto bias = pass.parameters.subspan(bias_.first, bias_.count);
    make_works();
    share_out(pass.count, [&](std::size_t share, std::size_t first, std::size_t end) {
        for (std::size_t n = first; n < end; ++n)
            forward_image(&pass.input[n * image], weight, bias, &pass.output[n * image],
                          works_[share]);
    });
}

void GroupNorm::forward_image(const float* image, std::span<const float> weight,
                              std::span<const float> bias, float* output, Work& work) const {
    measure(image, work);
    as_array(std::span(work.factor)) = as_array(std::span(work.inverse)) * as_array(weight);
    vector_loops().norm.scale({pixels(), input_.channels, image, work.mean.data()},
                              work.factor.data(), bias.data(), output);
}

void GroupNorm::backward(const BackwardPass& pass) {
    const std::size_t image = input_.element_count();
    const bool wanted = !pass.input_gradient.empty();
    const auto weight = pass.parameters.subspan(weight_.first, weight_.count);
    make_works();
    share_out(pass.count, [&](std::size_t share, std::size_t first, std::size_t end) {
        for (std::size_t n = first; n < end; ++n)
            backward_image(&pass.input[n * image], weight, &pass.output_gradient[n * image],
                           wanted ? &pass.input_gradient[n * image] : nullptr, works_[share]);
    });
    auto weight_gradient = as_array(pass.parameter_gradient.subspan(weight_.first, weight_.count));
    auto bias_gradient = as_array(pass.parameter_gradient.subspan(bias_.first, bias_.count));
    weight_gradient.setZero();
    bias_gradient.setZero();
    for (Work& work : works_) {
        weight_gradient += as_array(std::span(work.weight_gradient));
        bias_gradient += as_array(std::span(work.bias_gradient));
    }
    pass.complete(parameters());
}

void GroupNorm::backward_image(const float* image, std::span<const float> weight,
                               const float* output_gradient, float* input_gradient,
                               Work& work) const {
    measure(image, work);
    const NormalisedImage view{pixels(), input_.channels, image, work.mean.data()};
    vector_loops().norm.sum_gradients(view, output_gradient, work.sums.data(),
                                      work.products.data());
    auto sums = as_array(std::span(work.sums));
    auto products = as_array(std::span(work.products));
    const auto inverse = as_array(std::span(work.inverse));
    products *= inverse;
    as_array(std::span(work.bias_gradient)) += sums;
    as_array(std::span(work.weight_gradient)) += products;
    if (input_gradient == nullptr) return;
    sums *= as_array(weight);
    products *= as_array(weight);
    sum_in_groups(work.sums);
    sum_in_groups(work.products);
    // inverse * (given * weight - mean of it - normalised input * mean of the product)
    as_array(std::span(work.factor)) = inverse * as_array(weight);
    sums *= inverse / members();
    products *= inverse * inverse / members();
    vector_loops().norm.write_gradients(view, output_gradient, work.factor.data(),
                                        work.products.data(), work.sums.data(), input_gradient);
}

}  // namespace ako
