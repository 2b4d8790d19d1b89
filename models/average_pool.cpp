#include "models/average_pool.h"

#include "models/eigen_maps.h"

namespace ako {

void GlobalAveragePool::forward(const ForwardPass& pass) {
    const std::size_t channels = input_.channels;
    const std::size_t image = input_.element_count();
    for (std::size_t n = 0; n < pass.count; ++n) {
        auto mean = as_array(pass.output.subspan(n * channels, channels));
        mean = as_rows(pass.input.subspan(n * image, image), channels).colwise().mean();
    }
}

void GlobalAveragePool::backward(const BackwardPass& pass) {
    if (pass.input_gradient.empty()) return;
    const std::size_t channels = input_.channels;
    const std::size_t image = input_.element_count();
    const float share = 1.0f / static_cast<float>(input_.height * input_.width);
    for (std::size_t n = 0; n < pass.count; ++n) {
        const auto gradient = as_array(pass.output_gradient.subspan(n * channels, channels));
        auto pixels_of_image = as_rows(pass.input_gradient.subspan(n * image, image), channels);
        pixels_of_image.rowwise() = gradient.transpose();
        pixels_of_image *= share;
    }
}

}  // namespace ako
