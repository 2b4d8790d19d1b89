#include "src/peer/mode_settings.h"

#include "src/config/cluster_file.h"
#include "src/modes/make_exchange.h"

namespace ako {

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
