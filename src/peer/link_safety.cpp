#include "src/peer/link_safety.h"

#include "net/exposure.h"
#include "src/config/key_file.h"

namespace ako {

ClusterKey read_cluster_key(const Settings& settings) {
    if (settings.cluster_key_file.empty()) return {};
    return ClusterKey(read_key_file(settings.cluster_key_file));
}

void check_links(const Settings& settings) {
    if (!read_cluster_key(settings).none()) return;
    for (const PeerSettings& peer : settings.peers)
        require_no_exposure(peer.name, peer.address, peer.listen, Names::left_alone);
}

}  // namespace ako
