#include "models/relu.h"

namespace ako {

void Relu::forward(const ForwardPass& pass) {
    const float* __restrict input = pass.input.data();
    float* __restrict output = pass.output.data();
    const std::size_t element_count = pass.count * shape_.element_count();
    // Written so that a NaN stays one (NaN < 0 is false): it must reach the loss and be refused.
    for (std::size_t k = 0; k < element_count; ++k) output[k] = input[k] < 0.0f ? 0.0f : input[k];
}

void Relu::backward(const BackwardPass& pass) {
    if (pass.input_gradient.empty()) return;
    const float* __restrict output = pass.output.data();
    const float* __restrict output_gradient = pass.output_gradient.data();
    float* __restrict input_gradient = pass.input_gradient.data();
    const std::size_t element_count = pass.count * shape_.element_count();
    for (std::size_t k = 0; k < element_count; ++k) {
        const float passed_on = output_gradient[k];  // read in any case: a loop without branches
        input_gradient[k] = output[k] > 0.0f ? passed_on : 0.0f;
    }
}

}  // namespace ako
