#include "net/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "ako/printable.h"

namespace ako {
namespace {

/// A session that lived so long was a good one: after it, dialling begins anew with short waits.
constexpr Time good_session = std::chrono::seconds(1);

/// Both sides dial, and each refusal is told in two ways; twice as many reasons are remembered as a
/// peer that is set up wrongly gives, so that it does not fill the log.
constexpr std::size_t logged_max = 8;

/// People wonder where a run that waits has got to before they would call a peer lost.
constexpr Time silence_named_after = std::chrono::seconds(2);

/// Fields of a Hello are fewer, and their names shorter.
constexpr std::size_t reject_names_max = 16;
constexpr std::size_t reject_name_max = 32;

/// The kernel is asked once for each line of the metrics.
constexpr Time path_interval = std::chrono::seconds(1);

/// How long an own dial waits for the confirmation of the other end's, and the other end's for the
/// answer to an own one: several round trips and a hiccup. Longer, and a greeting said again, or a
/// stopped process, costs more; shorter, and a slow machine has two sessions for a moment.
constexpr Time hold_back_max = std::chrono::seconds(1);

long long milliseconds(Time time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

Link::Link(PeerIndex peer, std::string name, double mbit, LinkContext& context,
           std::unique_ptr<Dialer> dialer)
    : peer_(peer),
      name_(std::move(name)),
      context_(context),
      dialer_(std::move(dialer)),
      bucket_(mbit) {}

Handshake* Link::pending() const {
    const auto handshake = pending_.lock();
    return handshake && handshake->pending() ? handshake.get() : nullptr;
}

bool Link::dials_now() const {
    return pending() != nullptr && context_.clock.now() - expected_at_ < hold_back_max;
}

bool Link::quiet() const {
    return up() && session_->quiet(context_.clock.now()) > context_.life_timeout;
}

void Link::expect(const std::shared_ptr<Handshake>& handshake) {
    AKO_ASSERT(pending() == nullptr, name_ + " is dialled twice");
    was_held_ = false;
    expected_at_ = context_.clock.now();
    pending_ = handshake;
}

void Link::hold_back(const Handshake& answered) {
    if (up() || std::exchange(was_held_, true)) return;
    const Time now = context_.clock.now();
    held_for_ = &answered;
    held_until_ = now + hold_back_max;
    dialer_->cancel(now);
}

void Link::let_go(const Handshake& answered) {
    if (held_for_ != &answered) return;
    held_for_ = nullptr;
    held_until_ = Time{};
}

void Link::adopt(Handshake& handshake) {
    if (session_) session_->end("replaced by a new session of the same process");
    if (Handshake* dial = pending(); dial != nullptr && dial != &handshake) dial->drop();
    pending_.reset();
    let_go(handshake);
    was_held_ = false;
    dialer_->cancel(context_.clock.now());
    session_ = handshake.session();
    hello_ = handshake.hello();
    dialled_here_ = handshake.dialled();
    up_since_ = context_.clock.now();
    known_ = true;
    left_ = lost_ = silence_named_ = false;
    rate_ = {};
    {
        const MutexLock lock(mutex_);
        path_before_ = path_;
    }
    sessions_.fetch_add(1, std::memory_order_relaxed);
    up_ = true;
    name_taken("");
    logged_.clear();
    context_.detail(fmt::format("{}: session up ({} {})", name_, dialled_here_ ? "to" : "from",
                                session_->remote()));
    session_->hand_over(*this, meter_, bucket_, context_.egress);
    context_.host->session_up(peer_, hello_);
}

void Link::tick(Time now, Time excuse) {
    check_life(now, excuse);
    if (session_ && now - path_at_ >= path_interval) look_at_path(now);
    if (held_until_ != Time{}) held_until_ += excuse;
    if (!up() && pending() == nullptr && now >= held_until_ && !context_.stopping)
        dialer_->tick(now, excuse);
}

void Link::check_life(Time now, Time excuse) {
    if (session_) {
        session_->excuse(excuse, now);
        name_silence(session_->silence(now));
        if (session_->silence(now) >= context_.life_timeout)
            session_->end(fmt::format("no byte for {} ms", milliseconds(context_.life_timeout)));
    } else {
        silent_since_ = std::min(silent_since_ + excuse, now);
    }
    if (session_ || !known_ || left_ || lost_ || context_.stopping) return;
    if (now - silent_since_ < context_.life_timeout) return;
    lost_ = true;
    const std::string why = fmt::format("no byte for {} ms; the last session: {}",
                                        milliseconds(context_.life_timeout), session_error_);
    context_.detail(fmt::format("{}: lost: {}", name_, why));
    context_.host->peer_lost(peer_, why);
}

void Link::look_at_path(Time now) {
    path_at_ = now;
    std::optional<PathFigures> path = session_->path();
    if (!path) return;
    path->retransmits += path_before_.retransmits;
    path->reader_seconds += path_before_.reader_seconds;
    const MutexLock lock(mutex_);
    path_ = *path;
}

void Link::name_silence(Time silence) {
    if (context_.life_timeout <= silence_named_after) return;  // then it is lost, which is said
    if (silence >= silence_named_after && !silence_named_) {
        context_.log(fmt::format("{}: silent for {} ms; lost if it stays so for {} ms", name_,
                                 milliseconds(silence), milliseconds(context_.life_timeout)));
        silence_named_ = true;
    } else if (silence < silence_named_after && silence_named_) {
        context_.log(fmt::format("{}: heard from again", name_));
        silence_named_ = false;
    }
}

void Link::drain() {
    dialer_->cancel(context_.clock.now());
    if (Handshake* handshake = pending()) handshake->drop();
    if (session_) session_->drain(false);
}

void Link::end(const std::string& why) {
    if (session_) session_->end(why);
}

void Link::wake() {
    if (session_) session_->wake();
}

void Link::resume() {
    if (session_) session_->resume();
}

void Link::copy_aside() {
    if (session_ && session_->copy_aside()) copies_aside_.fetch_add(1, std::memory_order_relaxed);
}

bool Link::has_noted(const std::string& why) const {
    return std::find(logged_.begin(), logged_.end(), why) != logged_.end();
}

void Link::note(const std::string& why, bool refused) {
    set_error(why);
    if (has_noted(why)) return;
    if (logged_.size() == logged_max) logged_.erase(logged_.begin());
    logged_.push_back(why);
    (refused ? context_.log : context_.detail)(name_ + ": " + why);
}

// What the other end calls a field is its own choice: so many are told apart.
void Link::count_reject(const std::string& field) {
    const MutexLock lock(mutex_);
    const std::string name = printable(std::string_view(field).substr(0, reject_name_max));
    const bool room = rejects_.size() < reject_names_max || rejects_.contains(name);
    ++rejects_[room ? name : "other"];
}

void Link::set_error(const std::string& why) {
    const MutexLock lock(mutex_);
    last_error_ = why;
}

void Link::name_taken(const std::string& where) {
    const MutexLock lock(mutex_);
    name_taken_by_ = where;
}

LinkCounters Link::counters() const {
    LinkCounters counters;
    counters.egress_bytes = meter_.egress_bytes.load(std::memory_order_relaxed);
    counters.ingress_bytes = meter_.ingress_bytes.load(std::memory_order_relaxed);
    counters.sessions = sessions_.load(std::memory_order_relaxed);
    counters.copies_aside = copies_aside_.load(std::memory_order_relaxed);
    counters.up = up_;
    const MutexLock lock(mutex_);
    counters.path = path_;
    const Time waited{meter_.waited.load(std::memory_order_relaxed)};
    counters.full_seconds =
        std::max(0.0, std::chrono::duration<double>(waited).count() - path_.reader_seconds);
    counters.last_error = last_error_;
    counters.rejects = rejects_;
    counters.name_taken_by = name_taken_by_;
    return counters;
}

std::optional<OutFrame> Link::next(Session& session) {
    const double own = bucket_.mbit();
    const double shared = context_.egress.mbit();
    const double limit = own > 0 && shared > 0 ? std::min(own, shared) : std::max(own, shared);
    const std::size_t payload_bytes_max = rate_.payload_bytes_max(limit);
    session.let_lie_unsent(static_cast<std::size_t>(static_cast<double>(payload_bytes_max) *
                                                    context_.host->unsent_payloads()));
    auto frame = context_.host->next(peer_, payload_bytes_max);
    if (!frame) rate_.idle();
    return frame;
}

void Link::sent(Session&, std::size_t bytes) { rate_.sent(bytes, context_.clock.now()); }

std::optional<std::string> Link::refuse(Session&, const Header& header, std::size_t bytes) {
    if (std::holds_alternative<Hello>(header) || std::holds_alternative<Reject>(header))
        return fmt::format("{} in a session that stands", header_name(header));
    auto complaint = context_.host->refuse(peer_, header, bytes);
    if (complaint) count_reject("frame");
    return complaint;
}

std::optional<Destination> Link::reserve(Session&, const Header& header, std::size_t bytes) {
    return context_.host->reserve(peer_, header, bytes);
}

void Link::arrived(Session&, Header header, Destination destination, Time at) {
    if (std::holds_alternative<Bye>(header)) left_ = true;
    context_.host->arrived(peer_, std::move(header), destination, at);
}

void Link::abandoned(Session&, Destination destination) {
    context_.host->abandoned(peer_, destination);
}

void Link::ended(Session& session, const std::string& why) {
    const Time now = context_.clock.now();
    silent_since_ = now - session.silence(now);
    session_.reset();
    up_ = false;
    session_error_ = left_ ? "it left" : why;
    set_error(fmt::format("{}: {}", session.remote(), session_error_));
    context_.detail(fmt::format("{}: session down: {}", name_, session_error_));
    if (now - up_since_ >= good_session) dialer_->settle();
    dialer_->back_off(now);
    context_.host->session_down(peer_, session_error_, now - silent_since_);
}

}  // namespace ako
