#include "src/training/evaluation.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ako/assert.h"

namespace ako {

SlicedEvaluation::SlicedEvaluation(Network& network, TestSet test_set, std::size_t parameter_count,
                                   std::size_t slice_count)
    : network_(network),
      test_set_(std::move(test_set)),
      slice_count_(slice_count),
      parameters_(parameter_count) {
    AKO_ASSERT(
        test_set_.count > 0 && slice_count_ > 0,
        std::to_string(test_set_.count) + " samples in slices of " + std::to_string(slice_count_));
}

void SlicedEvaluation::begin(double progress) {
    running_ = true;
    progress_ = progress;
    next_ = 0;
    sum_ = {};
}

std::optional<Verdict> SlicedEvaluation::step() {
    AKO_ASSERT(running_, "a slice was asked for before begin()");
    const std::size_t count = std::min(slice_count_, test_set_.count - next_);
    const Evaluation slice = network_.evaluate(test_set_.slice(next_, count), parameters_);
    sum_.loss_sum += slice.loss_sum;
    sum_.correct += slice.correct;
    sum_.count += slice.count;
    next_ += count;
    if (next_ < test_set_.count) return std::nullopt;
    running_ = false;
    const auto samples = static_cast<double>(sum_.count);
    return Verdict{progress_, static_cast<float>(static_cast<double>(sum_.correct) / samples),
                   static_cast<float>(sum_.loss_sum / samples)};
}

Verdict SlicedEvaluation::complete() {
    for (;;) {
        if (const auto verdict = step()) return *verdict;
    }
}

}  // namespace ako
