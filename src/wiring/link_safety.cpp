#include "src/wiring/link_safety.h"

#include <fmt/format.h>

#include "src/config/key_file.h"
#include "src/config/key_places.h"
#include "src/config/peer_list.h"

namespace ako {

ClusterKey read_cluster_key(const Settings& settings) {
    if (settings.cluster_key_file.empty()) return {};
    return naming_key(settings, "cluster_key_file",
                      [&] { return ClusterKey(read_key_file(settings.cluster_key_file)); });
}

void check_links(const Settings& settings) {
    if (!read_cluster_key(settings).none() || addresses_are_open(settings)) return;
    for (PeerIndex peer = 0; peer < settings.peers.size(); ++peer) {
        const PeerSettings& own = settings.peers[peer];
        check_announced(settings, peer, Names::left_alone);
        naming_key(settings, listen_key(settings, peer), [&] {
            require_no_exposure(own.name, own.address, own.listen, Names::left_alone);
        });
    }
}

void check_announced(const Settings& settings, PeerIndex peer, Names names) {
    const PeerSettings& own = settings.peers[peer];
    naming_key(settings, fmt::format("peers.{}.address", peer),
               [&] { require_no_exposure(own.name, own.address, "", names); });
}

std::string listen_key(const Settings& settings, PeerIndex peer) {
    const std::string key = fmt::format("peers.{}.listen", peer);
    return settings.places.has(key) ? key : fmt::format("peers.{}.address", peer);
}

}  // namespace ako
