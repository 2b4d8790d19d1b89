// See mode_exchange.h.
#include "src/exchange/mode_exchange.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "ako/assert.h"
#include "ako/mode_table.h"
#include "ako/norm.h"

namespace ako {
namespace {

/// To write the last Status and the Bye; a peer that does not read by then will see the sessions
/// close.
constexpr Time goodbye_max = std::chrono::seconds(2);

/// As goodbye_max, when the exchange cannot go on: what is being sent is a few milliseconds of a
/// link and lies before the Bye. Much longer is no use, for the others leave as well.
constexpr Time goodbye_when_broken_max = std::chrono::milliseconds(200);

/// So long a peer that ends by a failure waits for others to take what it had made.
constexpr Time handing_over_max = std::chrono::seconds(2);

/// How often it is asked whether dials end because of another process of this peer's name.
constexpr Time another_interval = std::chrono::milliseconds(100);

/// Once this process was asked to end, it waits no longer than so for others.
constexpr Time patience_when_interrupted = std::chrono::seconds(10);

/// The number of a checkpoint that holds the bits of GrowthWatch::largest.
constexpr const char* largest_norm_name = "largest_norm";

Time goodbye_when_broken(const ModeSettings& settings) {
    return settings.times().heartbeat + goodbye_when_broken_max;
}

/// How a peer that gives up after `round` says that it ended.
Farewell farewell_of(const Next& next, Round round) {
    if (next.ending == Ending::numbers) return {EndCause::numbers, round, next.why};
    return {EndCause::broken, 0, next.why};
}

}  // namespace

ModeExchange::ModeExchange(ModeSettings settings, std::size_t payload_bytes_max,
                           const HalvesMaker& make_halves, Transport& transport, const Clock& clock,
                           const std::atomic<int>& interrupts)
    : settings_(std::move(settings)),
      transport_(transport),
      clock_(clock),
      interrupts_(interrupts),
      mailbox_(settings_.peer_count(), payload_bytes_max),
      halves_(make_halves(settings_, mailbox_, transport, clock)),
      compute_(halves_->compute()),
      traffic_(halves_->traffic()),
      growth_watch_(settings_.training.growth_max),
      name_taken_(settings_.times().life_timeout) {
    if (traffic_ != nullptr) links_.emplace(settings_, mailbox_, *traffic_, transport, clock);
    look_at_restored();
}

ModeExchange::~ModeExchange() {
    if (running_) transport_.stop(clock_.now());
}

void ModeExchange::look_at_restored() {
    const std::shared_ptr<const Checkpoint> restored = compute_.take_restored();
    if (restored == nullptr) return;
    // Checkpoints from before it was kept say nothing of it.
    const auto norm = restored->numbers.find(largest_norm_name);
    if (norm != restored->numbers.end())
        growth_watch_.restore(std::bit_cast<float>(static_cast<std::uint32_t>(norm->second)));
    if (has_learners(settings_.training, settings_.exchange)) restored_ = restored;
}

void ModeExchange::start() {
    if (!links_) return;
    transport_.start(*links_);
    running_ = true;
}

// ---- rounds

template <class Step>
auto ModeExchange::repeat(Time until, const Step& step) {
    on_compute_thread();
    for (;;) {
        auto done = step();
        const Time now = clock_.now();
        if (done || now >= until) return done;
        wait_for_event(std::min(until - now, wait_step));
    }
}

std::optional<Next> ModeExchange::begin_round(Time until) {
    return repeat(until, [this]() AKO_COMPUTE_THREAD { return step_begin(); });
}

std::optional<Next> ModeExchange::step_begin() {
    if (interrupts_ > 0) {
        ask_to_end();
    } else if (running_) {
        if (std::optional<Next> next = look_for_another()) return next;
        // While it may be the second process of its name, it must not make its first round.
        if (name_taken_.taken() && !trains()) return std::nullopt;
    }
    std::optional<Next> next = compute_.begin_round(clock_.now());
    look_at_restored();
    if (running_) transport_.notify();
    close_if_broken();
    if (next) {
        waits_since_.reset();
        if (next->kind == Next::Kind::train) next->restored = std::exchange(restored_, nullptr);
        const bool waited = next->ending == Ending::failed && interrupts_ == 0;
        if (waited && !compute_.missing().empty()) next->why += ": " + missing_text();
        if (next->kind == Next::Kind::give_up && next->ending != Ending::failed)
            end_with(farewell_of(
                *next,
                compute_.standing().round));  // at once: this is a step, and waits for nothing
        return next;
    }
    if (!compute_.started()) {
        log_missing();
    } else if (break_off_if_stuck()) {
        return step_begin();  // which gives up
    }
    return std::nullopt;
}

void ModeExchange::ask_to_end() {
    if (settings_.leaves && settings_.leaves())
        compute_.request_leave();
    else
        compute_.request_stop(StopReason::requested);
}

bool ModeExchange::await(Range range, Use use, Time until) {
    // Called for every layer.
    if (use == Use::give && !entry_of(settings_.exchange).runs_ahead) return true;
    return repeat(until, [&]() AKO_COMPUTE_THREAD { return step_await(range, use); });
}

bool ModeExchange::step_await(Range range, Use use) {
    if (!compute_.waits_for_others()) return true;
    const auto done = [&]() AKO_COMPUTE_THREAD {
        return use == Use::read   ? compute_.step_await(range)
               : use == Use::give ? compute_.step_make_way(range)
                                  : compute_.step_settle();
    };
    while (!done()) {
        if (!break_off_if_stuck()) return false;
    }
    waits_since_.reset();
    close_if_broken();
    if (running_) transport_.notify();  // what was used is free for the next sync
    return true;
}

void ModeExchange::gradient_ready(Range range, std::span<const float> gradient) {
    on_compute_thread();
    if (!compute_.gives_by_layers()) return;
    // The norm of all of it has to be known before a part of it may go.
    if (settings_.training.clip > 0) return;
    if (!usual(Gradient{gradient.subspan(range.first, range.count)})) return;
    if (compute_.gradient_ready(range, gradient, clock_.now()) && running_) transport_.notify();
}

Result<void> ModeExchange::end_round(const Learned& learned, const RoundResult& result) {
    on_compute_thread();
    AKO_ASSERT(values_of(learned).size() == compute_.replica().size(),
               std::to_string(values_of(learned).size()) + " values for " +
                   std::to_string(compute_.replica().size()) + " parameters");
    if (std::holds_alternative<Gradient>(learned))
        await({0, compute_.replica().size()}, Use::give, forever);
    const Learned given = clipped(learned);
    // Layers that did not say that their gradient is ready were not looked at: all are, anew.
    if (growth_watch_.looked_at() < compute_.replica().size()) {
        growth_watch_.end_round(false);
        usual(given);
    }
    Result<void> ended = refused_.empty()
                             ? compute_.end_round(given, result, clock_.now())
                             : fail(Error::Kind::numbers, refused_ + ": no more of it was sent");
    if (!refused_.empty() && compute_.waits_for_others())
        mailbox_.break_off(ended.error().what,
                           {EndCause::numbers, compute_.standing().round + 1, ""});
    growth_watch_.end_round(ended.has_value());
    mailbox_.tell_largest_norm(growth_watch_.largest());
    close_if_broken();
    if (running_) transport_.notify();
    return ended;
}

bool ModeExchange::usual(const Learned& learned) {
    if (!refused_.empty()) return false;
    if (const auto why =
            growth_watch_.look(values_of(learned), noun_of(learned), compute_.standing().round + 1,
                               compute_.peers(), compute_.replica()))
        refused_ = *why;
    return refused_.empty();
}

Learned ModeExchange::clipped(const Learned& learned) {
    const double most = settings_.training.clip;
    const std::span<const float> values = values_of(learned);
    if (most <= 0) return learned;
    const double length = norm(values);
    if (!(length > most)) return learned;
    const auto scale = static_cast<float>(most / length);
    clipped_.resize(values.size());
    std::transform(values.begin(), values.end(), clipped_.begin(),
                   [scale](float value) { return scale * value; });
    if (std::holds_alternative<Update>(learned)) return Update{clipped_};
    return Gradient{clipped_};
}

void ModeExchange::announce(const Verdict& verdict) {
    on_compute_thread();
    if (verdict.loss && !std::isfinite(*verdict.loss))
        return settings_.log(
            "the loss on the test set is not finite: the training diverges; lower the learning "
            "rate");
    compute_.announce(verdict);
}

void ModeExchange::request_stop(StopReason reason) {
    on_compute_thread();
    compute_.request_stop(reason);
}

// ---- views

std::span<const float> ModeExchange::replica() const {
    on_compute_thread();
    return compute_.replica();
}

void ModeExchange::copy_parameters(std::span<float> out) {
    on_compute_thread();
    await({0, out.size()}, Use::read, forever);
    compute_.copy_parameters(out);
}

Standing ModeExchange::standing() const {
    on_compute_thread();
    return compute_.standing();
}

std::vector<LinkView> ModeExchange::links() const {
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

bool ModeExchange::save(Checkpoint& out) {
    on_compute_thread();
    if (!mailbox_.broken().empty() || !compute_.save(out)) return false;
    out.numbers[largest_norm_name] = std::bit_cast<std::uint32_t>(growth_watch_.largest());
    return true;
}

void ModeExchange::tell_checkpoints(const CheckpointNews& news) {
    on_compute_thread();
    compute_.tell_checkpoints(news);
}

// ---- waiting

void ModeExchange::wait_for_event(Time at_most) {
    if (settings_.waits)
        settings_.waits(compute_.started() ? std::vector<PeerIndex>() : compute_.missing());
    mailbox_.wait(at_most);
}

std::string ModeExchange::missing_text() const {
    return waiting_for(compute_.missing(), settings_.peer_names, transport_.counters());
}

void ModeExchange::log_missing() {
    const Time now = clock_.now();
    if (!waiting_line_.due(now)) return;
    const std::string line = missing_text();
    if (line.empty()) return;
    if (waiting_line_.news(line, now)) settings_.log(line);
}

std::optional<Next> ModeExchange::look_for_another() {
    const Time now = clock_.now();
    if (now - looked_for_another_at_ < another_interval) return std::nullopt;
    looked_for_another_at_ = now;
    const std::vector<LinkCounters> links = transport_.counters();
    name_taken_.look(links, trains(), now);
    if (!name_taken_.for_good(now)) return std::nullopt;
    return Next::give_up(Ending::failed,
                         NameTaken::why(settings_.self, settings_.peer_names, links));
}

bool ModeExchange::break_off_if_stuck() {
    if (!compute_.waits_for_others()) return false;
    const Time now = clock_.now();
    if (!waits_since_) waits_since_ = now;
    const Time patience =
        interrupts_ > 0 ? patience_when_interrupted : settings_.times().finish_timeout;
    if (now - std::max(*waits_since_, compute_.newest_sign_at()) <= patience) return false;
    mailbox_.break_off(
        "no peer that this round awaits has sent anything or ended a round for " +
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) +
        " s, although all are live");
    return true;
}

// ---- the end

bool ModeExchange::finish(Time until) {
    return repeat(until, [this]() AKO_COMPUTE_THREAD {
        const bool over = compute_.step_finish(clock_.now(), interrupts_ > 0);
        if (running_) transport_.notify();
        return over;
    });
}

void ModeExchange::close(Farewell farewell) {
    on_compute_thread();
    if (farewell.cause == EndCause::numbers) {
        const Time until = clock_.now() + handing_over_max;
        while (running_ && !compute_.step_hand_over(clock_.now()) && clock_.now() < until) {
            transport_.notify();
            wait_for_event(wait_step);
        }
        return end_with(farewell);
    }
    if (compute_.leaves() && !farewell.failed()) farewell.cause = EndCause::left;
    stop_transport(goodbye_max, farewell);
}

void ModeExchange::end_with(const Farewell& farewell) {
    // Where all wait for each other, a peer without room for a chunk reads no Bye behind it.
    stop_transport(compute_.waits_for_others() ? goodbye_when_broken(settings_) : goodbye_max,
                   farewell);
}

void ModeExchange::close_if_broken() {
    if (!running_ || mailbox_.broken().empty()) return;
    // Where sessions just close, this peer is taken for the one that is gone. A peer without room
    // for a chunk reads no Bye behind it. Its own life time-out runs out within a heartbeat of this
    // peer's; until then this session must not close on it either.
    Farewell farewell = mailbox_.broken_by();
    if (farewell.why.empty()) farewell.why = mailbox_.broken();
    stop_transport(goodbye_when_broken(settings_), farewell);
}

void ModeExchange::stop_transport(Time patience, const Farewell& farewell) {
    mailbox_.close(farewell);
    if (!std::exchange(running_, false)) return;
    transport_.notify();
    transport_.stop(clock_.now() + patience);
}

FinishReport ModeExchange::report(std::span<float> out) {
    on_compute_thread();
    return compute_.report(out, clock_.now());
}

}  // namespace ako
