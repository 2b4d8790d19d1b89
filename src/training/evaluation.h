// The sliced evaluation: a frozen copy of the parameters and how far through the test set it is.
// One slice per round, so that no round of the evaluating peer is long enough for the others to
// stop counting on it. Owned by the trainer; compute thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ako/frame.h"
#include "ako/network.h"

namespace ako {

/// Samples per slice: a forward pass costs about a third of a round's work per sample, so this many
/// lengthen a round of the usual batch of 64 by little more than one round.
inline constexpr std::size_t evaluation_slice_default = 256;

/// The test set as the trainer sees it. `slice(first, count)` gives the samples from `first` on,
/// valid until it is called again.
struct TestSet {
    std::size_t count = 0;
    std::function<Batch(std::size_t first, std::size_t count)> slice;
};

class SlicedEvaluation {
  public:
    SlicedEvaluation(Network& network, TestSet test_set, std::size_t parameter_count,
                     std::size_t slice_count = evaluation_slice_default);

    /// The copy, [parameter_count], to be filled before `begin`. Once the verdict is there it may
    /// be exchanged for another vector of this size.
    std::vector<float>& parameters() { return parameters_; }
    /// Starts over with what is in `parameters()`; `progress` is what the verdict will say.
    void begin(double progress);
    bool running() const { return running_; }
    /// How many steps one takes.
    std::size_t slices() const { return (test_set_.count + slice_count_ - 1) / slice_count_; }
    /// Evaluates one slice; the verdict after the last. Only while `running()`.
    std::optional<Verdict> step();
    /// All that is left, in slices.
    Verdict complete();
    /// Gives the copy away; nothing else may be called after.
    std::vector<float> release() { return std::move(parameters_); }

  private:
    // Constant after construction.
    Network& network_;
    TestSet test_set_;
    std::size_t slice_count_;

    std::vector<float> parameters_;
    bool running_ = false;
    double progress_ = 0;
    std::size_t next_ = 0;
    Evaluation sum_;
};

}  // namespace ako
