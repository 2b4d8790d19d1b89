// What one link carries on this machine and what it costs, beside a plain send/recv loop in the
// same run: endless payloads over loopback in one direction, two threads, the same payload size and
// the same socket options; and the plain loop once more with the options as they come. Each side
// sends from, and reads into, memory that it walks through round and round: once as much as LeNet's
// row, which a cache holds, and once 64 MB, which none does.
//
// Usage: link_throughput [SECONDS [RUNS]]
// Prints medians of RUNS interleaved runs: GB/s, seconds of processor (both ends together) per GB.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "ako/assert.h"
#include "ako/blocks.h"
#include "ako/clock.h"
#include "net/tcp_transport.h"

namespace {

using namespace ako;

constexpr std::size_t payload_bytes = payload_bytes_limit;
/// As net/socket_options.cpp has it.
constexpr int unsent_bytes_max = 16 * 1024;

/// Memory that is walked through in payloads, round and round.
class Ring {
  public:
    explicit Ring(std::size_t bytes) : memory_(std::max(bytes, payload_bytes), std::byte{1}) {}

    std::span<std::byte> next(std::size_t bytes) {
        if (at_ + bytes > memory_.size()) at_ = 0;
        at_ += bytes;
        return std::span(memory_).subspan(at_ - bytes, bytes);
    }

  private:
    std::vector<std::byte> memory_;
    std::size_t at_ = 0;
};

/// Something that carries bytes from its construction to its destruction.
class Flow {
  public:
    virtual ~Flow() = default;
    std::uint64_t bytes() const { return received_; }

  protected:
    std::atomic<std::uint64_t> received_{0};
};

// ---- a link of ours

/// Takes what comes, and has nothing to say.
class Counting : public TransportHost {
  public:
    Counting(std::size_t ring_bytes, std::atomic<std::uint64_t>& received)
        : ring_(ring_bytes), received_(received) {}

    std::optional<OutFrame> next(PeerIndex, std::size_t) override { return std::nullopt; }
    std::optional<std::string> refuse(PeerIndex, const Header&, std::size_t) override {
        return std::nullopt;
    }
    std::optional<Destination> reserve(PeerIndex, const Header&, std::size_t bytes) override {
        return Destination{ring_.next(bytes), 0};
    }
    void arrived(PeerIndex, Header, Destination destination, Time) override {
        received_ += destination.memory.size();
    }
    void abandoned(PeerIndex, Destination) override {}
    std::optional<Reject> admit(PeerIndex, const Hello&) override { return std::nullopt; }
    void session_up(PeerIndex, const Hello&) override {}
    void session_down(PeerIndex, const std::string&, Time) override {}
    void peer_lost(PeerIndex, const std::string&) override {}
    void poll(Time) override {}

  private:
    Ring ring_;
    std::atomic<std::uint64_t>& received_;
};

/// Always has one more payload, and hears nothing.
class Endless final : public Counting {
  public:
    Endless(std::size_t ring_bytes, std::atomic<std::uint64_t>& received)
        : Counting(0, received), news_(ring_bytes) {}

    std::optional<OutFrame> next(PeerIndex, std::size_t payload_bytes_max) override {
        return OutFrame{Partial{}, news_.next(payload_bytes_max), {}};
    }

  private:
    Ring news_;
};

TransportSettings settings_of(PeerIndex self) {
    TransportSettings settings;
    settings.self = self;
    settings.hello.process_id = self + 1;
    // One way only, so the silence of the receiver is no sign of its death.
    settings.life_timeout_ms = 3'600'000;
    for (const char* name : {"sender", "receiver"})
        settings.peers.push_back({name, "127.0.0.1:1", "127.0.0.1:0"});
    return settings;
}

class AkoLink final : public Flow {
  public:
    explicit AkoLink(std::size_t ring_bytes)
        : endless_(ring_bytes, nothing_),
          counted_(ring_bytes, received_),
          receiver_(settings_of(1), clock_),
          sender_(settings_of(0), clock_) {
        receiver_.bind();
        sender_.set_peer_address(1, "127.0.0.1:" + std::to_string(receiver_.port()));
        receiver_.start(counted_);
        sender_.start(endless_);
    }
    ~AkoLink() override {
        sender_.stop(Time{0});
        receiver_.stop(Time{0});
    }

  private:
    SteadyClock clock_;
    std::atomic<std::uint64_t> nothing_{0};
    Endless endless_;
    Counting counted_;
    TcpTransport receiver_;
    TcpTransport sender_;
};

// ---- a plain loop

class PlainLoop final : public Flow {
  public:
    PlainLoop(std::size_t ring_bytes, bool our_options) {
        const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        socklen_t length = sizeof address;
        AKO_ASSERT(::bind(listener, generic, length) == 0 && ::listen(listener, 1) == 0,
                   "loopback");
        ::getsockname(listener, generic, &length);
        out_ = ::socket(AF_INET, SOCK_STREAM, 0);
        AKO_ASSERT(::connect(out_, generic, length) == 0, "loopback");
        in_ = ::accept(listener, nullptr, nullptr);
        ::close(listener);
        if (our_options) {
            const int yes = 1;
            ::setsockopt(out_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            ::setsockopt(out_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes_max,
                         sizeof unsent_bytes_max);
        }
        sender_ = std::thread([this, ring_bytes] { send_all(ring_bytes); });
        receiver_ = std::thread([this, ring_bytes] { receive_all(ring_bytes); });
    }
    ~PlainLoop() override {
        ::shutdown(out_, SHUT_RDWR);
        ::shutdown(in_, SHUT_RDWR);
        sender_.join();
        receiver_.join();
        ::close(out_);
        ::close(in_);
    }

  private:
    void send_all(std::size_t ring_bytes) const {
        Ring ring(ring_bytes);
        while (true) {
            std::span<const std::byte> left = ring.next(payload_bytes);
            while (!left.empty()) {
                const ssize_t count = ::send(out_, left.data(), left.size(), MSG_NOSIGNAL);
                if (count <= 0) return;
                left = left.subspan(static_cast<std::size_t>(count));
            }
        }
    }
    void receive_all(std::size_t ring_bytes) {
        Ring ring(ring_bytes);
        while (true) {
            std::span<std::byte> left = ring.next(payload_bytes);
            while (!left.empty()) {
                const ssize_t count = ::recv(in_, left.data(), left.size(), 0);
                if (count <= 0) return;
                left = left.subspan(static_cast<std::size_t>(count));
            }
            received_ += payload_bytes;
        }
    }

    int out_ = -1;
    int in_ = -1;
    std::thread sender_;
    std::thread receiver_;
};

// ---- measuring

struct Figures {
    std::vector<double> gigabytes_per_s;
    std::vector<double> processor_per_gigabyte;
};

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measure(const Flow& flow, double seconds_wanted, Figures& figures) {
    while (flow.bytes() < 100 * payload_bytes)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const SteadyClock clock;
    const Time began = clock.now();
    const double processor_began = processor_seconds();
    const std::uint64_t bytes_began = flow.bytes();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_wanted));
    const double gigabytes = static_cast<double>(flow.bytes() - bytes_began) / 1e9;
    const double seconds = std::chrono::duration<double>(clock.now() - began).count();
    figures.gigabytes_per_s.push_back(gigabytes / seconds);
    figures.processor_per_gigabyte.push_back((processor_seconds() - processor_began) / gigabytes);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void print(const char* name, const Figures& figures, const Figures& yardstick) {
    const double rate = median(figures.gigabytes_per_s);
    const double cost = median(figures.processor_per_gigabyte);
    std::printf("  %-30s%8.2f GB/s (%.2f)%8.3f s/GB (%.2f)\n", name, rate,
                rate / median(yardstick.gigabytes_per_s), cost,
                cost / median(yardstick.processor_per_gigabyte));
}

}  // namespace

int main(int argc, char** argv) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
    const int runs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
    for (const std::size_t ring_bytes : {std::size_t{1'724'320}, std::size_t{64'000'000}}) {
        Figures link, same, defaults;
        for (int run = 0; run < runs; ++run) {
            measure(AkoLink(ring_bytes), seconds, link);
            measure(PlainLoop(ring_bytes, true), seconds, same);
            measure(PlainLoop(ring_bytes, false), seconds, defaults);
        }
        std::printf("walking through %.1f MB; in brackets: of the plain loop, same options\n",
                    static_cast<double>(ring_bytes) / 1e6);
        print("one link", link, same);
        print("plain loop, same options", same, same);
        print("plain loop, default options", defaults, same);
    }
}
