#include "src/launch/ports.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <system_error>

#include "ako/error.h"
#include "src/config/key_places.h"
#include "src/config/peer_list.h"

namespace ako {

namespace {

/// Below the ports that the kernel gives to outgoing connections (32768 and up), so that none of
/// those can take a port between our look and the peer's bind.
constexpr int port_first = 20'000;
constexpr int port_last = 32'000;
/// Tries until a free port must have been found, unless nearly all are taken.
constexpr int tries_max = 1000;

/// 0, or the error number of the attempt to listen there; `text` explains a name that is unknown.
int try_listen(const std::string& host, unsigned port, std::string& text) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (failed != 0) {
        text = gai_strerror(failed);
        return EADDRNOTAVAIL;
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
    const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    int error = 0;
    if (bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 1) != 0) error = errno;
    close(fd);
    text = std::generic_category().message(error);
    return error;
}

}  // namespace

void require_free_ports(const Settings& settings) {
    for (PeerIndex place = 0; place < settings.peers.size(); ++place) {
        const PeerSettings& peer = settings.peers[place];
        const HostPort address = split_address(peer.listen, settings.file, "peers");
        std::string text;
        const int error = try_listen(address.host, address.port, text);
        if (error == 0) continue;
        const std::string what =
            fmt::format("peer {} cannot listen on {}: {}", peer.name, peer.listen, text);
        const char* remedy =
            error == EADDRINUSE
                ? "another run may be using it; --free-ports takes others"
                : "launch starts all peers on this machine; on several machines, start each there "
                  "with `ako train FILE --peer NAME`, or use --free-ports";
        throw at_key(settings, fmt::format("peers.{}.listen", place), StartupError(what, remedy));
    }
}

void use_free_ports(Settings& settings) {
    std::mt19937 random{std::random_device{}()};
    std::uniform_int_distribution<int> any(port_first, port_last);
    std::set<int> taken;
    for (PeerIndex peer = 0; peer < settings.peers.size(); ++peer) {
        if (const auto observed = observe_address(settings, peer))
            taken.insert(static_cast<int>(observed->port));
    }
    for (PeerSettings& peer : settings.peers) {
        int port = 0;
        std::string text;
        for (int tries = 0; port == 0 && tries < tries_max; ++tries) {
            const int candidate = any(random);
            if (taken.contains(candidate)) continue;
            if (try_listen("127.0.0.1", static_cast<unsigned>(candidate), text) == 0)
                port = candidate;
        }
        if (port == 0) throw StartupError("--free-ports: no free port on 127.0.0.1: " + text);
        taken.insert(port);
        peer.address = peer.listen = fmt::format("127.0.0.1:{}", port);
    }
}

}  // namespace ako
