#include "models/softmax_cross_entropy.h"

#include <cmath>
#include <limits>
#include <string>

#include "ako/assert.h"
#include "models/eigen_maps.h"

namespace ako {

namespace {

void check_labels(std::span<const std::uint8_t> labels, std::size_t class_count) {
    for (const std::uint8_t label : labels)
        AKO_ASSERT(label < class_count, "label " + std::to_string(label) + " of " +
                                            std::to_string(class_count) + " classes");
}

}  // namespace

Evaluation softmax_cross_entropy(std::span<const float> scores,
                                 std::span<const std::uint8_t> labels, std::size_t class_count) {
    check_labels(labels, class_count);
    const auto rows = as_rows(scores, class_count);
    Evaluation evaluation;
    evaluation.count = labels.size();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto row = rows.row(eigen_index(i));
        const float highest = row.maxCoeff();
        const double sum = (row - highest).exp().sum();
        evaluation.loss_sum += std::log(sum) - (row[labels[i]] - highest);
        // The first of equal scores is the answer. A score that is not finite makes the sum so too;
        // then no answer counts as correct.
        const bool correct = row[labels[i]] == highest && (row.head(labels[i]) < highest).all() &&
                             std::isfinite(sum);
        evaluation.correct += correct ? 1 : 0;
    }
    return evaluation;
}

void softmax_cross_entropy_gradient(std::span<const float> scores,
                                    std::span<const std::uint8_t> labels, std::size_t class_count,
                                    std::span<float> score_gradient) {
    check_labels(labels, class_count);
    const auto count = static_cast<float>(labels.size());
    const auto rows = as_rows(scores, class_count);
    const auto written = score_gradient.first(labels.size() * class_count);
    auto gradients = as_rows(written, class_count);
    for (Eigen::Index i = 0; i < gradients.rows(); ++i)
        gradients.row(i) = rows.row(i) - rows.row(i).maxCoeff();
    // All rows at once, for one by itself is short. Eigen's exp does not go down to 0 but to a
    // number so small that processors take a hundred times as long for a product with it.
    auto all = as_array(written);
    all = all.exp();
    all = (all < std::numeric_limits<float>::min()).select(0.0f, all);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        auto gradient = gradients.row(eigen_index(i));
        gradient *= 1.0f / (gradient.sum() * count);
        gradient[labels[i]] -= 1.0f / count;
    }
}

}  // namespace ako
