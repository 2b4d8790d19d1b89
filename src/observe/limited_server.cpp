// See limited_server.h.
#include "src/observe/limited_server.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace ako {
namespace {

using Clock = std::chrono::steady_clock;

/// Until then; false if nothing came of it.
bool wait_for(int socket, short event, Clock::time_point until) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        if (left.count() <= 0) return false;
        pollfd wanted{socket, event, 0};
        const int ready = poll(&wanted, 1, static_cast<int>(left.count()));
        if (ready > 0) return true;
        if (ready == 0 || errno != EINTR) return false;
    }
}

/// `ask`: getpeername or getsockname.
template <typename Ask>
void name_end(int socket, Ask ask, std::string& ip, int& port) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (ask(socket, any, &size) != 0) return;
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> service{};
    if (getnameinfo(any, size, host.data(), host.size(), service.data(), service.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    ip = host.data();
    port = std::atoi(service.data());
}

class LimitedStream final : public httplib::Stream {
  public:
    explicit LimitedStream(int socket)
        : socket_(socket), request_until_(Clock::now() + LimitedServer::request_time_max) {}

    bool is_readable() const override { return wait_for(socket_, POLLIN, request_until_); }
    bool is_writable() const override {
        return wait_for(socket_, POLLOUT, Clock::now() + LimitedServer::write_time_max);
    }
    ssize_t read(char* data, std::size_t size) override {
        const std::size_t room = std::min(size, LimitedServer::request_bytes_max - read_);
        if (room == 0 || !is_readable()) return -1;
        const ssize_t count = recv(socket_, data, room, 0);
        if (count > 0) read_ += static_cast<std::size_t>(count);
        return count;
    }
    ssize_t write(const char* data, std::size_t size) override {
        if (!is_writable()) return -1;
        return send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    void get_remote_ip_and_port(std::string& ip, int& port) const override {
        name_end(socket_, getpeername, ip, port);
    }
    void get_local_ip_and_port(std::string& ip, int& port) const override {
        name_end(socket_, getsockname, ip, port);
    }
    socket_t socket() const override { return socket_; }

  private:
    const int socket_;
    const Clock::time_point request_until_;
    std::size_t read_ = 0;
};

}  // namespace

bool LimitedServer::process_and_close_socket(socket_t socket) {
    LimitedStream stream(socket);
    bool closed = false;
    const bool answered = process_request(stream, true, closed, nullptr);
    shutdown(socket, SHUT_RDWR);
    close(socket);
    return answered;
}

}  // namespace ako
