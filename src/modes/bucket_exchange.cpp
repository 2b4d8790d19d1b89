// See bucket_exchange.h.
#include "src/modes/bucket_exchange.h"

#include <algorithm>

#include "ako/assert.h"
#include "src/modes/parameter_server.h"
#include "src/modes/ring.h"

namespace ako {
namespace {

/// To write the last Status and the Bye; a peer that does not read by then will see the sessions
/// close.
constexpr Time goodbye_max = std::chrono::seconds(2);

/// As goodbye_max, when the exchange cannot go on: what is being sent is a few milliseconds of a
/// link and lies before the Bye. Much longer is no use, for the others leave as well.
constexpr Time goodbye_when_broken_max = std::chrono::milliseconds(200);

/// Once this process was asked to end, it waits no longer than so for others.
constexpr Time patience_when_interrupted = std::chrono::seconds(10);

}  // namespace

std::unique_ptr<BucketProtocol> make_protocol(const ModeSettings& settings, const Buckets& buckets,
                                              std::span<const float> initial, BucketBoard& board,
                                              Transport& transport) {
    if (settings.exchange.mode == Mode::parameter_server)
        return std::make_unique<ParameterServer>(settings, buckets, initial, board, transport);
    return std::make_unique<Ring>(buckets, settings.self, settings.peer_count(),
                                  settings.straight_bytes_max, board, transport);
}

std::unique_ptr<BucketUpdate> make_update(const ModeSettings& settings,
                                          std::span<const float> initial,
                                          BucketProtocol& protocol) {
    std::vector<float> start(initial.begin(), initial.end());
    switch (settings.exchange.mode) {
        case Mode::ring:
            return std::make_unique<MeanGradient>(settings.training, std::move(start),
                                                  settings.peer_count());
        case Mode::local_sgd:
            return std::make_unique<MeanOfLocalRounds>(settings.training,
                                                       settings.exchange.local_sgd,
                                                       std::move(start), settings.peer_count());
        case Mode::parameter_server:
            if (settings.role(settings.self) == Role::server) return nullptr;
            return std::make_unique<PulledParameters>(protocol.result());
        case Mode::ako:
        case Mode::local:
            break;
    }
    AKO_BUG("a mode without buckets");
}

BucketExchange::BucketExchange(ModeSettings settings, std::span<const float> initial,
                               Transport& transport, const Clock& clock,
                               const std::atomic<int>& interrupts)
    : settings_(std::move(settings)),
      buckets_(settings_.layers, initial.size()),
      transport_(transport),
      clock_(clock),
      interrupts_(interrupts),
      board_(buckets_.count(), settings_.peer_count()),
      protocol_(make_protocol(settings_, buckets_, initial, board_, transport)),
      peer_(settings_, buckets_, board_, protocol_->result(),
            make_update(settings_, initial, *protocol_)),
      links_(settings_, board_, *protocol_, transport, clock) {}

BucketExchange::~BucketExchange() {
    if (running_) transport_.stop(clock_.now());
}

void BucketExchange::start() {
    transport_.start(links_, links_);
    running_ = true;
}

Next BucketExchange::begin_round() {
    const Time since = clock_.now();
    while (true) {
        if (interrupts_ > 0) peer_.request_stop(StopReason::requested);
        const BucketPeer::Begin begin = peer_.begin_round(clock_.now());
        transport_.notify();
        leave_if_broken();
        switch (begin.kind) {
            case BucketPeer::Begin::Kind::train:
                return {Next::Kind::train, ""};
            case BucketPeer::Begin::Kind::stop:
                return {Next::Kind::stop, begin.why};
            case BucketPeer::Begin::Kind::failed:
                return {Next::Kind::failed, begin.why};
            case BucketPeer::Begin::Kind::broken:
                return {Next::Kind::broken, begin.why};
            case BucketPeer::Begin::Kind::numbers:
                return {Next::Kind::numbers, begin.why};
            case BucketPeer::Begin::Kind::wait:
                break;
        }
        if (!peer_.started()) log_missing();
        wait(peer_.started() ? std::vector<PeerIndex>() : peer_.missing());
        if (peer_.started()) break_off_if_stuck(since);  // waiting for the last exchange
    }
}

void BucketExchange::wait(const std::vector<PeerIndex>& missing) {
    if (settings_.waits) settings_.waits(missing);
    board_.wait(wait_step);
}

void BucketExchange::log_missing() {
    const Time now = clock_.now();
    if (!waiting_line_.due(now)) return;
    const std::string line =
        waiting_for(peer_.missing(), settings_.peer_names, transport_.counters());
    if (waiting_line_.news(line, now)) settings_.log(line);
}

void BucketExchange::leave_if_broken() {
    if (!running_ || board_.broken().empty()) return;
    // Where sessions just close, this peer is taken for the one that is gone.
    board_.close();
    transport_.notify();
    // Who has no room for a chunk does not read the Bye behind it. Its own life time-out runs out
    // within a heartbeat of this peer's; until then this session must not close on it either.
    const Time heartbeat = std::chrono::milliseconds(settings_.exchange.heartbeat_ms);
    transport_.stop(clock_.now() + heartbeat + goodbye_when_broken_max);
    running_ = false;
}

void BucketExchange::wait_for(Range range) {
    const Time since = clock_.now();
    while (!peer_.settle(range)) {
        wait({});
        break_off_if_stuck(since);
    }
    leave_if_broken();
}

void BucketExchange::break_off_if_stuck(Time since) {
    const Time patience = interrupts_ > 0 ? patience_when_interrupted
                                          : from_seconds(settings_.exchange.finish_timeout_s);
    if (clock_.now() - std::max(since, board_.newest_sign_at()) <= patience) return;
    board_.break_off(
        "no peer that this round awaits has sent anything or ended a round for " +
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) +
        " s, although all are live");
}

void BucketExchange::await(Range range) {
    wait_for(range);
    transport_.notify();  // what was used is free for the next exchange
}

void BucketExchange::gradient_ready(Range range, std::span<const float> gradient) {
    peer_.gradient_ready(range, gradient);
    transport_.notify();
}

Result<void> BucketExchange::end_round(std::span<const float> gradient, const RoundResult& result) {
    Result<void> ended = peer_.end_round(gradient, result);
    if (!ended) board_.break_off(ended.error().what);
    leave_if_broken();
    transport_.notify();
    return ended;
}

void BucketExchange::copy_parameters(std::span<float> out) {
    wait_for({0, buckets_.parameter_count()});
    std::copy_n(peer_.parameters().begin(), out.size(), out.begin());
}

std::vector<LinkView> BucketExchange::links() const {
    std::vector<LinkView> views;
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer)
        if (peer != settings_.self) views.push_back(peer_.link(peer));
    return views;
}

FinishReport BucketExchange::finish(std::span<float> out) {
    while (!peer_.step_finish(clock_.now())) {
        if (interrupts_ > 0) peer_.request_stop(StopReason::requested);
        transport_.notify();
        wait({});
    }
    board_.close();
    transport_.notify();
    transport_.stop(clock_.now() + goodbye_max);
    running_ = false;
    return peer_.report(out, clock_.now());
}

}  // namespace ako
