#include "models/relu.h"

#include "models/eigen_maps.h"

namespace ako {

void Relu::forward(const ForwardPass& pass) {
    const auto input = as_array(pass.input);
    // Written so that a NaN stays one (NaN < 0 is false): it must reach the loss and be refused.
    // Eigen leaves open what its max makes of one.
    as_array(pass.output) = (input < 0.0f).select(0.0f, input);
}

void Relu::backward(const BackwardPass& pass) {
    if (pass.input_gradient.empty()) return;
    // A function of two numbers, which are read in any case: a select would read the gradient
    // behind a branch, and take ten times as long and more.
    const auto passed_on = [](float output, float gradient) {
        return output > 0.0f ? gradient : 0.0f;
    };
    as_array(pass.input_gradient) =
        as_array(pass.output).binaryExpr(as_array(pass.output_gradient), passed_on);
}

}  // namespace ako
