// The ports that launch gives to peers.
#include "src/launch/ports.h"

#include <doctest/doctest.h>

#include <set>

#include "src/config/cluster_file.h"
#include "src/config/peer_list.h"

namespace ako::ports_test {

TEST_CASE("free ports are none of those at which peers are observed, and no port is given twice") {
    std::string peers;
    for (std::size_t k = 0; k < peers_max; ++k)
        peers += "{name: p" + std::to_string(k) +
                 ", address: '127.0.0.1:" + std::to_string(1000 + k) + "'}, ";
    const Settings read = read_cluster_text("{run: r, model: lenet, data: {path: d}, peers: [" +
                                                peers + "], observe: {address: '127.0.0.1:20000'}}",
                                            "c.yaml", {});
    // One choice in three would meet an observed port if that was not looked for.
    for (int choice = 0; choice < 40; ++choice) {
        Settings settings = read;
        use_free_ports(settings);
        std::set<unsigned> given;
        for (const PeerSettings& peer : settings.peers) {
            const unsigned port = split_address(peer.listen, "", "").port;
            CHECK(peer.address == peer.listen);
            CHECK(port >= 20'000 + peers_max);
            CHECK(given.insert(port).second);
        }
    }
}

}  // namespace ako::ports_test
