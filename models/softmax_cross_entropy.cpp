#include "models/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ako/assert.h"

namespace ako {

namespace {

std::span<const float> scores_of(std::span<const float> scores, std::size_t image,
                                 std::size_t class_count, std::uint8_t label) {
    AKO_ASSERT(label < class_count, "label " + std::to_string(label) + " of " +
                                        std::to_string(class_count) + " classes");
    return scores.subspan(image * class_count, class_count);
}

}  // namespace

Evaluation softmax_cross_entropy(std::span<const float> scores,
                                 std::span<const std::uint8_t> labels, std::size_t class_count) {
    Evaluation evaluation;
    evaluation.count = labels.size();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto row = scores_of(scores, i, class_count, labels[i]);
        const auto highest = std::max_element(row.begin(), row.end());
        double sum = 0;
        for (const float score : row) sum += std::exp(score - *highest);
        evaluation.loss_sum += std::log(sum) - (row[labels[i]] - *highest);
        // A score that is not finite makes the sum so too; then no answer counts as correct.
        const bool correct = highest - row.begin() == labels[i] && std::isfinite(sum);
        evaluation.correct += correct ? 1 : 0;
    }
    return evaluation;
}

void softmax_cross_entropy_gradient(std::span<const float> scores,
                                    std::span<const std::uint8_t> labels, std::size_t class_count,
                                    std::span<float> score_gradient) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto row = scores_of(scores, i, class_count, labels[i]);
        const float highest = *std::max_element(row.begin(), row.end());
        float sum = 0;
        for (const float score : row) sum += std::exp(score - highest);
        const float scale = 1.0f / (sum * static_cast<float>(labels.size()));
        const auto gradient = score_gradient.subspan(i * class_count, class_count);
        for (std::size_t c = 0; c < class_count; ++c)
            gradient[c] = std::exp(row[c] - highest) * scale;
        gradient[labels[i]] -= 1.0f / static_cast<float>(labels.size());
    }
}

}  // namespace ako
