#include "net/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ako {
namespace {

/// A session that lived so long was a good one: after it, dialling begins anew with short waits.
constexpr Time good_session = std::chrono::seconds(1);

/// Both sides dial, and each refusal is told in two ways; twice as many reasons are remembered as a
/// peer that is set up wrongly gives, so that it does not fill the log.
constexpr std::size_t logged_max = 8;

/// The kernel is asked once for each line of the metrics.
constexpr Time path_interval = std::chrono::seconds(1);

}  // namespace

Link::Link(PeerIndex peer, std::string name, double mbit, LinkContext& context,
           std::unique_ptr<Dialer> dialer)
    : peer_(peer),
      name_(std::move(name)),
      context_(context),
      own_dial_(std::move(dialer)),
      life_(context.life_timeout),
      bucket_(mbit) {}

bool Link::quiet() const {
    return up() && session_->silence().lasts_unread(context_.clock.now()) > context_.life_timeout;
}

void Link::adopt(Handshake& handshake) {
    if (session_) session_->end("replaced by a new session of the same process");
    own_dial_.settle(handshake, context_.clock.now());
    session_ = handshake.session();
    hello_ = handshake.hello();
    dialled_here_ = handshake.dialled();
    up_since_ = context_.clock.now();
    life_.session_up();
    rate_ = {};
    report_.session_up();
    logged_.clear();
    context_.detail(fmt::format("{}: session up ({} {})", name_, dialled_here_ ? "to" : "from",
                                session_->remote()));
    session_->hand_over(*this, report_.meter(), bucket_, context_.egress);
    context_.host->session_up(peer_, hello_);
}

void Link::tick(Time now, Time excuse) {
    check_life(now, excuse);
    if (session_ && now - path_at_ >= path_interval) look_at_path(now);
    own_dial_.tick(now, excuse, !up() && !context_.stopping);
}

void Link::check_life(Time now, Time excuse) {
    if (session_) {
        session_->silence().excuse(excuse, now);
        const Time silence = session_->silence().lasts(now);
        if (const auto news = life_.news_of_silence(silence)) context_.log(name_ + ": " + *news);
        if (silence >= context_.life_timeout)
            session_->end(fmt::format("no byte for {} ms", whole_ms(context_.life_timeout)));
    } else {
        life_.excuse(excuse, now);
    }
    if (session_ || context_.stopping) return;
    const auto why = life_.becomes_lost(now);
    if (!why) return;
    context_.detail(fmt::format("{}: lost: {}", name_, *why));
    context_.host->peer_lost(peer_, *why);
}

void Link::look_at_path(Time now) {
    path_at_ = now;
    if (const auto path = session_->connection().path()) report_.set_path(*path);
}

void Link::drain() {
    own_dial_.cancel(context_.clock.now());
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
    if (session_ && session_->copy_aside()) report_.count_copy_aside();
}

bool Link::has_noted(const std::string& why) const {
    return std::find(logged_.begin(), logged_.end(), why) != logged_.end();
}

void Link::note(const std::string& why, bool refused) {
    report_.set_error(why);
    if (has_noted(why)) return;
    if (logged_.size() == logged_max) logged_.erase(logged_.begin());
    logged_.push_back(why);
    (refused ? context_.log : context_.detail)(name_ + ": " + why);
}

std::optional<OutFrame> Link::next(Session& session) {
    const double own = bucket_.mbit();
    const double shared = context_.egress.mbit();
    const double limit = own > 0 && shared > 0 ? std::min(own, shared) : std::max(own, shared);
    const std::size_t payload_bytes_max = rate_.payload_bytes_max(limit);
    session.connection().let_lie_unsent(static_cast<std::size_t>(
        static_cast<double>(payload_bytes_max) * context_.host->unsent_payloads()));
    auto frame = context_.host->next(peer_, payload_bytes_max);
    if (!frame) rate_.idle();
    return frame;
}

void Link::sent(Session&, std::size_t bytes) { rate_.sent(bytes, context_.clock.now()); }

std::optional<std::string> Link::refuse(Session&, const Header& header, std::size_t bytes) {
    if (std::holds_alternative<Hello>(header) || std::holds_alternative<Reject>(header))
        return fmt::format("{} in a session that stands", header_name(header));
    auto complaint = context_.host->refuse(peer_, header, bytes);
    if (complaint) report_.count_reject("frame");
    return complaint;
}

std::optional<Destination> Link::reserve(Session&, const Header& header, std::size_t bytes) {
    return context_.host->reserve(peer_, header, bytes);
}

void Link::arrived(Session&, Header header, Destination destination, Time at) {
    if (std::holds_alternative<Bye>(header)) life_.said_bye();
    context_.host->arrived(peer_, std::move(header), destination, at);
}

void Link::abandoned(Session&, Destination destination) {
    context_.host->abandoned(peer_, destination);
}

void Link::ended(Session& session, const std::string& why) {
    const Time now = context_.clock.now();
    const Time silence = session.silence().lasts(now);
    session_.reset();
    const std::string& cause = life_.session_down(now - silence, why);
    report_.session_down(fmt::format("{}: {}", session.remote(), cause));
    context_.detail(fmt::format("{}: session down: {}", name_, cause));
    if (now - up_since_ >= good_session) own_dial_.dialer().settle();
    own_dial_.dialer().back_off(now);
    context_.host->session_down(peer_, cause, silence);
}

}  // namespace ako
