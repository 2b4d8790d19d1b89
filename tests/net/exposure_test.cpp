// Where a peer may announce itself and listen without a cluster key.
#include "net/exposure.h"

#include <doctest/doctest.h>

#include "ako/error.h"
#include "net/address_range.h"
#include "tests/net/fake_peer.h"

namespace ako::exposure_test {

namespace {

/// What is said against it; empty if it may.
std::string complaint(const std::string& address, const std::string& listen = "",
                      Names names = Names::left_alone) {
    try {
        require_no_exposure("b", address, listen, names);
    } catch (const StartupError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("the range of an address, to its first and last one") {
    const std::vector<std::pair<AddressRange, std::vector<const char*>>> cases = {
        {AddressRange::loopback,
         {"127.0.0.0", "127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"}},
        {AddressRange::local,
         {"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0",
          "192.168.255.255", "169.254.0.0", "169.254.255.255", "100.64.0.0", "100.127.255.255",
          "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe80::1", "febf::1", "fe80::1%1",
          "::ffff:192.168.1.1", "::ffff:a00:1"}},
        {AddressRange::any, {"0.0.0.0", "::", "::ffff:0.0.0.0"}},
        {AddressRange::elsewhere,
         {"9.255.255.255",
          "11.0.0.0",
          "126.255.255.255",
          "128.0.0.0",
          "172.15.255.255",
          "172.32.0.0",
          "192.167.255.255",
          "192.169.0.0",
          "169.253.255.255",
          "169.255.0.0",
          "100.63.255.255",
          "100.128.0.0",
          "0.0.0.1",
          "203.0.113.7",
          "255.255.255.255",
          "224.0.0.1",
          "fbff::1",
          "fe00::1",
          "fe7f::1",
          "fec0::1",
          "2001:db8::1",
          "::2",
          "::10.0.0.1",
          "64:ff9b::a00:1",
          "::ffff:203.0.113.7",
          "::fffe:10.0.0.1"}},
    };
    for (const auto& [range, addresses] : cases)
        for (const char* address : addresses) {
            CAPTURE(address);
            CHECK(address_range(address) == range);
        }
    for (const char* name : {"localhost", "peer-a", "10.0.0", "10.0.0.0.1", "", "fe80", "127.1"}) {
        CAPTURE(name);
        CHECK_FALSE(address_range(name).has_value());
    }
}

TEST_CASE("without a key a peer stays within loopback and private networks") {
    CHECK(complaint("10.0.0.2:7701") == "");
    CHECK(complaint("[fd00::2]:7701", "[fd00::2]:7701") == "");
    CHECK(complaint("10.0.0.2:7701", "0.0.0.0:7701") == "");
    CHECK(complaint("10.0.0.2:7701", "[::]:7701") == "");
    CHECK(complaint("peer-b:7701", "0.0.0.0:7701") == "");
    CHECK(complaint("203.0.113.7:7701") ==
          "peer b announces 203.0.113.7:7701, outside loopback and private networks, without a "
          "cluster key");
    CHECK(complaint("[2001:db8::1]:7701", "[fd00::2]:7701").find("announces [2001:db8::1]") !=
          std::string::npos);
    CHECK(complaint("10.0.0.2:7701", "203.0.113.7:7701").find("b listens on 203.0.113.7:7701") !=
          std::string::npos);
    CHECK(complaint("[::ffff:203.0.113.7]:7701") != "");
    // What is announced is an address that others dial.
    CHECK(complaint("0.0.0.0:7701").find("announces 0.0.0.0:7701") != std::string::npos);
}

TEST_CASE("a name is judged by its addresses, if it has any") {
    CHECK(complaint("localhost:7701", "", Names::looked_up) == "");
    CHECK(complaint("a.localhost:7701", "", Names::looked_up) == "");
    // The system's resolver reads these as addresses, without asking anybody.
    CHECK(complaint("127.1:7701", "", Names::looked_up) == "");
    CHECK(complaint("3405803783:7701", "", Names::looked_up).find("(203.0.113.7)") !=
          std::string::npos);
    CHECK(complaint("3405803783:7701", "", Names::left_alone) == "");
}

TEST_CASE("a transport without a key does not even bind where strangers reach it") {
    const SteadyClock clock;
    auto settings = test::make_settings(0);
    settings.peers[0].address = "203.0.113.7:7701";
    TcpTransport exposed(settings, clock);
    CHECK_THROWS_AS(exposed.bind(), StartupError);
    CHECK(exposed.port() == 0);
    settings.key = ClusterKey("sixteen letters and more");
    TcpTransport safe(settings, clock);
    CHECK_NOTHROW(safe.bind());
    CHECK(safe.port() != 0);
    // Where the others are is their own concern.
    settings = test::make_settings(0);
    settings.peers[1].address = "203.0.113.7:7701";
    TcpTransport other(settings, clock);
    CHECK_NOTHROW(other.bind());
}

}  // namespace
}  // namespace ako::exposure_test
