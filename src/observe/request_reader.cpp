// See request_reader.h.
#include "src/observe/request_reader.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <utility>

namespace ako {
namespace {

/// Whoever reads lines to a line feed alone would see others than are looked at here.
bool has_bare_line_feed(const std::string& begun) {
    const std::size_t end = begun.find("\r\n\r\n");
    for (std::size_t at = begun.find('\n'); at < end; at = begun.find('\n', at + 1))
        if (at == 0 || begun[at - 1] != '\r') return true;
    return false;
}

/// The address without its port; empty: the other end is gone.
std::string source_of(int socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes =
        address.ss_family == AF_INET6
            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr)
            : &reinterpret_cast<const sockaddr_in*>(&address)->sin_addr;
    if (inet_ntop(address.ss_family, bytes, text.data(), text.size()) == nullptr) return "";
    return text.data();
}

}  // namespace

RequestReader::RequestReader(Handler handler)
    : handler_(std::move(handler)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

RequestReader::~RequestReader() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    eventfd_write(wake_, 1);
    thread_.join();
    for (const Waiting& waiting : waiting_) close(waiting.socket);
    for (const int socket : new_) close(socket);
    close(wake_);
}

void RequestReader::take(int socket) {
    {
        const std::lock_guard lock(mutex_);
        new_.push_back(socket);
    }
    eventfd_write(wake_, 1);
}

void RequestReader::run() {
    std::vector<pollfd> watched;
    for (;;) {
        watched.assign(1, {wake_, POLLIN, 0});
        for (const Waiting& waiting : waiting_) watched.push_back({waiting.socket, POLLIN, 0});
        int timeout = -1;
        if (!waiting_.empty()) {
            const auto first = std::min_element(
                waiting_.begin(), waiting_.end(),
                [](const Waiting& one, const Waiting& other) { return one.until < other.until; });
            const auto left = first->until - Clock::now();
            timeout = static_cast<int>(std::max<std::int64_t>(
                0, std::chrono::ceil<std::chrono::milliseconds>(left).count()));
        }
        if (poll(watched.data(), watched.size(), timeout) < 0 && errno != EINTR) return;
        for (std::size_t k = 0; k < waiting_.size(); ++k)
            if (watched[k + 1].revents != 0) read(waiting_[k]);
        close_late(Clock::now());
        {
            const std::lock_guard lock(mutex_);
            if (ended_) return;
        }
        if (watched[0].revents != 0) take_new();
    }
}

void RequestReader::take_new() {
    eventfd_t count = 0;
    eventfd_read(wake_, &count);
    std::vector<int> sockets;
    {
        const std::lock_guard lock(mutex_);
        sockets.swap(new_);
    }
    for (const int socket : sockets) {
        Waiting waiting{socket, source_of(socket), "", Clock::now() + silence_max};
        make_room(waiting.source);
        waiting_.push_back(std::move(waiting));
        read(waiting_.back());  // usually all of it is there
        if (waiting_.back().over) waiting_.pop_back();
    }
}

void RequestReader::make_room(const std::string& source) {
    std::map<std::string, std::size_t> of_source;
    for (const Waiting& waiting : waiting_) ++of_source[waiting.source];
    std::string most = source;
    if (of_source[source] < of_source_max) {
        if (waiting_.size() < of_all_max) return;
        for (const auto& [other, count] : of_source)
            if (count > of_source[most]) most = other;
    }
    const auto oldest = std::find_if(waiting_.begin(), waiting_.end(),
                                     [&](const Waiting& it) { return it.source == most; });
    // Each source may have one alone.
    const auto leaves = oldest == waiting_.end() ? waiting_.begin() : oldest;
    close(leaves->socket);
    waiting_.erase(leaves);
}

void RequestReader::read(Waiting& from) {
    std::array<char, 4096> bytes;
    for (;;) {
        const ssize_t count = recv(from.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (count > 0) {
            if (from.begun.empty()) from.until = Clock::now() + header_time_max;
            from.begun.append(bytes.data(), static_cast<std::size_t>(count));
        }
        const bool whole = from.begun.find("\r\n\r\n") != std::string::npos;
        if (whole && !has_bare_line_feed(from.begun)) {
            from.over = true;
            return handler_(from.socket, std::move(from.begun));
        }
        if (whole || count <= 0 || from.begun.size() > header_bytes_max) {
            from.over = true;
            close(from.socket);
            return;
        }
    }
}

void RequestReader::close_late(Clock::time_point now) {
    for (Waiting& waiting : waiting_) {
        if (waiting.over || now < waiting.until) continue;
        waiting.over = true;
        close(waiting.socket);
    }
    std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.over; });
}

}  // namespace ako
