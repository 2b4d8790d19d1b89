// The web server on loopback, and those who use it well and badly.
#include "src/observe/http_server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ako/error.h"
#include "src/observe/ask_status.h"
#include "src/observe/limited_server.h"
#include "tests/unit/observe/observed_example.h"

namespace ako::http_server_test {

namespace {

constexpr const char* host = "127.0.0.1";

/// One that nobody listens at, as far as the kernel knows.
unsigned free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    close(fd);
    return ntohs(address.sin_port);
}

struct Bench {
    Board board;
    unsigned port = free_port();
    HttpServer server{host, port, board};
    httplib::Client client{host, static_cast<int>(port)};
};

/// A connection of one who does not know what HTTP is.
class Client {
  public:
    explicit Client(unsigned port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        REQUIRE(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    }
    ~Client() { close(socket_); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// As much of it as there is room for.
    void send(const std::string& text) const {
        ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    /// The beginning of what the server says; empty: nothing in that time, or it has hung up.
    std::string answer(std::chrono::milliseconds patience) const {
        pollfd wanted{socket_, POLLIN, 0};
        if (poll(&wanted, 1, static_cast<int>(patience.count())) <= 0) return "";
        std::array<char, 256> said{};
        const ssize_t count = recv(socket_, said.data(), said.size(), 0);
        return {said.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
    }
    bool ended_within(std::chrono::milliseconds patience) const {
        pollfd wanted{socket_, POLLIN, 0};
        if (poll(&wanted, 1, static_cast<int>(patience.count())) <= 0) return false;
        std::array<char, 256> answer{};
        return recv(socket_, answer.data(), answer.size(), 0) <= 0;
    }

  private:
    const int socket_;
};

}  // namespace

TEST_CASE("page, metrics and status are served, and nothing else") {
    Bench bench;
    const auto early = bench.client.Get("/metrics");
    REQUIRE(early);
    CHECK(early->status == 503);
    bench.board.post(observed_example());

    const auto metrics = bench.client.Get("/metrics");
    REQUIRE(metrics);
    CHECK(metrics->status == 200);
    CHECK(metrics->get_header_value("Content-Type").starts_with("text/plain; version=0.0.4"));
    CHECK(metrics->body.find("ako_rounds_total 321\n") != std::string::npos);

    const auto page = bench.client.Get("/");
    REQUIRE(page);
    CHECK(page->get_header_value("Content-Type").starts_with("text/html"));
    CHECK(page->body.ends_with("</html>\n"));
    // Nothing from elsewhere.
    CHECK(page->body.find("src=") == std::string::npos);
    CHECK(page->body.find("<link") == std::string::npos);

    CHECK(bench.client.Get("/etc/passwd")->status == 404);
    CHECK(bench.client.Post("/metrics", "x", "text/plain")->status >= 400);
    CHECK(bench.client.Get("/" + std::string(20'000, 'x'))->status == 414);
}

TEST_CASE("a status is asked for, and what is no peer is refused") {
    Bench bench;
    CHECK_FALSE(ask_status(host, bench.port));
    bench.board.post(observed_example());
    const auto observed = ask_status(host, bench.port);
    REQUIRE(observed);
    CHECK(observed->line.round == 321);
    const auto again = ask_status(host, bench.port);
    REQUIRE(again);
    CHECK(observed->age > 0);
    CHECK(again->age > observed->age);
    const auto nobody = ask_status(host, free_port());
    REQUIRE_FALSE(nobody);
    CHECK(nobody.error().what.starts_with("127.0.0.1:"));
}

TEST_CASE("a connection that a browser makes ahead is there when it wants it") {
    Bench bench;
    bench.board.post(observed_example());
    const Client client(bench.port);
    CHECK_FALSE(client.ended_within(RequestReader::header_time_max + std::chrono::seconds(1)));
    client.send("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    CHECK(client.answer(std::chrono::seconds(10)).starts_with("HTTP/1.1 200"));
}

TEST_CASE("a request that trickles in, or is too long, is given up") {
    Bench bench;
    bench.board.post(observed_example());
    constexpr double request_s_max =
        std::chrono::duration<double>(RequestReader::header_time_max).count();
    /// Sends it piece by piece until the server has hung up, or for much too long; seconds.
    const auto hung_up_after = [&](const std::string& first, const std::string& piece,
                                   std::chrono::milliseconds pause) {
        const Client client(bench.port);
        const auto began = std::chrono::steady_clock::now();
        const auto seconds = [began] {
            const auto took = std::chrono::steady_clock::now() - began;
            return std::chrono::duration<double>(took).count();
        };
        client.send(first);
        while (!client.ended_within(pause) && seconds() < 10 * request_s_max) client.send(piece);
        return seconds();
    };
    // A letter at a time, each long before the library would give up waiting for the next.
    CHECK(hung_up_after("GET /metrics HTTP/1.1\r\nX-Long: ", "x", std::chrono::milliseconds(100)) <
          4 * request_s_max);
    // A request of a little more than there may be, and nothing after it.
    std::string long_one = "GET /metrics HTTP/1.1\r\n";
    while (long_one.size() <= RequestReader::header_bytes_max)
        long_one += "X-One-More: " + std::string(4000, 'x') + "\r\n";
    CHECK(hung_up_after(long_one, "", std::chrono::milliseconds(50)) < request_s_max);
    CHECK(bench.client.Get("/metrics")->status == 200);
}

// A user saw: sixty clients that sent a byte a second each, and /health answered nobody, so that
// Compose would have restarted a healthy container.
TEST_CASE("health is told beside a crowd of slow clients, and metrics too") {
    Bench bench;
    bench.board.post(observed_example());
    std::list<Client> crowd;
    for (std::size_t k = 0; k < 3 * RequestReader::of_source_max; ++k) {
        crowd.emplace_back(bench.port).send("GET /health HTTP/1.1\r\nX: ");
        if (k % 20 != 0) continue;
        const auto health = ask_health(host, bench.port);
        CHECK_MESSAGE(health, (health ? *health : health.error().what));
    }
    CHECK(ask_health(host, bench.port));
    CHECK(bench.client.Get("/metrics")->status == 200);
    // The client that had waited longest gave way to those that came after.
    CHECK(crowd.front().ended_within(std::chrono::seconds(5)));
}

// A user saw: a few clients that asked for /health two thousand times in one request, and did not
// read it, kept it from everybody else.
TEST_CASE("an answer is given once, however many ranges of it are asked for") {
    Bench bench;
    bench.board.post(observed_example());
    std::string ranges = "bytes=0-";
    for (int k = 0; k < 2000; ++k) ranges += ",0-";
    for (const char* name : {"Range", "RANGE"}) {
        for (const char* path : {"/health", "/metrics", "/"}) {
            const auto whole = bench.client.Get(path);
            const auto ranged = bench.client.Get(path, {{name, ranges}, {"X-More", "1"}});
            REQUIRE(whole);
            REQUIRE(ranged);
            CHECK(ranged->status == 200);
            CHECK(ranged->body.size() < 2 * whole->body.size());
        }
    }
    // A line that ends with a line feed alone would hide one from who looks for both.
    const Client client(bench.port);
    client.send("GET /metrics HTTP/1.1\r\nX: y\nRange: " + ranges + "\r\n\r\n");
    CHECK(client.ended_within(std::chrono::seconds(5)));
}

TEST_CASE("a peer is asked for its health, and who is none has none") {
    Bench bench;
    const auto early = ask_health(host, bench.port);
    REQUIRE_FALSE(early);
    CHECK(early.error().what.find("only just begun") != std::string::npos);
    bench.board.post(observed_example());
    const auto well = ask_health(host, bench.port);
    REQUIRE(well);
    CHECK(*well == "a is well: training, round 321");
    CHECK(bench.client.Get("/health")->status == 200);
    CHECK_FALSE(ask_health(host, free_port()));
}

TEST_CASE("events come as they are posted, and end with the server") {
    auto bench = std::make_unique<Bench>();
    bench->board.post(observed_example());
    std::string came;
    int rounds = 0;
    const auto stream = bench->client.Get("/events", [&](const char* data, std::size_t size) {
        came.append(data, size);
        if (came.find("\n\n") == std::string::npos) return true;
        CHECK(came.starts_with("data: {"));
        came.clear();
        Observed next = observed_example();
        next.line.round += static_cast<std::uint64_t>(++rounds);
        if (rounds == 3) return false;
        bench->board.post(next);
        return true;
    });
    CHECK(rounds == 3);

    std::atomic<bool> reads = false;
    std::thread reader([&reads, port = bench->port] {
        httplib::Client client(host, static_cast<int>(port));
        client.Get("/events", [&reads](const char*, std::size_t) { return reads = true; });
    });
    while (!reads) std::this_thread::yield();
    bench.reset();
    reader.join();
}

TEST_CASE("more streams than there may be are refused, and metrics are answered beside them") {
    Bench bench;
    bench.board.post(observed_example());
    std::vector<std::thread> readers;
    std::atomic<int> open = 0;
    for (int k = 0; k < HttpServer::streams_max; ++k) {
        readers.emplace_back([&bench, &open] {
            httplib::Client client(host, static_cast<int>(bench.port));
            bool first = true;
            client.Get("/events", [&](const char*, std::size_t) {
                open += std::exchange(first, false) ? 1 : 0;
                return !bench.board.closed();
            });
        });
    }
    while (open < HttpServer::streams_max) std::this_thread::yield();
    CHECK(bench.client.Get("/events")->status == 503);
    CHECK(bench.client.Get("/metrics")->status == 200);
    bench.board.close();
    for (std::thread& reader : readers) reader.join();
}

TEST_CASE("only pages of the run's own peers may read it") {
    Bench bench;
    bench.board.post(observed_example());
    const auto allowed = [&](const std::string& origin) {
        const auto answer = bench.client.Get("/status.json", {{"Origin", origin}});
        REQUIRE(answer);
        return answer->get_header_value("Access-Control-Allow-Origin");
    };
    CHECK(allowed("http://10.0.0.2:9471") == "http://10.0.0.2:9471");
    CHECK(allowed("http://[::1]:9472") == "http://[::1]:9472");
    CHECK(allowed("http://localhost:9471") == "http://localhost:9471");
    CHECK(allowed("http://example.org") == "");
    CHECK(allowed("http://10.0.0.2:80") == "");
}

TEST_CASE("on loopback a name that another has given to this machine is refused") {
    Bench bench;
    bench.board.post(observed_example());
    const auto status_for = [&bench](const std::string& name) {
        return bench.client.Get("/status.json", {{"Host", name}})->status;
    };
    CHECK(status_for("localhost:9470") == 200);
    CHECK(status_for("127.0.0.1") == 200);
    CHECK(status_for("[::1]:9470") == 200);
    CHECK(status_for("127.0.0.1.evil.example:9470") == 421);
    CHECK(status_for("evil.example") == 421);
    CHECK(status_for("::1:9470") == 421);  // without brackets it is none
    CHECK(status_for("10.0.0.1:9470") == 421);
}

TEST_CASE("a port that is taken is an error that names it") {
    Bench bench;
    Board board;
    CHECK_THROWS_AS(HttpServer(host, bench.port, board), StartupError);
}

}  // namespace ako::http_server_test
