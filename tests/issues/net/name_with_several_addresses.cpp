// A user saw: in a container whose IPv6 is off, where `localhost` is also ::1, a peer that was not
// there was "Cannot assign requested address" and not "nobody listens"; and of a name with several
// addresses, a first one that led nowhere took the whole time of the attempt, while the message
// named the last, which had not been tried. One deadline covered the list, and the last error hid
// the others. Since then each address has its own time, the next is tried beside one that does not
// answer, and the message says what each of them said.
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "net/connector.h"
#include "tests/contains.h"

namespace ako::name_with_several_addresses {

namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using test::contains;

tcp::endpoint endpoint(const char* host, std::uint16_t port) {
    return {asio::ip::make_address(host), port};
}

/// A port of its own on which this listens without accepting; one that is full answers nobody.
class Listener {
  public:
    explicit Listener(asio::io_context& io, const char* host = "127.0.0.1", int backlog = 8)
        : acceptor_(io), guest_(io) {
        acceptor_.open(tcp::v4());
        acceptor_.bind(endpoint(host, 0));
        acceptor_.listen(backlog);
        acceptor_.non_blocking(true);
    }
    tcp::endpoint where() const { return acceptor_.local_endpoint(); }
    /// With a backlog of 0: takes the only place, so that the kernel drops what comes after.
    void fill() { guest_.connect(where()); }
    bool has_guest() {
        asio::error_code error;
        acceptor_.accept(error);
        return !error;
    }

  private:
    tcp::acceptor acceptor_;
    tcp::socket guest_;
};

/// An address of this machine on which nobody listens.
tcp::endpoint closed_port(asio::io_context& io, const char* host = "127.0.0.1") {
    return Listener(io, host).where();
}

/// An attempt in virtual time on real sockets.
struct Attempt {
    Attempt(asio::io_context& context, std::vector<tcp::endpoint> endpoints) : io(context) {
        Connector::Events events;
        events.connected = [this](tcp::socket socket) {
            CHECK_FALSE(over());
            connected_to = socket.remote_endpoint();
        };
        events.failed = [this](const std::string& why) {
            CHECK_FALSE(over());
            failure = why;
        };
        connector = std::make_shared<Connector>(io, Address{"b", 7701}, std::move(endpoints), 3s,
                                                std::move(events));
    }
    bool over() const { return connected_to || failure; }
    void at(Time now, Time excuse = Time{0}) {
        connector->tick(now, excuse);
        io.restart();
        io.poll();
    }
    /// Lets the kernel and the handlers do what is under way; the time stands still.
    bool ends() {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        io.restart();
        while (!over() && std::chrono::steady_clock::now() < deadline) io.run_one_for(10ms);
        return over();
    }

    asio::io_context& io;
    std::shared_ptr<Connector> connector;
    std::optional<tcp::endpoint> connected_to;
    std::optional<std::string> failure;
};

TEST_CASE("an address that leads nowhere costs a moment, not the attempt") {
    asio::io_context io;
    Listener nowhere(io, "127.0.0.1", 0);
    Listener there(io);
    nowhere.fill();
    Attempt attempt(io, {nowhere.where(), there.where()});
    attempt.at(0s);
    attempt.at(Connector::next_after - 1ms);
    CHECK_FALSE(there.has_guest());  // the first address has its moment
    attempt.at(Connector::next_after);
    REQUIRE(attempt.ends());
    CHECK(attempt.connected_to == there.where());
}

TEST_CASE("when an address refuses, the next is tried at once") {
    asio::io_context io;
    Listener there(io, "127.0.0.2");
    Attempt attempt(io, {closed_port(io), there.where()});
    attempt.at(0s);
    REQUIRE(attempt.ends());  // no tick has come since
    CHECK(attempt.connected_to == there.where());
}

TEST_CASE("where all addresses refuse, nobody listens; the message is the same in any order") {
    asio::io_context io;
    const std::vector<tcp::endpoint> both = {closed_port(io), closed_port(io, "127.0.0.2")};
    for (const auto& endpoints : {both, {both[1], both[0]}}) {
        Attempt attempt(io, endpoints);
        attempt.at(0s);
        REQUIRE(attempt.ends());
        CHECK(attempt.failure ==
              "nobody listens on b:7701 (127.0.0.1, 127.0.0.2): connection refused");
    }
}

TEST_CASE("a family that this machine has not does not hide that the other refuses") {
    // TCP to a multicast address is "network unreachable" on every machine, and without IPv6 there
    // is no such family or no such address: all three say nothing about the peer.
    asio::io_context io;
    const tcp::endpoint absent = endpoint("ff02::1", 7701);
    const tcp::endpoint refusing = closed_port(io);
    for (const auto& endpoints :
         {std::vector<tcp::endpoint>{absent, refusing}, {refusing, absent}}) {
        Attempt attempt(io, endpoints);
        attempt.at(0s);
        REQUIRE(attempt.ends());
        CAPTURE(*attempt.failure);
        CHECK(attempt.failure->find(
                  "nobody listens on b:7701 (127.0.0.1): connection refused; ff02::1: ") == 0);
    }
    // How a machine without IPv6 says so, and that a machine is down, which is another matter.
    for (const int absence : {EAFNOSUPPORT, EADDRNOTAVAIL, ENETUNREACH})
        CHECK(is_absent({absence, asio::error::get_system_category()}));
    CHECK_FALSE(is_absent({EHOSTUNREACH, asio::error::get_system_category()}));
    Attempt alone(io, {absent});
    alone.at(0s);
    REQUIRE(alone.ends());
    CHECK(contains(*alone.failure, "cannot connect to b:7701 (ff02::1): "));
}

TEST_CASE("each address has its own time, and the message says what each of them said") {
    asio::io_context io;
    Listener nowhere(io, "127.0.0.1", 0);
    Listener nowhere_else(io, "127.0.0.3", 0);
    nowhere.fill();
    nowhere_else.fill();
    Attempt attempt(io, {nowhere.where(), nowhere_else.where(), closed_port(io, "127.0.0.2")});
    attempt.at(0s);
    attempt.at(250ms);
    attempt.at(500ms);
    attempt.at(3s);  // the first is given up, the second has 250 ms left
    CHECK_FALSE(attempt.over());
    attempt.at(3240ms);
    CHECK_FALSE(attempt.over());
    attempt.at(4250ms, 1s);  // this thread has not looked for a second, which is nobody's silence
    REQUIRE(attempt.over());
    CHECK(attempt.failure ==
          "cannot connect to b:7701: 127.0.0.1: no answer within 3000 ms; "
          "127.0.0.2: connection refused; 127.0.0.3: no answer within 3000 ms");
}

TEST_CASE("an attempt that is cancelled says nothing more") {
    asio::io_context io;
    Listener there(io);
    Attempt attempt(io, {there.where(), closed_port(io)});
    attempt.connector->tick(0s, 0s);
    attempt.connector->cancel();
    io.run();
    CHECK_FALSE(attempt.over());
    attempt.at(10s);
    CHECK_FALSE(attempt.over());
}

TEST_CASE("families take turns, that of the best address first, and only so many are tried") {
    const auto four = [](int i) { return endpoint(("127.0.0." + std::to_string(i)).c_str(), 1); };
    const auto six = [](int i) { return endpoint(("fd00::" + std::to_string(i)).c_str(), 1); };
    CHECK(families_in_turn({six(1), six(2), six(3), four(1), four(2)}) ==
          std::vector<tcp::endpoint>{six(1), four(1), six(2), four(2), six(3)});
    CHECK(families_in_turn({four(1), four(2), six(1)}) ==
          std::vector<tcp::endpoint>{four(1), six(1), four(2)});
    asio::io_context io;
    const tcp::endpoint refusing = closed_port(io);
    Attempt attempt(io, std::vector<tcp::endpoint>(100, refusing));
    attempt.at(0s);
    REQUIRE(attempt.ends());
    CHECK(static_cast<std::size_t>(std::count(attempt.failure->begin(), attempt.failure->end(),
                                              ',')) == Connector::endpoints_max - 1);
}

}  // namespace
}  // namespace ako::name_with_several_addresses
