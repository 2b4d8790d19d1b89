#include "models/relu.h"

#include "models/eigen_maps.h"
#include "models/workers.h"

namespace ako {

void Relu::forward(const ForwardPass& pass) {
    share_out(pass.input.size(), [&](std::size_t, std::size_t first, std::size_t end) {
        const auto input = as_array(pass.input.subspan(first, end - first));
        // Written so that a NaN stays one (NaN < 0 is false): it must reach the loss and be
        // refused. Eigen leaves open what its max makes of one.
        as_array(pass.output.subspan(first, end - first)) = (input < 0.0f).select(0.0f, input);
    });
}

void Relu::backward(const BackwardPass& pass) {
    if (pass.input_gradient.empty()) return;
    // A function of two numbers, which are read in any case: a select would read the gradient
    // behind a branch, and take ten times as long and more.
    const auto passed_on = [](float output, float gradient) {
        return output > 0.0f ? gradient : 0.0f;
    };
    share_out(pass.output.size(), [&](std::size_t, std::size_t first, std::size_t end) {
        as_array(pass.input_gradient.subspan(first, end - first)) =
            as_array(pass.output.subspan(first, end - first))
                .binaryExpr(as_array(pass.output_gradient.subspan(first, end - first)), passed_on);
    });
}

}  // namespace ako
