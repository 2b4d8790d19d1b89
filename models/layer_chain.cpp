#include "models/layer_chain.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ako/assert.h"

namespace ako {

LayerChain::LayerChain(std::vector<std::unique_ptr<Layer>> layers)
    : layers_(std::move(layers)), first_to_learn_(layers_.size()) {
    AKO_ASSERT(!layers_.empty(), "a chain without layers");
    outputs_.resize(layers_.size() - 1);
    for (std::size_t k = 0; k < layers_.size(); ++k) {
        const Range run = layers_[k]->parameters();
        if (run.count == 0) continue;
        if (parameters_.count == 0) {
            parameters_.first = run.first;
            first_to_learn_ = k;
        }
        AKO_ASSERT(run.first == parameters_.first + parameters_.count,
                   "parameters at " + std::to_string(run.first));
        parameters_.count += run.count;
    }
}

std::size_t LayerChain::scratch_bytes(std::size_t threads) const {
    std::size_t sum = 0;
    for (const auto& layer : layers_) sum += layer->scratch_bytes(threads);
    return sum;
}

HeldNumbers LayerChain::held_per_image() const {
    HeldNumbers sum{0, 2 * largest_inner_output()};
    for (std::size_t k = 0; k < layers_.size(); ++k) {
        const HeldNumbers inner = layers_[k]->held_per_image();
        sum.always += inner.always + (k + 1 < layers_.size() ? output_elements(k) : 0);
        sum.backward += inner.backward;
    }
    return sum;
}

std::size_t LayerChain::largest_inner_output() const {
    std::size_t largest = 0;
    for (std::size_t k = 0; k + 1 < layers_.size(); ++k)
        largest = std::max(largest, output_elements(k));
    return largest;
}

void LayerChain::forward(const ForwardPass& pass) {
    ForwardPass step = pass;
    for (std::size_t k = 0; k < layers_.size(); ++k) {
        step.output = k + 1 < layers_.size() ? inner_output(k, pass.count) : pass.output;
        layers_[k]->forward(step);
        step.input = step.output;
    }
}

void LayerChain::backward(const BackwardPass& pass) {
    for (auto& gradients : gradients_) room_of(gradients, pass.count * largest_inner_output());
    const bool all = !pass.input_gradient.empty();
    const std::size_t first = all ? 0 : first_to_learn_;
    BackwardPass step = pass;
    for (std::size_t k = layers_.size(); k-- > first;) {
        step.input = pass.input;
        step.input_gradient = pass.input_gradient;
        if (k > 0) {
            step.input = inner_output(k - 1, pass.count);
            // Nobody asks for the gradient of what lies before.
            step.input_gradient = {};
            if (k > first)
                step.input_gradient = std::span(gradients_[k % 2]).first(step.input.size());
        }
        layers_[k]->backward(step);
        step.output = step.input;
        step.output_gradient = step.input_gradient;
    }
}

}  // namespace ako
