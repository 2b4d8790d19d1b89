// See http_server.h.
#include "src/observe/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "ako/error.h"
#include "net/address_range.h"
#include "src/observe/health.h"
#include "src/observe/limited_server.h"
#include "src/observe/page.h"
#include "src/observe/prometheus_text.h"
#include "src/observe/status_json.h"

namespace ako {
namespace {

/// After so long without news a stream says that it is there, by which a client that went is found.
constexpr std::chrono::seconds stream_beat{5};

using Clock = std::chrono::steady_clock;

std::string origin_of(const std::string& host, unsigned port) {
    const bool is_ip6 = host.find(':') != std::string::npos;
    return fmt::format(fmt::runtime(is_ip6 ? "http://[{}]:{}" : "http://{}:{}"), host, port);
}

Observed with_age(const Board::Post& post) {
    Observed observed = *post.observed;
    observed.age = std::chrono::duration<double>(Clock::now() - post.at).count();
    return observed;
}

/// With brackets or without them.
bool is_loopback(std::string host) {
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return host == "localhost" || address_range(host) == AddressRange::loopback;
}

/// Without its port; an address of IPv6 stays in brackets.
std::string host_of(const std::string& host_header) {
    return host_header.substr(0, host_header.find(':', host_header.find(']') + 1));
}

}  // namespace

HttpServer::HttpServer(const std::string& host, unsigned port, Board& board)
    : board_(board),
      cluster_(board),
      port_(port),
      server_(std::make_unique<LimitedServer>("GET /health ", threads, waiting_max)) {
    set_limits();
    set_routes();
    if (is_loopback(host)) refuse_other_names();
    const bool bound = server_->bind_to_port(host.c_str(), static_cast<int>(port));
    if (!bound)
        throw StartupError(
            fmt::format("observe.address: cannot listen at {}:{}", host, port),
            "another program may use that port, or the address is none of this machine; another: "
            "--set observe.address=127.0.0.1:9570");
    server_->let_wait(static_cast<int>(RequestReader::of_all_max));
    thread_ = std::thread([this] {
        server_->listen_after_bind();
        ended_ = true;
    });
}

HttpServer::~HttpServer() {
    board_.close();
    // The library hears of nothing before it has begun to accept.
    while (!server_->is_running() && !ended_) std::this_thread::yield();
    if (!ended_) server_->stop();
    thread_.join();
}

void HttpServer::set_limits() {
    // Unless told so, the library shares a port with whoever listens there already.
    server_->set_socket_options([](int socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_->set_payload_max_length(0);
    server_->set_default_headers({{"Cache-Control", "no-store"},
                                  {"X-Content-Type-Options", "nosniff"},
                                  {"Content-Security-Policy",
                                   "default-src 'none'; style-src 'unsafe-inline'; script-src "
                                   "'unsafe-inline'; connect-src http:; img-src data:"}});
}

// Another name that leads here was given out by somebody else, whose page, in a browser of this
// machine, would then be of the same origin (DNS rebinding).
void HttpServer::refuse_other_names() {
    server_->set_pre_routing_handler([](const httplib::Request& request,
                                        httplib::Response& response) {
        using Answer = httplib::Server::HandlerResponse;
        const std::string header = request.get_header_value("Host");
        const std::string host = host_of(header);
        // Every browser says it.
        if (header.empty() || is_loopback(host)) return Answer::Unhandled;
        response.status = 421;
        response.set_content("this listens on loopback, and is not " + host + "\n", "text/plain");
        return Answer::Handled;
    });
}

void HttpServer::allow_origin(const httplib::Request& request, httplib::Response& response) const {
    const std::string origin = request.get_header_value("Origin");
    const Board::Post post = board_.newest();
    if (origin.empty() || !post.observed) return;
    const auto& peers = post.observed->run.peers;
    const bool known = std::any_of(peers.begin(), peers.end(), [&](const ObservedPeer& peer) {
        // Ports of containers are published at the machine that a browser runs on.
        return origin == origin_of(peer.host, peer.port) ||
               origin == origin_of("localhost", peer.port) ||
               origin == origin_of("127.0.0.1", peer.port) || origin == origin_of("::1", peer.port);
    });
    if (!known) return;
    response.set_header("Access-Control-Allow-Origin", origin);
    response.set_header("Vary", "Origin");
}

void HttpServer::set_routes() {
    const auto with_newest = [this](auto answer) {
        return [this, answer](const httplib::Request& request, httplib::Response& response) {
            allow_origin(request, response);
            const Board::Post post = board_.newest();
            if (!post.observed) {
                response.status = 503;
                response.set_content("nothing is known yet: ask again in a second\n", "text/plain");
                return;
            }
            answer(with_age(post), response);
        };
    };
    server_->Get("/", [](const httplib::Request&, httplib::Response& response) {
        response.set_content(std::string(page()), "text/html; charset=utf-8");
    });
    server_->Get("/metrics", with_newest([](const Observed& observed, httplib::Response& response) {
                     response.set_content(prometheus_text(observed), prometheus_content_type);
                 }));
    server_->Get("/status.json",
                 with_newest([](const Observed& observed, httplib::Response& response) {
                     response.set_content(status_text(observed) + "\n", "application/json");
                 }));
    server_->Get(
        "/bottleneck.json", with_newest([this](const Observed&, httplib::Response& response) {
            response.set_content(to_json_text(cluster_.newest()) + "\n", "application/json");
        }));
    server_->Get("/history.json", [this](const httplib::Request&, httplib::Response& response) {
        response.set_content(board_.history().text() + "\n", "application/json");
    });
    server_->Get("/health", [this](const httplib::Request&, httplib::Response& response) {
        const Health health = health_of(board_.newest(), Clock::now());
        response.status = health.is_well ? 200 : 503;
        response.set_content(health.words + "\n", "text/plain; charset=utf-8");
    });
    server_->Get("/events", [this](const httplib::Request& request, httplib::Response& response) {
        allow_origin(request, response);
        stream(response);
    });
}

void HttpServer::stream(httplib::Response& response) {
    if (streams_.fetch_add(1) >= streams_max) {
        streams_.fetch_sub(1);
        response.status = 503;
        response.set_content("too many streams of events are open\n", "text/plain");
        return;
    }
    auto number = std::make_shared<std::uint64_t>(0);
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, number](std::size_t, httplib::DataSink& sink) {
            const Board::Post post = board_.wait_newer(*number, stream_beat);
            if (board_.closed()) return false;
            const bool is_new = post.number > *number;
            *number = post.number;
            const std::string text =
                is_new ? "data: " + status_text(with_age(post)) + "\n\n" : ": nothing new\n\n";
            return sink.write(text.data(), text.size());
        },
        [this](bool) { streams_.fetch_sub(1); });
}

}  // namespace ako
