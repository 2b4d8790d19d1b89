#include "models/subsample.h"

#include <algorithm>
#include <string>

#include "ako/assert.h"

namespace ako {

Subsample::Subsample(Shape input, std::size_t stride, std::size_t outputs)
    : input_(input),
      stride_(stride),
      output_{(input.height + stride - 1) / stride, (input.width + stride - 1) / stride, outputs} {
    AKO_ASSERT(stride >= 1 && outputs >= input.channels,
               std::to_string(outputs) + " outputs of " + std::to_string(input.channels) +
                   " channels");
}

template <class Visit>
void Subsample::for_each_pixel(std::size_t image_count, Visit visit) const {
    std::size_t output = 0;
    for (std::size_t n = 0; n < image_count; ++n)
        for (std::size_t y = 0; y < input_.height; y += stride_)
            for (std::size_t x = 0; x < input_.width; x += stride_) {
                visit(((n * input_.height + y) * input_.width + x) * input_.channels, output);
                output += output_.channels;
            }
}

void Subsample::forward(const ForwardPass& pass) {
    for_each_pixel(pass.count, [&](std::size_t from, std::size_t to) {
        std::copy_n(&pass.input[from], input_.channels, &pass.output[to]);
        std::fill_n(pass.output.begin() + static_cast<std::ptrdiff_t>(to + input_.channels),
                    output_.channels - input_.channels, 0.0f);
    });
}

void Subsample::backward(const BackwardPass& pass) {
    if (pass.input_gradient.empty()) return;
    std::fill(pass.input_gradient.begin(), pass.input_gradient.end(), 0.0f);
    for_each_pixel(pass.count, [&](std::size_t to, std::size_t from) {
        std::copy_n(&pass.output_gradient[from], input_.channels, &pass.input_gradient[to]);
    });
}

}  // namespace ako
