#include "src/member/mode_settings.h"

#include "src/config/cluster_file.h"
#include "src/modes/make_exchange.h"

namespace ako {

WorkerPlace place_among_workers(const Settings& settings, PeerIndex self) {
    WorkerPlace place;
    for (PeerIndex peer = 0; peer < settings.peers.size(); ++peer) {
        if (settings.peers[peer].role != Role::worker) continue;
        if (peer < self) ++place.place;
        ++place.count;
    }
    return place;
}

bool shards_follow(const Settings& settings) {
    return settings.data.sharding == Sharding::elastic && settings.exchange.mode == Mode::ako &&
           needs_data(settings.model.kind);
}

ModeSettings mode_settings(const Settings& settings) {
    ModeSettings mode;
    mode.peer_names = peer_names(settings);
    for (const PeerSettings& peer : settings.peers) mode.roles.push_back(peer.role);
    mode.exchange = settings.exchange;
    mode.training = settings.training;
    return mode;
}

ModeCosts mode_costs(const Settings& settings, std::size_t parameter_count) {
    return mode_costs(mode_settings(settings), parameter_count);
}

}  // namespace ako
