// See links.h.
#include "src/exchange/links.h"

#include <algorithm>
#include <utility>

#include "ako/mode_table.h"

namespace ako {
namespace {

/// What the traffic halves of two peers say to each other, beside their compute halves.
bool between_traffic_halves(const Header& header) {
    return std::holds_alternative<Chunk>(header) || std::holds_alternative<Membership>(header) ||
           std::holds_alternative<MemberState>(header);
}

}  // namespace

Links::Links(const ModeSettings& settings, Mailbox& mailbox, TrafficHalf& traffic,
             Transport& transport, const Clock& clock)
    : settings_(settings),
      heartbeat_(settings.times().heartbeat),
      mailbox_(mailbox),
      traffic_(traffic),
      transport_(transport),
      clock_(clock),
      links_(settings.peer_count()) {
    newest_.status.standing.progress.resize(settings.peer_count());
    take_posted();  // a session may be there before the first poll
}

// ---- sending

std::optional<OutFrame> Links::next(PeerIndex peer, std::size_t payload_bytes_max) {
    on_network_thread();
    LinkState& link = links_[peer];
    if (auto frame = traffic_.next_control(peer)) return frame;
    if (link.status_due && !link.status_was_last) return status_frame(link, clock_.now());
    if (auto frame = frame_of_mode(peer, payload_bytes_max)) return frame;
    if (link.status_due) return status_frame(link, clock_.now());
    if (!closing_ || std::exchange(link.bye_sent, true)) return std::nullopt;
    Bye bye{newest_.status.standing.final_round.value_or(0), traffic_.because_of(),
            newest_.status.standing.leaving, farewell_};
    // A peer that fails says so of all that it had made; and where others go on, they do without
    // it.
    if (farewell_.failed() && !bye.because_of) {
        bye.leaves = true;
        if (!newest_.status.standing.progress.empty())
            bye.final_round = newest_.status.standing.progress[settings_.self].round;
    }
    return OutFrame{std::move(bye), {}, {}};
}

std::optional<OutFrame> Links::frame_of_mode(PeerIndex peer, std::size_t payload_bytes_max) {
    auto frame = traffic_.next(peer, payload_bytes_max);
    if (frame) links_[peer].status_was_last = false;
    return frame;
}

OutFrame Links::status_frame(LinkState& link, Time now) {
    OwnStatus own = std::exchange(link.opening, std::nullopt).value_or(newest_);
    link.status_due = own.revision != newest_.revision;  // it follows at once
    link.status_was_last = true;
    link.status_sent = own.revision;
    link.status_sent_at = now;
    Status& status = own.status;
    status.heartbeat.sent_at = now;
    if (link.heard_sent_at != Time{0}) {
        status.heartbeat.echo_sent_at = link.heard_sent_at;
        status.heartbeat.echo_held = now - link.heard_at;
    }
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        if (links_[peer].up) status.heartbeat.reached |= peer_bit(peer);
    }
    return OutFrame{std::move(status), {}, {}};
}

Mailbox::Posted Links::take_posted() {
    Mailbox::Posted posted = mailbox_.take_posted();
    if (posted.status) {
        newest_.status = *std::move(posted.status);
        ++newest_.revision;
    }
    return posted;
}

void Links::poll(Time now) {
    on_network_thread();
    const Mailbox::Posted posted = take_posted();
    const bool closes = posted.closing && !std::exchange(closing_, true);
    if (closes) farewell_ = posted.farewell;
    const Time news = std::min(traffic_.news_interval(), heartbeat_);
    // Before the mode wakes anybody: what is due goes out before what it sends.
    for (LinkState& link : links_) {
        const Time interval = link.status_sent == newest_.revision ? heartbeat_ : news;
        link.status_due |= posted.urgent || now - link.status_sent_at >= interval;
    }
    traffic_.poll({newest_.status, posted.started, posted.broken, posted.closing}, now);
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        LinkState& link = links_[peer];
        if (!link.up) continue;
        if (std::exchange(link.out_of_room, false)) transport_.resume(peer);  // it asks again
        if (link.status_due || closes) transport_.wake(peer);
    }
}

double Links::unsent_payloads() const {
    on_network_thread();
    return traffic_.unsent_payloads();
}

// ---- receiving

std::optional<std::string> Links::refuse(PeerIndex peer, const Header& header, std::size_t bytes) {
    on_network_thread();
    return traffic_.refuse(peer, header, bytes);
}

std::optional<Destination> Links::reserve(PeerIndex peer, const Header& header, std::size_t bytes) {
    on_network_thread();
    LinkState& link = links_[peer];
    link.to_mailbox = !between_traffic_halves(header);
    if (link.to_mailbox && !mailbox_.has_room(frames_promised_)) {
        link.out_of_room = true;
        return std::nullopt;
    }
    std::optional<Destination> destination = Destination{};
    if (bytes > 0) destination = traffic_.reserve(peer, header, bytes);
    if (link.to_mailbox && destination) ++frames_promised_;
    if (link.to_mailbox && !destination) link.out_of_room = true;
    return destination;
}

void Links::arrived(PeerIndex peer, Header header, Destination destination, Time arrived_at) {
    on_network_thread();
    LinkState& link = links_[peer];
    if (const auto* status = std::get_if<Status>(&header)) {
        link.heard_sent_at = status->heartbeat.sent_at;
        link.heard_at = arrived_at;
    } else if (const auto* bye = std::get_if<Bye>(&header)) {
        link.left = true;
        const bool goes_on = entry_of(settings_.exchange).goes_on();
        if (bye->leaves && !closing_)
            settings_.log("peer " + name(peer) + " " +
                          (bye->farewell.failed() ? (goes_on ? ended_and_stays_text : ended_text)(
                                                        bye->farewell, bye->final_round)
                                                  : std::string("has left, and the run goes on")));
    }
    const bool to_mailbox = link.to_mailbox;
    PooledBuffer payload = traffic_.arrived(peer, header, destination, arrived_at);
    if (!to_mailbox) return;
    --frames_promised_;
    Arrival arrival{peer, std::move(header), std::move(payload), arrived_at,
                    !std::exchange(link.heard, true)};
    const std::uint64_t before = std::exchange(link.heard_process, link.process);
    arrival.new_process = before != 0 && before != link.process;
    if (traffic_.newest_status_counts() && mailbox_.replace_status(arrival)) return;
    mailbox_.push(std::move(arrival));
}

void Links::abandoned(PeerIndex peer, Destination destination) {
    on_network_thread();
    if (links_[peer].to_mailbox) --frames_promised_;
    traffic_.abandoned(peer, destination);
}

// ---- sessions

std::optional<Reject> Links::admit(PeerIndex peer, const Hello& hello) {
    on_network_thread();
    return traffic_.admit(peer, hello);
}

void Links::session_up(PeerIndex peer, const Hello& hello) {
    on_network_thread();
    LinkState& link = links_[peer];
    link.up = true;
    link.heard = false;
    link.process = hello.process_id;
    link.left = false;
    link.status_due = true;
    link.status_was_last = false;
    link.opening = newest_;
    link.heard_sent_at = Time{0};
    traffic_.session_up(peer, hello);
    mailbox_.set_presence(peer, Presence::up);
    if (std::exchange(link.met, true)) settings_.log("peer " + name(peer) + " is connected again");
}

void Links::session_down(PeerIndex peer, const std::string& why, Time silence) {
    on_network_thread();
    LinkState& link = links_[peer];
    link.up = false;
    link.opening.reset();
    if (!link.left) {
        mailbox_.set_presence(peer, Presence::down);
        // Once all is agreed, or over for one reason, sessions end because everyone leaves.
        if (!closing_ && !traffic_.because_of())
            settings_.log("peer " + name(peer) + ": session ended: " + why);
    }
    traffic_.session_down(peer, why, silence, link.left);
}

void Links::peer_lost(PeerIndex peer, const std::string& why) {
    on_network_thread();
    mailbox_.set_presence(peer, Presence::lost);
    if (!closing_ && !traffic_.because_of())
        settings_.log("peer " + name(peer) + " is lost: " + why);
    traffic_.peer_lost(peer, why);
}

}  // namespace ako
