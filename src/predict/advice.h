// The advice: what of a prediction somebody who asks wants to know first. How many machines pay,
// which mode is best there for what is wanted, how much worse the second is, and what rates the
// links must have. Pure functions; any thread.
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

/// What somebody wants the least of.
enum class Goal {
    time,      ///< seconds to the target
    cost,      ///< seconds of machines to the target
    accuracy,  ///< seconds to the target, where all machines step as one would with their batches
};

/// What a cell takes of it: to the target, or for a sample where its rounds are not known. Nothing
/// if it is not known what its mode costs in rounds, or for a goal that it does not reach.
std::optional<double> price(const Predicted& cell, Goal goal);

/// The cells of a rate and batch that have a price, the lowest first.
std::vector<const Predicted*> choices(const Prediction& prediction, double rate_mbit,
                                      std::size_t batch, Goal goal);

/// The least rate, Mbit/s, at which so much of the processors' time (0 .. 1) is computing, by
/// halving the interval; nothing if `most_mbit` is not enough. `efficiency_at` tells it at a rate
/// and rises with it.
std::optional<double> rate_for(double efficiency, double most_mbit,
                               const std::function<double(double mbit)>& efficiency_at);

}  // namespace ako
