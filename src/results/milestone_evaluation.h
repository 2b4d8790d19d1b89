// The evaluation of milestones on the test set, when the training is over. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ako/network.h"
#include "src/results/curve.h"
#include "src/training/evaluation.h"

namespace ako {

class MilestoneEvaluation {
  public:
    /// Both must outlive this.
    MilestoneEvaluation(Network& network, TestSet test_set);

    /// Told after each: the point, and its number (from 1) of how many. False: enough.
    using Progress =
        std::function<bool(const CurvePoint& point, std::size_t number, std::size_t count)>;
    /// The points of one milestone file, in order, and when the first round of the peer that wrote
    /// it began; nothing without points. Throws StartupError if it cannot be read.
    struct Evaluated {
        std::vector<CurvePoint> points;
        std::optional<Time> began;
    };
    Evaluated evaluate(const std::string& path, const Progress& progress);

  private:
    const std::size_t parameter_count_;
    SlicedEvaluation evaluation_;
};

}  // namespace ako
