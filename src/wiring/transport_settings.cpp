#include "src/wiring/transport_settings.h"

#include <utility>

#include "src/config/peer_list.h"

namespace ako {

TransportSettings transport_settings(const Settings& settings, PeerIndex self, Hello hello,
                                     const ClusterKey& key, const PeerLog& log) {
    require_addresses(settings);
    const ExchangeSettings& exchange = settings.exchange;
    TransportSettings transport;
    transport.self = self;
    transport.hello = std::move(hello);
    transport.key = key;
    for (const PeerSettings& peer : settings.peers)
        transport.peers.push_back(
            {peer.name, peer.address, peer.listen, exchange.link_mbit.value_or(0)});
    for (const LinkLimit& limit : exchange.link_limits) {
        if (limit.from == self) transport.peers[limit.to].link_mbit = limit.mbit;
    }
    transport.egress_mbit_max = exchange.egress_mbit_max.value_or(0);
    transport.life_timeout_ms = exchange.life_timeout_ms;
    transport.log = log.notice;
    transport.detail = log.detail;
    return transport;
}

}  // namespace ako
