// What links carry, as measured: read, written, asked and shown.
#include "src/predict/network_profile.h"

#include <doctest/doctest.h>

#include <fstream>

#include "ako/error.h"
#include "tests/contains.h"
#include "tests/temporary_folder.h"

namespace ako::network_profile_test {

using namespace std::chrono_literals;

/// Three machines, of which the last has a narrow link.
NetworkProfile three() {
    const auto pair = [](PeerIndex asker, PeerIndex asked, double there, double back) {
        return PairFigures{asker, asked, 4ms, 2 * there, 2 * back, there, back};
    };
    Settings settings;
    for (const std::string name : {"a", "b", "c"})
        settings.peers.push_back({.name = name, .address = name + ":7701", .listen = ""});
    settings.exchange.egress_mbit_max = 300;
    return network_profile(settings, {pair(0, 1, 12.5e6, 12.5e6), pair(0, 2, 2.5e6, 1.25e6),
                                      pair(1, 2, 2.5e6, 1.25e6)});
}

std::string refusal_of(const std::string& text) {
    const test::TemporaryFolder folder;
    const std::string file = folder.path() + "/network.json";
    std::ofstream(file) << text;
    try {
        read_network_profile(file);
    } catch (const StartupError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("a machine has the most that it sends to any and takes of any") {
    const NetworkProfile network = three();
    CHECK(network.of("a").egress_mbit == doctest::Approx(100));
    CHECK(network.of("b").ingress_mbit == doctest::Approx(100));
    CHECK(network.of("c").egress_mbit == doctest::Approx(10));
    CHECK(network.of("c").ingress_mbit == doctest::Approx(20));
    CHECK(network.between("a", "c").mbit == doctest::Approx(40));
    CHECK(network.latency_s() == doctest::Approx(0.002).scale(0));
}

TEST_CASE("it reads back as it was written") {
    const test::TemporaryFolder folder;
    const std::string file = folder.path() + "/network.json";
    std::ofstream(file) << to_json_text(three());
    const NetworkProfile read = read_network_profile(file);
    REQUIRE(read.find("b") != nullptr);
    CHECK(read.find("b")->address == "b:7701");
    CHECK(read.find("d") == nullptr);
    CHECK(read.egress_mbit_max == 300);
    CHECK(to_json_text(read) == to_json_text(three()));
}

TEST_CASE("what is no whole network is refused with its file") {
    CHECK(test::contains(refusal_of("{"), "network.json: is no measured network"));
    CHECK(test::contains(refusal_of(R"({"format": "ako profile 1"})"), "this version's format"));
    NetworkProfile lacking = three();
    lacking.links.pop_back();
    CHECK(test::contains(refusal_of(to_json_text(lacking)), "lacks what c sends to b"));
    lacking = three();
    lacking.links.front().both_mbit = 0;
    CHECK(test::contains(refusal_of(to_json_text(lacking)), "lacks what a sends to b"));
}

TEST_CASE("people see who sends in rows") {
    const std::string text = network_text(three());
    CHECK(test::contains(text, "  c           10      10       -\n"));
    CHECK(test::contains(text, "  a            -      50      50\n"));
    CHECK(test::contains(text, "4.00"));
}

}  // namespace ako::network_profile_test
