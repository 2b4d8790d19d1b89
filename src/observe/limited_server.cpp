// See limited_server.h.
#include "src/observe/limited_server.h"

#include <netdb.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

namespace ako {
namespace {

using Clock = std::chrono::steady_clock;

/// Is there room to send, now or within this time?
bool room_within(int socket, std::chrono::milliseconds patience) {
    const Clock::time_point until = Clock::now() + patience;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        pollfd wanted{socket, POLLOUT, 0};
        const int ready =
            poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
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
    /// `begun`: what has been read of the request, with its whole header; no more is read.
    /// `patience`: for each piece of the answer.
    LimitedStream(int socket, std::string begun, std::chrono::milliseconds patience)
        : socket_(socket), begun_(std::move(begun)), patience_(patience) {}

    bool is_readable() const override { return read_ < begun_.size(); }
    bool is_writable() const override { return room_within(socket_, patience_); }
    ssize_t read(char* data, std::size_t size) override {
        const std::size_t count = std::min(size, begun_.size() - read_);
        if (count == 0) return -1;
        std::copy_n(begun_.data() + read_, count, data);
        read_ += count;
        return static_cast<ssize_t>(count);
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
    const std::string begun_;
    const std::chrono::milliseconds patience_;
    std::size_t read_ = 0;
};

/// The request without its Range: the library would repeat an answer as often as that asks for it.
std::string without_ranges(std::string begun) {
    for (std::size_t line = begun.find("\r\n"); line != std::string::npos;) {
        const std::size_t from = line + 2, end = begun.find("\r\n", from);
        if (end == from || end == std::string::npos) break;
        if (strncasecmp(begun.c_str() + from, "range", 5) == 0)
            begun.erase(line, end - line);
        else
            line = end;
    }
    return begun;
}

/// What the library gives to a thread is to hand a connection on, which its own does as well.
class AtOnce final : public httplib::TaskQueue {
  public:
    void enqueue(std::function<void()> task) override { task(); }
    void shutdown() override {}
};

}  // namespace

LimitedServer::LimitedServer(std::string at_once, std::size_t threads, std::size_t waiting_max)
    : at_once_(std::move(at_once)),
      workers_(threads, waiting_max),
      reader_([this](int socket, std::string begun) {
          begun = without_ranges(std::move(begun));
          // On this thread, which must never wait.
          if (begun.starts_with(at_once_)) return answer(socket, std::move(begun), {});
          const bool taken = workers_.take([this, socket, begun = std::move(begun)]() mutable {
              answer(socket, std::move(begun), write_time_max);
          });
          if (!taken) close(socket);
      }) {
    new_task_queue = [] { return new AtOnce; };
}

LimitedServer::~LimitedServer() = default;

bool LimitedServer::process_and_close_socket(socket_t socket) {
    reader_.take(socket);
    return true;
}

void LimitedServer::answer(int socket, std::string begun, std::chrono::milliseconds patience) {
    LimitedStream stream(socket, std::move(begun), patience);
    bool closed = false;
    process_request(stream, true, closed, nullptr);
    shutdown(socket, SHUT_RDWR);
    close(socket);
}

}  // namespace ako
