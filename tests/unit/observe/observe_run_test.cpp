// Where peers are observed.
#include "src/observe/observe_run.h"

#include <doctest/doctest.h>

#include "src/config/cluster_file.h"
#include "src/config/peer_list.h"

namespace ako::observe_run_test {

namespace {

Settings read(const std::string& observe) {
    return read_cluster_text(
        "{run: r, model: lenet, data: {path: d}, peers: [{name: a, address: '10.0.0.1:7701'}, "
        "{name: b, address: '[fd00::2]:7701'}], observe: " +
            observe + "}",
        "c.yaml", {});
}

}  // namespace

TEST_CASE("each peer has the next port, and its own host for others") {
    const Settings settings = read("{address: '127.0.0.1:9470'}");
    CHECK(observe_address(settings, 0)->host == "127.0.0.1");
    CHECK(observe_address(settings, 1)->port == 9471);
    const ObservedRun run = observed_run(settings, 1);
    CHECK(run.peer == "b");
    CHECK(run.mode == "ako");
    CHECK(run.model == "lenet");
    REQUIRE(run.peers.size() == 2);
    CHECK(run.peers[1].host == "fd00::2");
    CHECK(run.peers[1].port == 9471);
}

TEST_CASE("nobody is observed unless it is said, and bad addresses are refused") {
    CHECK_FALSE(observe_address(read("{address: null}"), 0));
    CHECK_THROWS_AS(read("{address: '9470'}"), StartupError);
    CHECK_THROWS_AS(read("{address: '127.0.0.1:65535'}"), StartupError);
}

}  // namespace ako::observe_run_test
