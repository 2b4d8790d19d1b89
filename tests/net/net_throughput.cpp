// What one link carries on this machine: endless payloads over loopback for some seconds, then
// GB/s and the processor time of both ends together per GB. Usage: net_throughput [seconds]
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "ako/blocks.h"
#include "ako/clock.h"
#include "net/tcp_transport.h"

namespace {

using namespace ako;

class Endless final : public FrameSource {
  public:
    explicit Endless(bool sends) : payload_(sends ? payload_bytes_limit : 0) {}
    std::optional<OutFrame> next(PeerIndex, std::size_t payload_bytes_max) override {
        if (payload_.empty()) return std::nullopt;
        return OutFrame{Partial{}, std::span(payload_).first(payload_bytes_max), {}};
    }

  private:
    std::vector<std::byte> payload_;
};

class Counting final : public FrameSink {
  public:
    std::optional<std::string> refuse(PeerIndex, const Header&, std::size_t) override {
        return std::nullopt;
    }
    std::optional<Destination> reserve(PeerIndex, const Header&, std::size_t size) override {
        return Destination{std::span(memory_).first(size), 0};
    }
    void arrived(PeerIndex, Header, Destination destination, Time) override {
        bytes += destination.memory.size();
        ++frames;
    }
    void abandoned(PeerIndex, Destination) override {}
    std::optional<Reject> admit(PeerIndex, const Hello&) override { return std::nullopt; }
    void session_up(PeerIndex, const Hello&) override {}
    void session_down(PeerIndex, const std::string&) override {}
    void peer_lost(PeerIndex, const std::string&) override {}
    void poll(Time) override {}

    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> frames{0};

  private:
    std::vector<std::byte> memory_ = std::vector<std::byte>(payload_bytes_limit);
};

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

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

}  // namespace

int main(int argc, char** argv) {
    const double wanted_seconds = argc > 1 ? std::atof(argv[1]) : 3;
    SteadyClock clock;
    Endless news(true);
    Endless nothing(false);
    Counting ignored;
    Counting counted;
    TcpTransport receiver(settings_of(1), clock);
    TcpTransport sender(settings_of(0), clock);
    receiver.bind();
    sender.set_peer_address(1, "127.0.0.1:" + std::to_string(receiver.port()));
    receiver.start(nothing, counted);
    sender.start(news, ignored);
    while (counted.bytes < 100 * payload_bytes_limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));

    const Time began = clock.now();
    const double processor_began = processor_seconds();
    const std::uint64_t bytes_began = counted.bytes;
    const std::uint64_t frames_began = counted.frames;
    std::this_thread::sleep_for(std::chrono::duration<double>(wanted_seconds));
    const double gigabytes = static_cast<double>(counted.bytes - bytes_began) / 1e9;
    const double seconds = std::chrono::duration<double>(clock.now() - began).count();
    const double processor = processor_seconds() - processor_began;
    const auto frames = static_cast<double>(counted.frames - frames_began);
    std::printf("%.2f GB/s, %.0f frames/s of %.0f KiB, %.2f s of processor per GB\n",
                gigabytes / seconds, frames / seconds, gigabytes * 1e9 / frames / 1024,
                processor / gigabytes);
    sender.stop(Time{0});
    receiver.stop(Time{0});
}
