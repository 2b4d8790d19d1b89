// The estimate: how long a cell will take before any like it has been run, by its budget of
// samples, by how fast this machine computes and by what its links carry. A range, and an honest
// one: what nobody knows beforehand is how far sending hides behind computing. Pure functions; any
// thread.
#pragma once

#include <cstddef>
#include <optional>
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
    /// The time of one batch on `training.threads` cores: at its fastest, and in the median, which
    /// is longer while this machine has other work.
    TimeRange gradient;
    double share = 1;              ///< of a core that a machine has, in the mean
    double smallest_share = 1;     ///< the machine with the least
    double bytes_per_round = 0;    ///< that the busiest peer must send; 0: nobody waits for it
    std::optional<double> mbit{};  ///< of the slowest link; nullopt: no limit
    double evaluations = 1;        ///< of the whole test set
    double test_samples = 0;
};

TimeRange expected_time(const CellWork& work);

}  // namespace ako
