// See group_exchange.h.
#include "src/group/group_exchange.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ako/assert.h"

namespace ako {
namespace {

/// To write the last Status and the Bye; a peer that does not read by then will see the sessions
/// close.
constexpr Time goodbye_max = std::chrono::seconds(2);

/// As goodbye_max, when the exchange cannot go on: what is being sent is a few milliseconds of a
/// link and lies before the Bye. Much longer is no use, for the others leave as well.
constexpr Time goodbye_when_broken_max = std::chrono::milliseconds(200);

/// How often it is asked whether dials end because of another process of this peer's name.
constexpr Time another_interval = std::chrono::milliseconds(100);

/// Once this process was asked to end, it waits no longer than so for others.
constexpr Time patience_when_interrupted = std::chrono::seconds(10);

}  // namespace

GroupExchange::GroupExchange(ModeSettings settings, std::size_t payload_bytes_max,
                             const HalvesMaker& make_halves, Transport& transport,
                             const Clock& clock, const std::atomic<int>& interrupts)
    : settings_(keeping_restored(std::move(settings))),
      transport_(transport),
      clock_(clock),
      interrupts_(interrupts),
      mailbox_(settings_.peer_count(), payload_bytes_max),
      halves_(make_halves(settings_, mailbox_, transport, clock)),
      compute_(halves_->compute()),
      traffic_(halves_->traffic()),
      name_taken_(std::chrono::milliseconds(settings_.exchange.life_timeout_ms)) {
    if (traffic_ != nullptr) links_.emplace(settings_, mailbox_, *traffic_, transport, clock);
}

GroupExchange::~GroupExchange() {
    if (running_) transport_.stop(clock_.now());
}

ModeSettings GroupExchange::keeping_restored(ModeSettings settings) {
    if (!has_learners(settings.training, settings.exchange) || !settings.read_checkpoint)
        return settings;
    settings.read_checkpoint = [this, read = settings.read_checkpoint](const CheckpointId& id) {
        Result<Checkpoint> found = read(id);
        if (found) restored_ = *found;
        return found;
    };
    return settings;
}

void GroupExchange::start() {
    if (!links_) return;
    transport_.start(*links_, *links_);
    running_ = true;
}

// ---- rounds

Next GroupExchange::begin_round() {
    on_compute_thread();
    while (true) {
        if (std::optional<Next> next = step_begin()) return *std::move(next);
        wait_for_event(wait_step);
    }
}

std::optional<Next> GroupExchange::step_begin() {
    on_compute_thread();
    AKO_ASSERT(!diverged_, "a round after one whose numbers were refused");
    if (interrupts_ > 0) {
        ask_to_end();
    } else if (running_) {
        if (std::optional<Next> next = look_for_another()) return next;
        // While it may be the second process of its name, it must not make its first round.
        if (name_taken_.taken() && !trains()) return std::nullopt;
    }
    std::optional<Next> next = compute_.begin_round(clock_.now());
    if (running_) transport_.notify();
    leave_if_broken();
    if (next) {
        waits_since_.reset();
        const bool waited = next->ending == Ending::failed && interrupts_ == 0;
        if (waited && !compute_.missing().empty()) next->why += ": " + missing_text();
        return next;
    }
    if (!compute_.started()) {
        log_missing();
    } else if (break_off_if_stuck()) {
        return step_begin();  // which gives up
    }
    return std::nullopt;
}

void GroupExchange::ask_to_end() {
    if (settings_.leaves && settings_.leaves())
        compute_.request_leave();
    else
        compute_.request_stop(StopReason::requested);
}

void GroupExchange::await(Range range) {
    on_compute_thread();
    while (!step_await(range)) wait_for_event(wait_step);
}

bool GroupExchange::step_await(Range range) {
    return step_of_others([&]() AKO_COMPUTE_THREAD { return compute_.settle(range); });
}

void GroupExchange::settle() {
    on_compute_thread();
    while (!step_settle()) wait_for_event(wait_step);
}

bool GroupExchange::step_settle() {
    return step_of_others([this]() AKO_COMPUTE_THREAD { return compute_.settle_newest(); });
}

void GroupExchange::make_way(Range range) {
    on_compute_thread();
    while (!step_make_way(range)) wait_for_event(wait_step);
}

bool GroupExchange::step_make_way(Range range) {
    if (!settings_.exchange.runs_ahead()) return true;  // called for every layer
    return step_of_others([&]() AKO_COMPUTE_THREAD { return compute_.make_way(range); });
}

template <class Settled>
bool GroupExchange::step_of_others(const Settled& settled) {
    on_compute_thread();
    if (!compute_.waits_for_others()) return true;
    while (!settled()) {
        if (!break_off_if_stuck()) return false;
    }
    waits_since_.reset();
    leave_if_broken();
    if (running_) transport_.notify();  // what was used is free for the next sync
    return true;
}

void GroupExchange::gradient_ready(Range range, std::span<const float> gradient) {
    on_compute_thread();
    if (!compute_.waits_for_others()) return;
    compute_.gradient_ready(range, gradient);
    if (running_) transport_.notify();
}

Result<void> GroupExchange::end_round(const Learned& learned, const RoundResult& result) {
    on_compute_thread();
    AKO_ASSERT(values_of(learned).size() == compute_.replica().size(),
               std::to_string(values_of(learned).size()) + " values for " +
                   std::to_string(compute_.replica().size()) + " parameters");
    if (std::holds_alternative<Gradient>(learned)) make_way({0, compute_.replica().size()});
    Result<void> ended = compute_.end_round(learned, result, clock_.now());
    diverged_ = !ended && ended.error().kind == Error::Kind::numbers;
    leave_if_broken();
    if (running_) transport_.notify();
    return ended;
}

void GroupExchange::announce(const Verdict& verdict) {
    on_compute_thread();
    if (verdict.loss && !std::isfinite(*verdict.loss))
        return settings_.log(
            "the loss on the test set is not finite: the training diverges; lower the learning "
            "rate");
    compute_.announce(verdict);
}

void GroupExchange::request_stop(StopReason reason) {
    on_compute_thread();
    compute_.request_stop(reason);
}

// ---- views

std::span<const float> GroupExchange::replica() const {
    on_compute_thread();
    return compute_.replica();
}

void GroupExchange::copy_parameters(std::span<float> out) {
    on_compute_thread();
    await({0, out.size()});
    compute_.copy_parameters(out);
}

Standing GroupExchange::standing() const {
    on_compute_thread();
    return compute_.standing();
}

std::vector<LinkView> GroupExchange::links() const {
    on_compute_thread();
    std::vector<LinkView> views;
    if (traffic_ == nullptr) return views;
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if (peer == settings_.self) continue;
        views.push_back(compute_.link(peer, clock_.now()));
        views.back().partitions = traffic_->observed_partitions(peer);
    }
    return views;
}

// ---- checkpoints

bool GroupExchange::save(Checkpoint& out) {
    on_compute_thread();
    return mailbox_.broken().empty() && compute_.save(out);
}

void GroupExchange::tell_kept(const std::vector<CheckpointId>& kept) {
    on_compute_thread();
    compute_.tell_kept(kept);
}

std::optional<Checkpoint> GroupExchange::take_restored() {
    on_compute_thread();
    return std::exchange(restored_, std::nullopt);
}

// ---- waiting

void GroupExchange::wait_for_event(Time at_most) {
    on_compute_thread();
    if (settings_.waits)
        settings_.waits(compute_.started() ? std::vector<PeerIndex>() : compute_.missing());
    mailbox_.wait(at_most);
}

std::string GroupExchange::missing_text() const {
    return waiting_for(compute_.missing(), settings_.peer_names, transport_.counters());
}

void GroupExchange::log_missing() {
    const Time now = clock_.now();
    if (!waiting_line_.due(now)) return;
    const std::string line = missing_text();
    if (line.empty()) return;
    if (waiting_line_.news(line, now)) settings_.log(line);
}

std::optional<Next> GroupExchange::look_for_another() {
    const Time now = clock_.now();
    if (now - looked_for_another_at_ < another_interval) return std::nullopt;
    looked_for_another_at_ = now;
    const std::vector<LinkCounters> links = transport_.counters();
    name_taken_.look(links, trains(), now);
    if (!name_taken_.for_good(now)) return std::nullopt;
    return Next::give_up(Ending::failed,
                         NameTaken::why(settings_.self, settings_.peer_names, links));
}

bool GroupExchange::break_off_if_stuck() {
    if (!compute_.waits_for_others()) return false;
    const Time now = clock_.now();
    if (!waits_since_) waits_since_ = now;
    const Time patience = interrupts_ > 0 ? patience_when_interrupted
                                          : from_seconds(settings_.exchange.finish_timeout_s);
    if (now - std::max(*waits_since_, compute_.newest_sign_at()) <= patience) return false;
    mailbox_.break_off(
        "no peer that this round awaits has sent anything or ended a round for " +
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) +
        " s, although all are live");
    return true;
}

// ---- the end

FinishReport GroupExchange::finish(std::span<float> out) {
    on_compute_thread();
    while (!step_finish()) wait_for_event(wait_step);
    leave();
    return report(out);
}

bool GroupExchange::step_finish() {
    on_compute_thread();
    const bool over = compute_.step_finish(clock_.now(), interrupts_ > 0);
    if (running_) transport_.notify();
    return over;
}

void GroupExchange::leave() {
    on_compute_thread();
    stop_transport(goodbye_max);
}

void GroupExchange::leave_if_broken() {
    if (!running_ || mailbox_.broken().empty()) return;
    // Where sessions just close, this peer is taken for the one that is gone. Who has no room for a
    // chunk does not read the Bye behind it. Its own life time-out runs out within a heartbeat of
    // this peer's; until then this session must not close on it either.
    const Time heartbeat = std::chrono::milliseconds(settings_.exchange.heartbeat_ms);
    stop_transport(heartbeat + goodbye_when_broken_max);
}

void GroupExchange::stop_transport(Time patience) {
    mailbox_.close();
    if (!std::exchange(running_, false)) return;
    transport_.notify();
    transport_.stop(clock_.now() + patience);
}

FinishReport GroupExchange::report(std::span<float> out) {
    on_compute_thread();
    return compute_.report(out, clock_.now());
}

}  // namespace ako
