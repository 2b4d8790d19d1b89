#include "models/sequential.h"

#include <string>
#include <utility>

#include "ako/assert.h"
#include "models/initial.h"
#include "models/random.h"
#include "models/softmax_cross_entropy.h"

namespace ako {

namespace {

/// What a seed is used for, so that no two uses share a sequence.
constexpr std::uint64_t use_chance = 0x4348414e4345;

}  // namespace

Sequential::Sequential(Shape input, std::vector<std::unique_ptr<Layer>> layers,
                       ParameterLayout layout, std::uint64_t noise_seed)
    : input_(input),
      chain_(std::move(layers)),
      layout_(std::move(layout)),
      class_count_(chain_.output_shape().element_count()),
      noise_seed_(derive_seed(noise_seed, use_chance)) {
    AKO_ASSERT(
        chain_.parameters() == (Range{0, layout_.element_count()}) && chain_.parameters().count > 0,
        std::to_string(layout_.element_count()) + " parameters");
}

void Sequential::initialize(std::uint64_t seed, std::span<float> parameters) const {
    initialize_parameters(layout_.tensors(), seed, parameters);
}

float Sequential::gradient(const Batch& batch, std::span<const float> parameters,
                           std::span<float> gradient, const AwaitRange& await,
                           const RangeReady& ready) {
    AKO_ASSERT(gradient.size() == parameter_count(),
               "gradient of " + std::to_string(gradient.size()) + " elements");
    const std::uint64_t chance = derive_seed(noise_seed_, gradient_index_++);
    const auto scores = forward(batch, parameters, await, chance);
    const Evaluation evaluation = softmax_cross_entropy(scores, batch.labels, class_count_);
    if (score_gradient_.size() < scores.size()) score_gradient_.resize(scores.size());
    const auto score_gradient = std::span(score_gradient_).first(scores.size());
    softmax_cross_entropy_gradient(scores, batch.labels, class_count_, score_gradient);
    chain_.backward({batch.count,
                     parameters,
                     batch.images,
                     scores,
                     score_gradient,
                     gradient,
                     {},
                     &ready,
                     chance});
    return static_cast<float>(evaluation.loss_sum / static_cast<double>(batch.count));
}

Evaluation Sequential::evaluate(const Batch& batch, std::span<const float> parameters) {
    const auto scores = forward(batch, parameters, nullptr, {});
    return softmax_cross_entropy(scores, batch.labels, class_count_);
}

std::span<const float> Sequential::forward(const Batch& batch, std::span<const float> parameters,
                                           const AwaitRange& await,
                                           std::optional<std::uint64_t> chance) {
    AKO_ASSERT(batch.count >= 1 && batch.labels.size() == batch.count &&
                   batch.images.size() == batch.count * input_.element_count(),
               "batch of " + std::to_string(batch.count) + " with " +
                   std::to_string(batch.images.size()) + " pixels and " +
                   std::to_string(batch.labels.size()) + " labels");
    AKO_ASSERT(parameters.size() == parameter_count(),
               std::to_string(parameters.size()) + " parameters");
    const std::size_t elements = batch.count * class_count_;
    if (scores_.size() < elements) scores_.resize(elements);
    const auto scores = std::span(scores_).first(elements);
    chain_.forward({batch.count, parameters, batch.images, scores, &await, chance});
    return scores;
}

}  // namespace ako
