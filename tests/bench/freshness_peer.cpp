// One peer of experiments/freshness: the real transport and the real mode `ako` around rounds that
// sleep, and a note of every partial that arrives: how long ago its sender bound it, by the one
// clock of this machine. `measure.py` there starts one in each namespace and reads the last line.
//
// Usage: freshness_peer SELF ROUND_MS FROM UNTIL ADDRESS...
// FROM and UNTIL are seconds of the monotonic clock; between them it takes notes, then it ends.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "net/tcp_transport.h"
#include "src/modes/make_exchange.h"

namespace {

using namespace ako;

constexpr std::size_t lenet_parameter_count = 431'080;

/// What came from one peer.
struct Received {
    std::uint64_t bytes = 0;  ///< payload of partials
    std::vector<Time> ages;
};

/// Passes everything on to the mode, and takes notes of what arrives. Network thread.
class NotingHost final : public TransportHost {
  public:
    NotingHost(TransportHost& inner, Time from, Time until, std::vector<Received>& received)
        : inner_(inner), from_(from), until_(until), received_(received) {}

    std::optional<OutFrame> next(PeerIndex peer, std::size_t payload_bytes_max) override {
        return inner_.next(peer, payload_bytes_max);
    }
    double unsent_payloads() const override { return inner_.unsent_payloads(); }
    std::optional<std::string> refuse(PeerIndex peer, const Header& header,
                                      std::size_t bytes) override {
        return inner_.refuse(peer, header, bytes);
    }
    std::optional<Destination> reserve(PeerIndex peer, const Header& header,
                                       std::size_t bytes) override {
        return inner_.reserve(peer, header, bytes);
    }
    void arrived(PeerIndex peer, Header header, Destination destination, Time at) override {
        const auto* partial = std::get_if<Partial>(&header);
        if (partial != nullptr && at >= from_ && at < until_) {
            received_[peer].bytes += destination.memory.size();
            received_[peer].ages.push_back(at - partial->bound_at);
        }
        inner_.arrived(peer, std::move(header), destination, at);
    }
    void abandoned(PeerIndex peer, Destination destination) override {
        inner_.abandoned(peer, destination);
    }
    std::optional<Reject> admit(PeerIndex peer, const Hello& hello) override {
        return inner_.admit(peer, hello);
    }
    void session_up(PeerIndex peer, const Hello& hello) override { inner_.session_up(peer, hello); }
    void session_down(PeerIndex peer, const std::string& why, Time silence) override {
        inner_.session_down(peer, why, silence);
    }
    void peer_lost(PeerIndex peer, const std::string& why) override { inner_.peer_lost(peer, why); }
    void poll(Time now) override { inner_.poll(now); }

  private:
    TransportHost& inner_;
    const Time from_;
    const Time until_;
    std::vector<Received>& received_;
};

/// The TCP transport with a NotingHost before the mode.
class NotingTransport final : public Transport {
  public:
    NotingTransport(TransportSettings settings, const Clock& clock, Time from, Time until)
        : received(settings.peers.size()),
          inner_(std::move(settings), clock),
          from_(from),
          until_(until) {}

    void start(TransportHost& host) override {
        host_ = std::make_unique<NotingHost>(host, from_, until_, received);
        inner_.start(*host_);
    }
    void notify() override { inner_.notify(); }
    void wake(PeerIndex peer) override { inner_.wake(peer); }
    void resume(PeerIndex peer) override { inner_.resume(peer); }
    void copy_aside(PeerIndex peer) override { inner_.copy_aside(peer); }
    std::vector<LinkCounters> counters() const override { return inner_.counters(); }
    void stop(Time drain_until) override { inner_.stop(drain_until); }

    std::vector<Received> received;  ///< [peer]; the network thread's until stop()

  private:
    std::unique_ptr<NotingHost> host_;
    TcpTransport inner_;
    const Time from_;
    const Time until_;
};

void log(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

TransportSettings transport_settings(PeerIndex self, const std::vector<std::string>& addresses) {
    TransportSettings settings;
    settings.self = self;
    settings.hello.run_name = "freshness";
    settings.hello.peer_name = std::to_string(self);
    settings.hello.process_id = self + 1;
    for (const std::string& address : addresses) {
        settings.peers.push_back({std::to_string(settings.peers.size()), address, address});
    }
    settings.life_timeout_ms = 10'000;  // how fast a loss is noticed is not the question here
    settings.log = log;
    return settings;
}

ModeSettings mode_settings(PeerIndex self, std::size_t peer_count) {
    ModeSettings settings;
    settings.self = self;
    settings.process_id = self + 1;
    for (std::size_t peer = 0; peer < peer_count; ++peer) {
        settings.peer_names.push_back(std::to_string(peer));
    }
    settings.sample_budget = std::uint64_t{1} << 40;  // never spent
    settings.log = [](const std::string&) {};         // peers that leave when the time is over
    return settings;
}

void print(const std::vector<Received>& received) {
    std::printf("[");
    for (std::size_t peer = 0; peer < received.size(); ++peer) {
        std::printf("%s{\"bytes\": %llu, \"ages_ms\": [", peer == 0 ? "" : ", ",
                    static_cast<unsigned long long>(received[peer].bytes));
        const char* comma = "";
        for (const Time age : received[peer].ages) {
            std::printf("%s%.3f", std::exchange(comma, ", "),
                        std::chrono::duration<double, std::milli>(age).count());
        }
        std::printf("]}");
    }
    std::printf("]\n");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 7) {
        log("usage: freshness_peer SELF ROUND_MS FROM UNTIL ADDRESS ADDRESS...");
        return 2;
    }
    const auto self = static_cast<PeerIndex>(std::atoi(argv[1]));
    const auto round_time = std::chrono::milliseconds(std::atoi(argv[2]));
    const Time until = from_seconds(std::atof(argv[4]));
    const std::vector<std::string> addresses(argv + 5, argv + argc);
    SteadyClock clock;
    NotingTransport transport(transport_settings(self, addresses), clock,
                              from_seconds(std::atof(argv[3])), until);
    {
        std::atomic<int> interrupts = 0;
        const auto exchange = make_exchange(mode_settings(self, addresses.size()),
                                            std::vector<float>(lenet_parameter_count, 1.0f),
                                            transport, clock, interrupts);
        exchange->start();
        std::vector<float> gradient(lenet_parameter_count, 1e-3f);
        while (clock.now() < until && exchange->begin_round(forever)->kind == Next::Kind::train) {
            std::this_thread::sleep_for(round_time);
            if (!exchange->end_round(Gradient{gradient}, {1, 0.5f})) return 1;
        }
    }  // stops the transport
    print(transport.received);
}
