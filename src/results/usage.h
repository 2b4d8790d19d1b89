// What a peer used of its machine and its links over the last seconds: what a bottleneck is found
// by (src/diagnosis/). Made by a window over samples that are taken once a second. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "src/system/process_usage.h"

namespace ako {

/// Shares are of `seconds`, and 1 is one thread, or one link, all the time.
struct Usage {
    double seconds = 0;  ///< that this is of; 0: not known
    double rounds_per_s = 0;
    double gradient = 0;          ///< share of the time: computing; likewise the next two
    double input = 0;             ///< until a batch was there
    double wait = 0;              ///< in the exchange
    double compute_running = 0;   ///< the thread that trains: on a processor,
    double compute_runnable = 0;  ///< and without one, although it had work
    double network_running = 0;   ///< all other threads together
    double network_runnable = 0;
    double throttled = 0;  ///< the quota of the process's control group was spent
    double major_faults_per_s = 0;
};

struct LinkUsage {
    double full = 0;  ///< share of the time in which it had as much to carry as it could
    double egress_mbit = 0;
    double round_trip_ms = 0;     ///< mean; likewise the next
    double staleness_rounds = 0;  ///< of what comes that way
};

/// Counted since the process began, but for round trips and staleness, which are of now.
struct UsageSample {
    struct LinkSample {
        double full_seconds = 0;
        std::uint64_t egress_bytes = 0;
        double round_trip_ms = 0;
        double staleness_rounds = 0;
    };
    double time = 0;  ///< seconds
    std::uint64_t rounds = 0;
    double gradient_seconds = 0;
    double input_seconds = 0;
    double wait_seconds = 0;
    ProcessUsage process;
    std::vector<LinkSample> links;
};

class UsageWindow {
  public:
    /// So much is looked at, or as much as two rounds take, if that is longer.
    static constexpr double seconds_min = 10;
    static constexpr std::size_t samples_max = 600;

    /// Later than the one before, with as many links.
    void add(UsageSample sample);
    /// From the oldest sample to the newest; nothing is known from one.
    Usage usage() const;
    /// In the order of the samples' links.
    std::vector<LinkUsage> links() const;

  private:
    std::deque<UsageSample> samples_;
};

}  // namespace ako
