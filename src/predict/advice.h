// The advice: what of a prediction somebody who asks wants to know first. How many machines pay,
// which mode is the fastest there, how much worse the second is, and what rates the links must
// have. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/predict/prediction.h"

namespace ako {

/// The machines at which a mode is fastest, and what it makes of them.
struct Peak {
    const Predicted* cell = nullptr;
    /// Do more machines, as far as was asked, make it slower? Else the peak lies at the end of what
    /// was asked.
    bool inside = false;
};

/// The peak of one kind of modes, see `PredictedMode`, at this rate and batch; nothing if it has no
/// cell there.
std::optional<Peak> peak_of(const Prediction& prediction, const std::string& mode, double rate_mbit,
                            std::size_t batch);

/// Modes at these machines, rate and batch, the most samples per second first.
std::vector<const Predicted*> ranked(const Prediction& prediction, std::size_t machines,
                                     double rate_mbit, std::size_t batch);

/// The least rate, Mbit/s, at which so much of the processors' time (0 .. 1) is computing, by
/// halving the interval; nothing if `most_mbit` is not enough. `efficiency_at` tells it at a rate
/// and rises with it.
std::optional<double> rate_for(double efficiency, double most_mbit,
                               const std::function<double(double mbit)>& efficiency_at);

}  // namespace ako
