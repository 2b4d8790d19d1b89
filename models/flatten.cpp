#include "models/flatten.h"

namespace ako {

namespace {

/// to[c, r] = from[r, c] for each of `count` matrices [rows x columns].
void transpose(std::size_t count, std::size_t rows, std::size_t columns, const float* from,
               float* to) {
    for (std::size_t n = 0; n < count; ++n, from += rows * columns, to += rows * columns)
        for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t r = 0; r < rows; ++r) to[c * rows + r] = from[r * columns + c];
}

}  // namespace

void Flatten::forward(const ForwardPass& pass) {
    transpose(pass.count, input_.height * input_.width, input_.channels, pass.input.data(),
              pass.output.data());
}

void Flatten::backward(const BackwardPass& pass) {
    if (pass.input_gradient.empty()) return;
    transpose(pass.count, input_.channels, input_.height * input_.width,
              pass.output_gradient.data(), pass.input_gradient.data());
}

}  // namespace ako
