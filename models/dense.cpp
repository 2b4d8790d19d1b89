#include "models/dense.h"

#include "models/blas.h"
#include "models/rows.h"

namespace ako {

Dense::Dense(const std::string& name, Shape input, std::size_t outputs, ParameterLayout& layout)
    : inputs_(input.element_count()),
      outputs_(outputs),
      weight_(layout.add(name + ".weight", {outputs, inputs_})),
      bias_(layout.add(name + ".bias", {outputs})) {}

void Dense::forward(const ForwardPass& pass) {
    const Matrix input{pass.input.data(), pass.count, inputs_};
    const Matrix weight{&pass.parameters[weight_.first], outputs_, inputs_};
    fill_rows(pass.parameters.subspan(bias_.first, bias_.count), pass.count, pass.output.data());
    multiply(input, weight.transpose(), pass.output.data(), Product::accumulate);
}

void Dense::backward(const BackwardPass& pass) {
    const Matrix input{pass.input.data(), pass.count, inputs_};
    const Matrix weight{&pass.parameters[weight_.first], outputs_, inputs_};
    const Matrix output_gradient{pass.output_gradient.data(), pass.count, outputs_};
    multiply(output_gradient.transpose(), input, &pass.parameter_gradient[weight_.first],
             Product::overwrite);
    const auto bias_gradient = pass.parameter_gradient.subspan(bias_.first, bias_.count);
    std::fill(bias_gradient.begin(), bias_gradient.end(), 0.0f);
    add_row_sums(pass.output_gradient.data(), pass.count, bias_gradient);
    if (!pass.input_gradient.empty())
        multiply(output_gradient, weight, pass.input_gradient.data(), Product::overwrite);
}

}  // namespace ako
