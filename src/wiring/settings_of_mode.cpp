#include "src/wiring/settings_of_mode.h"

#include <fmt/format.h>

#include "ako/error.h"
#include "ako/mode_table.h"
#include "src/config/cluster_file.h"
#include "src/config/key_places.h"
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

WorkerPlace shard_place(const Settings& settings, PeerIndex self) {
    return settings.data.sharding == Sharding::own ? WorkerPlace{0, 1}
                                                   : place_among_workers(settings, self);
}

std::uint64_t samples_of_all(const Settings& settings, std::uint64_t held) {
    if (settings.data.sharding != Sharding::own) return held;
    std::uint64_t samples = 0;
    for (const PeerSettings& peer : settings.peers) samples += peer.samples;
    return samples;
}

void check_own_samples(const Settings& settings, PeerIndex worker, std::uint64_t held) {
    const PeerSettings& peer = settings.peers[worker];
    if (settings.data.sharding != Sharding::own || peer.role != Role::worker) return;
    if (peer.samples == held) return;
    throw at_key(settings, fmt::format("peers.{}.samples", worker),
                 StartupError(fmt::format("{} for {}, whose training set has {}", peer.samples,
                                          peer.name, held),
                              fmt::format("write samples: {} in the files of all peers, or look "
                                          "for the data that are missing",
                                          held)));
}

bool shards_follow(const Settings& settings) {
    return settings.data.sharding == Sharding::elastic &&
           entry_of(settings.exchange).shards_follow && needs_data(settings.model.kind);
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
