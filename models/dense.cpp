#include "models/dense.h"

#include <algorithm>

#include "models/biases.h"
#include "models/blas.h"

namespace ako {

Dense::Dense(const std::string& name, Shape input, std::size_t outputs, ParameterLayout& layout)
    : inputs_(input.element_count()),
      outputs_(outputs),
      weight_(layout.add(name + ".weight", {outputs, inputs_})),
      bias_(layout.add(name + ".bias", {outputs})) {}

template <class Visit>
void Dense::for_each_piece(Visit visit) const {
    constexpr std::size_t multiple = 16;  // of floats that go through the widest registers at once
    const std::size_t fit = piece_bytes / sizeof(float) / inputs_;
    const std::size_t rows = std::max(multiple, fit / multiple * multiple);
    for (std::size_t first = 0; first < outputs_; first += rows) {
        const std::size_t count = std::min(rows, outputs_ - first);
        visit(first, count, Range{weight_.first + first * inputs_, count * inputs_});
    }
}

void Dense::forward(const ForwardPass& pass) {
    const Matrix input{pass.input.data(), pass.count, inputs_};
    for_each_piece([&](std::size_t first, std::size_t count, Range run) {
        pass.need(run);
        const Matrix weight{&pass.parameters[run.first], count, inputs_};
        multiply(input, weight.transpose(), &pass.output[first], Product::overwrite, outputs_);
    });
    pass.need(bias_);
    add_to_rows(pass.parameters.subspan(bias_.first, bias_.count), pass.output);
}

void Dense::backward(const BackwardPass& pass) {
    const Matrix input{pass.input.data(), pass.count, inputs_};
    const Matrix output_gradient{pass.output_gradient.data(), pass.count, outputs_};
    const auto bias_gradient = pass.parameter_gradient.subspan(bias_.first, bias_.count);
    std::fill(bias_gradient.begin(), bias_gradient.end(), 0.0f);
    add_row_sums(pass.output_gradient, bias_gradient);
    pass.complete(bias_);
    for_each_piece([&](std::size_t first, std::size_t count, Range run) {
        const Matrix piece_gradient = output_gradient.columns_from(first, count);
        const Matrix weight{&pass.parameters[run.first], count, inputs_};
        multiply(piece_gradient.transpose(), input, &pass.parameter_gradient[run.first],
                 Product::overwrite);
        if (!pass.input_gradient.empty())
            multiply(piece_gradient, weight, pass.input_gradient.data(),
                     first == 0 ? Product::overwrite : Product::accumulate);
        pass.complete(run);
    });
}

}  // namespace ako
