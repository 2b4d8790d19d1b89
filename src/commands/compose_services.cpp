// See compose_services.h.
#include "src/commands/compose_services.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "ako/error.h"
#include "src/config/peer_list.h"
#include "src/engines/containers.h"

namespace ako {
namespace {

constexpr unsigned port_max = 65'535;

void check_names(const Settings& settings, const std::vector<PeerGroup>& groups) {
    std::map<std::string, std::string> seen;  // name -> whose
    const auto take = [&](const std::string& name, const std::string& whose) {
        std::string key = name;  // names are looked up without regard to case
        std::transform(key.begin(), key.end(), key.begin(),
                       [](unsigned char letter) { return std::tolower(letter); });
        const auto [other, fresh] = seen.emplace(key, whose);
        if (!fresh)
            throw StartupError(fmt::format("{}: {} and {} would be one host name, {}",
                                           settings.file, other->second, whose, key),
                               "give the peers names that differ in more than case, and do not end "
                               "as another's service does");
    };
    if (!settings.observe.address.empty()) take(prometheus_service, "Prometheus");
    for (const PeerGroup& group : groups)
        for (const PeerSettings& peer : settings.peers)
            take(service_name(peer, group), "peer " + peer.name);
}

}  // namespace

std::string service_name(const PeerSettings& peer, const PeerGroup& group) {
    const std::string name = host_of(peer.name);
    return group.profile.empty() ? name : name + "-" + group.profile;
}

std::optional<unsigned> observe_port(const Settings& settings, PeerIndex peer,
                                     const PeerGroup& group) {
    const auto address = observe_address(settings, peer);
    if (!address) return std::nullopt;
    return address->port + group.port_distance;
}

bool addresses_fit(const Settings& settings) {
    if (addresses_are_open(settings)) return false;
    return std::all_of(settings.peers.begin(), settings.peers.end(), [&](const PeerSettings& peer) {
        const std::string name = service_name(peer, group_as_written);
        const std::string listen = split_address(peer.listen, settings.file, "peers").host;
        return split_address(peer.address, settings.file, "peers").host == name &&
               (listen == "0.0.0.0" || listen == "::" || listen == name);
    });
}

void check_services(const Settings& settings, const std::vector<PeerGroup>& groups) {
    check_names(settings, groups);
    for (const PeerGroup& group : groups) {
        const auto last =
            observe_port(settings, static_cast<PeerIndex>(settings.peers.size() - 1), group);
        if (last && *last > port_max)
            throw StartupError(
                fmt::format("{}: observe.address: the services of profile {} would need ports up "
                            "to {}",
                            settings.file, group.profile, *last),
                "a lower port, such as --set observe.address=0.0.0.0:9470");
    }
}

}  // namespace ako
