#include "models/sequential.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ako/assert.h"
#include "models/initial.h"
#include "models/softmax_cross_entropy.h"

namespace ako {

Sequential::Sequential(Shape input, std::vector<std::unique_ptr<Layer>> layers,
                       ParameterLayout layout, std::size_t batch_count_max)
    : input_(input),
      layers_(std::move(layers)),
      layout_(std::move(layout)),
      outputs_(layers_.size()) {
    const auto learns = [](const auto& layer) { return layer->parameters().count > 0; };
    const auto first = std::find_if(layers_.begin(), layers_.end(), learns);
    AKO_ASSERT(first != layers_.end(), "a network without parameters");
    first_to_learn_ = static_cast<std::size_t>(first - layers_.begin());
    reserve(batch_count_max);
}

void Sequential::initialize(std::uint64_t seed, std::span<float> parameters) const {
    initialize_parameters(layout_.tensors(), seed, parameters);
}

float Sequential::gradient(const Batch& batch, std::span<const float> parameters,
                           std::span<float> gradient, const AwaitRange& await,
                           const RangeReady& ready) {
    AKO_ASSERT(gradient.size() == parameter_count(),
               "gradient of " + std::to_string(gradient.size()) + " elements");
    const auto scores = forward(batch, parameters, await);
    reserve_gradients(batch.count);
    const std::size_t class_count = output_elements(layers_.size() - 1);
    const Evaluation evaluation = softmax_cross_entropy(scores, batch.labels, class_count);
    auto& score_gradient = gradients_[(layers_.size() - 1) % 2];
    softmax_cross_entropy_gradient(scores, batch.labels, class_count, score_gradient);
    backward(batch, parameters, gradient, ready);
    return static_cast<float>(evaluation.loss_sum / static_cast<double>(batch.count));
}

Evaluation Sequential::evaluate(const Batch& batch, std::span<const float> parameters) {
    const auto scores = forward(batch, parameters, nullptr);
    return softmax_cross_entropy(scores, batch.labels, output_elements(layers_.size() - 1));
}

void Sequential::reserve(std::size_t batch_count) {
    if (batch_count <= batch_count_max_) return;
    batch_count_max_ = batch_count;
    for (std::size_t k = 0; k < layers_.size(); ++k)
        outputs_[k].resize(batch_count * output_elements(k));
}

void Sequential::reserve_gradients(std::size_t batch_count) {
    std::size_t largest = 0;
    for (std::size_t k = 0; k < layers_.size(); ++k)
        largest = std::max(largest, output_elements(k));
    if (gradients_[0].size() >= batch_count * largest) return;
    for (auto& gradients : gradients_) gradients.resize(batch_count * largest);
}

std::span<const float> Sequential::forward(const Batch& batch, std::span<const float> parameters,
                                           const AwaitRange& await) {
    AKO_ASSERT(batch.count >= 1 && batch.labels.size() == batch.count &&
                   batch.images.size() == batch.count * input_.element_count(),
               "batch of " + std::to_string(batch.count) + " with " +
                   std::to_string(batch.images.size()) + " pixels and " +
                   std::to_string(batch.labels.size()) + " labels");
    AKO_ASSERT(parameters.size() == parameter_count(),
               std::to_string(parameters.size()) + " parameters");
    reserve(batch.count);
    std::span<const float> input = batch.images;
    for (std::size_t k = 0; k < layers_.size(); ++k) {
        Layer& layer = *layers_[k];
        const auto output = std::span(outputs_[k]).first(batch.count * output_elements(k));
        layer.forward({batch.count, parameters, input, output, &await});
        input = output;
    }
    return input;
}

void Sequential::backward(const Batch& batch, std::span<const float> parameters,
                          std::span<float> gradient, const RangeReady& ready) {
    for (std::size_t k = layers_.size(); k-- > first_to_learn_;) {
        Layer& layer = *layers_[k];
        const std::size_t output_count = batch.count * output_elements(k);
        BackwardPass pass{batch.count,
                          parameters,
                          batch.images,
                          std::span(outputs_[k]).first(output_count),
                          std::span(gradients_[k % 2]).first(output_count),
                          gradient,
                          {},
                          &ready};
        if (k > 0) {
            const std::size_t input_count = batch.count * output_elements(k - 1);
            pass.input = std::span(outputs_[k - 1]).first(input_count);
            if (k > first_to_learn_)  // nobody asks for the gradient of what lies before
                pass.input_gradient = std::span(gradients_[(k - 1) % 2]).first(input_count);
        }
        layer.backward(pass);
    }
}

}  // namespace ako
