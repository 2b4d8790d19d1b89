// How many samples a run trains on, of all peers together. A function; any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ako/algorithm_settings.h"

namespace ako {

/// `sample_count`: of the data set. At least 1.
inline std::uint64_t sample_budget(const TrainingSettings& training, std::uint64_t sample_count) {
    const double samples = training.epochs * static_cast<double>(sample_count);
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(samples)));
}

/// Of the budget those after which this start of the run ends.
inline std::uint64_t samples_until(const TrainingSettings& training, std::uint64_t budget) {
    if (!training.until || *training.until >= training.epochs) return budget;
    const double samples = *training.until / training.epochs * static_cast<double>(budget);
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(samples)));
}

}  // namespace ako
