// Peers by their count, whose addresses come with what starts them.
#include "src/config/peer_list.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ako/error.h"
#include "complaint.h"
#include "src/config/cluster_file.h"

namespace ako::peer_list_test {

namespace {

const char* const file = "/etc/ako/c.yaml";

Settings read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return read_cluster_text(text, file, overrides);
}

}  // namespace

TEST_CASE("peers: a count leaves the addresses to what starts them") {
    const std::string head = "run: x\nmodel: synthetic\npeers: ";
    const Settings counted = read(head + "{count: 3}\n");
    CHECK(peer_names(counted) == std::vector<std::string>{"p1", "p2", "p3"});
    CHECK(addresses_are_open(counted));
    CHECK(counted.exchange.start_peers_min == 0);
    CHECK_THROWS_AS(require_addresses(counted), StartupError);
    CHECK(write_cluster_text(counted).find("peers: {count: 3}\n") != std::string::npos);
    CHECK(read(write_cluster_text(counted)) == counted);

    const Settings fewer = read(head + "{min: 2, count: 3}\n");
    CHECK(fewer.exchange.start_peers_min == 2);
    CHECK(fewer.places.has("exchange.start_peers_min"));
    // As compose and the engines say it.
    const Settings listed = read(head + "{count: 1}\n", {"peers=[{name: z, address: 'h:1'}]"});
    CHECK(!addresses_are_open(listed));
    CHECK_NOTHROW(require_addresses(listed));

    for (const char* wrong : {"{count: 0}", "{count: 65}", "{count: some}", "{min: 2}",
                              "{min: 4, count: 3}", "{min: 0, count: 3}", "4"})
        CHECK(test::complaint(head + wrong + "\n", file, {}).find("/etc/ako/c.yaml:3:") == 0);
    CHECK(test::complaint(head + "{cuont: 3}\n", file, {}).find("did you mean peers.count?") !=
          std::string::npos);
}

}  // namespace ako::peer_list_test
