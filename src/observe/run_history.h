// What a peer has seen of its run since it began, for who looks late: curves and what became of the
// other peers. However long the run, it has at most so many points and events. One thread.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/results/metrics_line.h"

namespace ako {

/// Values over time. Where a point too many would come, each two neighbours become their mean.
class ThinnedCurve {
  public:
    static constexpr std::size_t points_max = 300;

    void add(double time, double value);
    /// Time and value, oldest first.
    std::vector<std::pair<double, double>> points() const;

  private:
    struct Sum {
        double time = 0;
        double value = 0;
        std::size_t count = 0;
    };
    std::vector<Sum> sums_;
    std::size_t count_of_each_ = 1;  ///< but for the last, which may have less
};

class RunHistory {
  public:
    static constexpr std::size_t events_max = 100;

    /// The next line of this peer.
    void add(const MetricsLine& line);
    /// {"loss": [[time, value], ..], "accuracy": .., "events": [{"time", "peer", "text"}, ..],
    /// "begun": [time, progress]}: loss is the mean of all peers that are known; events are the
    /// newest; the training was first seen to have begun at `begun`, or null.
    std::string text() const;

  private:
    struct Event {
        double time;
        std::string peer;
        std::string text;
    };
    void add_event(const MetricsLine& line, const LinkLine& link);

    ThinnedCurve loss_;
    ThinnedCurve accuracy_;
    std::optional<double> accuracy_at_;  ///< of the newest point
    std::optional<std::pair<double, double>> begun_;
    /// The newest event of a peer. Another reason for the same standing is none.
    struct Told {
        PeerStanding standing = PeerStanding::absent;
        std::string text;
    };
    std::map<std::string, Told> told_;
    std::deque<Event> events_;
};

}  // namespace ako
