// See ako_exchange.h.
#include "src/modes/ako_exchange.h"

#include <algorithm>

namespace ako {
namespace {

/// To write the last Status and the Bye; a peer that does not read by then will see the sessions
/// close.
constexpr Time goodbye_max = std::chrono::seconds(2);

/// One round's ingress: every other peer's whole row. Never less than one largest frame a peer.
std::size_t ingress_bytes_max(std::size_t peer_count, std::size_t parameter_count) {
    return (peer_count - 1) * std::max(parameter_count * sizeof(float), payload_bytes_limit);
}

}  // namespace

AkoExchange::AkoExchange(ModeSettings settings, std::vector<float> initial, Transport& transport,
                         const Clock& clock, const std::atomic<int>& interrupts)
    : settings_(std::move(settings)),
      initial_(std::move(initial)),
      transport_(transport),
      clock_(clock),
      interrupts_(interrupts),
      pool_(ingress_bytes_max(settings_.peer_count(), initial_.size())),
      inbox_(settings_.peer_count()),
      outbox_(settings_.peer_count()),
      snapshots_(Blocks(initial_.size(), settings_.block_elements)),
      peer_(settings_, initial_, inbox_, outbox_, snapshots_),
      links_(settings_, Blocks(initial_.size(), settings_.block_elements), inbox_, outbox_,
             snapshots_, pool_, transport_, clock_) {}

AkoExchange::~AkoExchange() {
    if (running_) transport_.stop(clock_.now());
}

void AkoExchange::start() {
    transport_.start(links_, links_);
    running_ = true;
}

Next AkoExchange::begin_round() {
    while (true) {
        if (interrupts_ > 0) peer_.request_stop(StopReason::requested);
        if (links_.left_behind()) peer_.leave_off();
        const AkoPeer::Begin begin = peer_.begin_round(clock_.now());
        transport_.notify();
        switch (begin.kind) {
            case AkoPeer::Begin::Kind::train:
                return {Next::Kind::train, ""};
            case AkoPeer::Begin::Kind::stop:
                return {Next::Kind::stop, begin.why};
            case AkoPeer::Begin::Kind::failed:
                return {Next::Kind::failed,
                        begin.why + ": " +
                            waiting_for(peer_.missing(), settings_.peer_names,
                                        transport_.counters())};
            case AkoPeer::Begin::Kind::wait:
                break;
        }
        if (!peer_.started()) log_missing();
        wait(peer_.started() ? std::vector<PeerIndex>() : peer_.missing());
    }
}

void AkoExchange::wait(const std::vector<PeerIndex>& missing) {
    if (settings_.waits) settings_.waits(missing);
    inbox_.wait(wait_step);
}

void AkoExchange::log_missing() {
    const Time now = clock_.now();
    if (!waiting_line_.due(now)) return;
    const std::string line =
        waiting_for(peer_.missing(), settings_.peer_names, transport_.counters());
    if (waiting_line_.news(line, now)) settings_.log(line);
}

Result<void> AkoExchange::end_round(std::span<const float> gradient, const RoundResult& result) {
    Result<void> ended = peer_.end_round(gradient, result, clock_.now());
    transport_.notify();
    return ended;
}

std::vector<LinkView> AkoExchange::links() const {
    std::vector<LinkView> views;
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if (peer == settings_.self) continue;
        views.push_back(peer_.link(peer, clock_.now()));
        views.back().partitions = links_.observed_partitions(peer);
    }
    return views;
}

FinishReport AkoExchange::finish(std::span<float> out) {
    while (!peer_.step_finish(clock_.now(), interrupts_ > 0)) {
        transport_.notify();
        wait({});
    }
    outbox_.close();
    transport_.notify();
    transport_.stop(clock_.now() + goodbye_max);
    running_ = false;
    return peer_.report(out, clock_.now());
}

}  // namespace ako
