// The loss of classification: the cross-entropy between softmax(scores) and the label.
#pragma once

#include <cstdint>
#include <span>

#include "ako/network.h"

namespace ako {

/// Sum of the losses over the batch and how often the highest score is the label's. `scores` is
/// [labels.size() x class_count]; every label is below class_count. The maximum is taken off
/// before exp, so no finite score overflows.
Evaluation softmax_cross_entropy(std::span<const float> scores,
                                 std::span<const std::uint8_t> labels, std::size_t class_count);

/// d(mean loss)/d(scores), [labels.size() x class_count], as `softmax_cross_entropy` defines it.
void softmax_cross_entropy_gradient(std::span<const float> scores,
                                    std::span<const std::uint8_t> labels, std::size_t class_count,
                                    std::span<float> score_gradient);

}  // namespace ako
