// What `ako check` says a cluster file comes to: the data, the rounds, with whom training begins,
// and what the links carry. By formula, as comments of YAML. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/config/cluster_settings.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {

/// Samples: of the data, or those that a network without any stands for.
struct DataCounts {
    std::uint64_t train = 0;
    std::uint64_t test = 0;
    std::uint64_t budget = 0;  ///< of the run, all peers together
};

/// How many samples there are, how many each peer has, and in how many rounds it sees them.
std::string data_report(const Settings& settings, const DataCounts& counts);

/// With whom training begins, and what becomes of peers that come later or never; empty where no
/// peer needs another.
std::string start_report(const Settings& settings);

/// How often this peer keeps what it can go on from; empty where it does not.
std::string checkpoints_report(const Settings& settings, const ModeCosts& costs);

/// For how long a peer waits for another, and what follows from observation; empty where no peer
/// needs another.
std::string time_outs_report(const Settings& settings);

/// What one peer sends in a round, what one link carries of it, and how fast that can be where the
/// file limits rates.
std::string traffic_report(const Settings& settings, const ModeCosts& costs);

/// The limit of a rate that is reached first, and where it is set.
struct RateLimit {
    double mbit = 0;
    std::string where;
};
/// The lowest limit of any link. What a peer may send counts too, shared between `links` of them;
/// 0: it does not count. Nothing if the file limits none.
std::optional<RateLimit> slowest_link(const Settings& settings, std::size_t links);

}  // namespace ako
