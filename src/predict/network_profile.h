// The network of a cluster as its peers have measured it (`ako check --network`), kept beside the
// profiles of the machines as network.json:
//
//   format  "ako network 1"
//   peers   [{name, address}] of the cluster file
//   egress_mbit_max  that was in force; 0: none
//   links   [{from, to, mbit, both_mbit, round_trip_ms}]: of every pair both ways; 10^6 bit/s of
//           payload that arrived, while nothing went back and while as much as could did
//
// Values; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ako/probe.h"
#include "src/config/cluster_settings.h"

namespace ako {

/// The name of its file in a folder of profiles, without the extension.
inline constexpr const char* network_profile_name = "network";

/// What one machine gets through, 10^6 bit/s of payload, both directions at once.
struct MachineLink {
    double egress_mbit = 0;
    double ingress_mbit = 0;
};

struct NetworkProfile {
    struct Link {
        std::string from, to;
        double mbit = 0;
        double both_mbit = 0;
        double round_trip_ms = 0;
    };
    struct Peer {
        std::string name, address;
    };
    std::vector<Peer> peers;
    double egress_mbit_max = 0;
    std::vector<Link> links;

    const Peer* find(const std::string& peer) const;
    /// The link of a pair. REQUIRES both are in `peers`, and not the same.
    const Link& between(const std::string& from, const std::string& to) const;
    /// The most that this peer sends to any other, and takes of any.
    MachineLink of(const std::string& peer) const;
    /// Half of what a word and its answer take, the median of all pairs.
    double latency_s() const;
};

NetworkProfile network_profile(const Settings& settings, const std::vector<PairFigures>& pairs);

/// A matrix for people: who sends in rows, who takes in columns.
std::string network_text(const NetworkProfile& network);

std::string to_json_text(const NetworkProfile& network);
/// Throws StartupError that names the file: no such profile, or one that lacks pairs of its peers.
NetworkProfile read_network_profile(const std::string& file);

}  // namespace ako
