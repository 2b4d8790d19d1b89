// A curve: what the test set said of a run's parameters on the way. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ako {

struct RunPoint {
    double seconds = 0;  ///< since training began
    double round = 0;
    double samples = 0;   ///< of all peers
    double progress = 0;  ///< 0 .. 1 of the sample budget
    double accuracy = 0;  ///< 0 .. 1
    double loss = 0;
};

/// When a target was reached.
struct Reach {
    double seconds = 0;
    double round = 0;
};

struct AccuracyCurve {
    std::vector<RunPoint> points;  ///< in order of time

    /// The first crossing, linear between two points; nullopt: never.
    std::optional<Reach> reach(double accuracy) const;
    /// Linear between points; before the first and after the last the nearest one's.
    double accuracy_at_seconds(double seconds) const;
    double accuracy_at_round(double round) const;
    double best_accuracy() const;
    /// Seconds per round over the whole run; 0 of an empty curve.
    double round_seconds() const;
    /// The same rounds, each of so many seconds.
    AccuracyCurve with_round_seconds(double seconds) const;
};

/// Reads curve.json; nullopt if there is none, or it is no curve.
std::optional<AccuracyCurve> read_curve(const std::string& path);

}  // namespace ako
