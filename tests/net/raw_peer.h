// A peer made of a bare blocking socket, for everything that an honest transport would not do.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/codec.h"
#include "net/frame_prefix.h"

namespace ako::test {

class RawPeer {
  public:
    /// Connects to a port of this machine; reads wait at most 10 s.
    explicit RawPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const timeval limit{10, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        const int at_once = 1;  // what is sent is there before the next timer
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ =
            ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    ~RawPeer() { close(); }
    RawPeer(const RawPeer&) = delete;
    RawPeer& operator=(const RawPeer&) = delete;

    bool connected() const { return connected_; }

    void close() {
        if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    }
    /// Closes so that the other end sees a reset.
    void reset() {
        const linger now{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close();
    }

    bool send(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        }
        return true;
    }
    bool send(const Header& header, std::span<const std::byte> payload = {}) {
        return send(encode_frame_head(header, payload.size())) && send(payload);
    }

    /// Fills `bytes`; false at the end of the stream, an error or after 10 s.
    bool read(std::span<std::byte> bytes) {
        while (!bytes.empty()) {
            const auto count = ::recv(socket_, bytes.data(), bytes.size(), 0);
            if (count <= 0) return false;
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
        return true;
    }
    /// The next header; its payload is thrown away.
    std::optional<Header> read_frame() {
        std::array<std::byte, frame_prefix_bytes> prefix_bytes;
        if (!read(prefix_bytes)) return std::nullopt;
        const auto prefix = decode_prefix(prefix_bytes);
        if (!prefix) return std::nullopt;
        std::vector<std::byte> bytes(prefix->header_bytes + prefix->payload_bytes);
        if (!read(bytes)) return std::nullopt;
        if (!check_header(*prefix, std::span(bytes).first(prefix->header_bytes)))
            return std::nullopt;
        auto header = decode_header(std::span(bytes).first(prefix->header_bytes));
        if (!header) return std::nullopt;
        return *header;
    }

    /// The next header, if it is a Hello.
    std::optional<Hello> read_hello() {
        const auto header = read_frame();
        if (!header || !std::holds_alternative<Hello>(*header)) return std::nullopt;
        return std::get<Hello>(*header);
    }

    /// The whole handshake of a dialler; true if the session stands.
    bool shake_hands(const Hello& hello) {
        return send(Header{hello}) && read_hello() && send(Header{hello});
    }

  private:
    friend class RawListener;
    explicit RawPeer(int socket, bool connected) : socket_(socket), connected_(connected) {}

    int socket_;
    bool connected_ = false;
};

/// A bare listening socket on a port of its own.
class RawListener {
  public:
    RawListener() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const timeval limit{10, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address_;
        ::bind(socket_, reinterpret_cast<const sockaddr*>(&address_), size);
        ::listen(socket_, 8);
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address_), &size);
    }
    ~RawListener() { ::close(socket_); }
    RawListener(const RawListener&) = delete;
    RawListener& operator=(const RawListener&) = delete;

    std::string address() const { return "127.0.0.1:" + std::to_string(ntohs(address_.sin_port)); }
    /// The next connection; not connected() if none comes for 10 s.
    std::unique_ptr<RawPeer> accept() {
        const int taken = ::accept(socket_, nullptr, nullptr);
        const timeval limit{10, 0};
        if (taken >= 0) ::setsockopt(taken, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        return std::unique_ptr<RawPeer>(new RawPeer(taken, taken >= 0));
    }

  private:
    int socket_;
    sockaddr_in address_{};
};

}  // namespace ako::test
