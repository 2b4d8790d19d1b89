// The estimate: how long a cell will take before any like it has been run, by its budget of
// samples and by what a round and an evaluation take. A range. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>

namespace ako {

/// From .. to, seconds.
struct TimeRange {
    double low = 0;
    double high = 0;

    TimeRange& operator+=(const TimeRange& other) {
        low += other.low;
        high += other.high;
        return *this;
    }
    /// "40 to 90 s", "25 to 70 min", "1.5 to 3.2 h".
    std::string text() const;
};

/// What is known of a cell before it is run.
struct CellWork {
    double samples = 0;        ///< the budget of all peers together
    std::size_t trainers = 1;  ///< peers that train
    std::size_t batch = 1;     ///< samples of a round
    TimeRange round;           ///< of all trainers at once
    TimeRange evaluation;      ///< of the whole test set
    double evaluations = 1;
};

TimeRange expected_time(const CellWork& work);

}  // namespace ako
