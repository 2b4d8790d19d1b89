// The lists of the cluster file: the peers, and the limits of single links between them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/config/field_types.h"

namespace ako {

/// `peers: [{name, address, listen}, ...]`. Refuses two of one name or one address. Or
/// `peers: {count: 4}`: peers p1 to p4, which have addresses once something starts them.
Field peers_field();

/// Is it left to what starts the peers where they are?
bool addresses_are_open(const Settings& settings);
/// The fewest peers that the file lets begin, if it says so by a number; else all.
std::size_t fewest_peers(const Settings& settings);
/// Throws StartupError where they are open: this peer was not started by what would say them.
void require_addresses(const Settings& settings);

/// A key of the elements of these lists ("peers.*.name"), and what it must be.
struct ListKey {
    std::string path;
    std::string expected;
    std::string meaning;
    std::string standard;  ///< the value if it is left out, or "required"
};
const std::vector<ListKey>& list_keys();

/// `exchange.link_limits: [{from, to, mbit}, ...]`. Read after the peers, which it names.
Field link_limits_field(Bounds rate);

/// `observe.address`. Read after the peers, each of which needs a port from that one on.
Field observe_address_field();

/// A "host:port" or "[v6]:port" in its two parts. Throws StartupError naming `where` and `path`.
struct HostPort {
    std::string host;
    unsigned port = 0;
};
HostPort split_address(const std::string& address, const std::string& where,
                       const std::string& path);

/// Where this peer listens for those who observe it; nothing if nobody is observed.
std::optional<HostPort> observe_address(const Settings& settings, PeerIndex peer);

/// The peer of this name; throws a StartupError that lists the names there are. `where` and
/// `path` say who asks.
PeerIndex find_peer(const Settings& settings, const std::string& name, const std::string& where,
                    const std::string& path);

}  // namespace ako
