// See bucket_links.h.
#include "src/modes/bucket_links.h"

#include <utility>

#include "src/modes/run_bounds.h"

namespace ako {

BucketLinks::BucketLinks(const ModeSettings& settings, BucketBoard& board, BucketProtocol& protocol,
                         Transport& transport, const Clock& clock)
    : settings_(settings),
      board_(board),
      protocol_(protocol),
      transport_(transport),
      clock_(clock),
      links_(settings.peer_count()) {
    status_.progress.resize(settings.peer_count());
}

// ---- sending

std::optional<OutFrame> BucketLinks::next(PeerIndex peer, std::size_t payload_bytes_max) {
    Link& link = links_[peer];
    if (std::exchange(link.status_due, false)) {
        link.status_sent_at = clock_.now();
        Status status = status_;
        status.sent_at = link.status_sent_at;
        for (PeerIndex other = 0; other < links_.size(); ++other)
            if (links_[other].up) status.reached |= peer_bit(other);
        return OutFrame{std::move(status), {}, {}};
    }
    // What is queued when all is over is of no use, and the Bye must not wait behind it.
    if (!broken_) {
        if (auto frame = protocol_.next(peer, payload_bytes_max)) {
            link.met = true;
            return frame;
        }
    }
    if (!closing_ || std::exchange(link.bye_sent, true)) return std::nullopt;
    return OutFrame{Bye{status_.final_round.value_or(0), broken_by_}, {}, {}};
}

void BucketLinks::poll(Time now) {
    BucketBoard::Mail mail = board_.take();
    started_ = mail.started;
    broken_ |= mail.broken;
    if (mail.status) status_ = std::move(*mail.status);
    for (const auto& [bucket, exchange] : mail.consumed) protocol_.consumed(bucket, exchange);
    for (const Contribution& contribution : mail.contributions) protocol_.contributed(contribution);
    if (status_.stop != StopReason::none) protocol_.stop_wished(status_.stop);
    if (status_.final_round && !std::exchange(finished_, true))
        protocol_.finished(settings_.self, *status_.final_round);
    const bool closes = mail.closing && !std::exchange(closing_, true);
    const Time heartbeat = std::chrono::milliseconds(settings_.exchange.heartbeat_ms);
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        Link& link = links_[peer];
        if (!link.up) continue;
        link.status_due |= mail.urgent || now - link.status_sent_at >= heartbeat;
        if (link.status_due || closes) transport_.wake(peer);
    }
}

// ---- receiving

std::optional<std::string> BucketLinks::refuse(PeerIndex peer, const Header& header,
                                               std::size_t bytes) {
    if (const auto* chunk = std::get_if<Chunk>(&header))
        return protocol_.refuse(peer, *chunk, bytes / sizeof(float));
    if (bytes != 0)
        return std::string(header_name(header)) + " with " + std::to_string(bytes) +
               " bytes of payload; only a Chunk has one";
    if (const auto* status = std::get_if<Status>(&header)) {
        if (status->progress.size() == links_.size())
            return RunBounds::of(settings_).refuse(*status);
        return "Status of " + std::to_string(status->progress.size()) + " peers in a cluster of " +
               std::to_string(links_.size());
    }
    if (const auto* bye = std::get_if<Bye>(&header)) {
        if (!bye->gone || *bye->gone < links_.size())
            return RunBounds::of(settings_).refuse(bye->final_round, "Bye.final_round");
        return "Bye because of peer " + std::to_string(*bye->gone) + " in a cluster of " +
               std::to_string(links_.size());
    }
    return std::string("a ") + header_name(header) + ", which only the mode ako sends";
}

std::optional<Destination> BucketLinks::reserve(PeerIndex peer, const Header& header,
                                                std::size_t bytes) {
    const auto* chunk = std::get_if<Chunk>(&header);
    if (chunk == nullptr) return Destination{};
    const auto memory = protocol_.reserve(peer, *chunk, bytes / sizeof(float));
    if (!memory) return std::nullopt;
    return Destination{std::as_writable_bytes(*memory), 0};
}

void BucketLinks::arrived(PeerIndex peer, Header header, Destination destination, Time arrived_at) {
    Link& link = links_[peer];
    if (const auto* chunk = std::get_if<Chunk>(&header)) {
        link.met = true;
        board_.sign_came(arrived_at);
        return protocol_.arrived(peer, *chunk, destination.memory.size() / sizeof(float));
    }
    if (const auto* status = std::get_if<Status>(&header)) {
        link.done |= status->digest.has_value();
        board_.heard(peer, *status);
        // Local SGD: while a slow peer makes its rounds nobody sends chunks, and all is well.
        const Round round = status->progress[peer].round;
        if (round > std::exchange(link.round, round) && protocol_.partner(peer))
            board_.sign_came(arrived_at);
        if (status->final_round) protocol_.finished(peer, *status->final_round);
        return;
    }
    link.left = true;
    board_.set_presence(peer, Presence::left);
    // Who leaves because of another may be heard of before that one's own session has ended. It is
    // believed where its leaving is the end here too, as always in a ring. A worker that can be
    // spared may have lost no more than its own link to a server that serves all others well.
    const std::optional<PeerIndex> gone = std::get<Bye>(header).gone;
    const bool other = gone && *gone != settings_.self && *gone != peer;
    if (other && protocol_.needs(peer)) part(*gone, "so says peer " + name(peer));
    part(peer,
         gone == settings_.self ? "it left, for it had lost this peer" : "it left the training");
}

void BucketLinks::abandoned(PeerIndex, Destination) {}

// ---- sessions

std::optional<Reject> BucketLinks::admit(PeerIndex peer, const Hello&) {
    if (!links_[peer].gone) return std::nullopt;
    return Reject{"process_id", "nobody in the place of " + name(peer) + ", which was lost",
                  "a process (this mode cannot take a peer back; the mode ako goes on without it)"};
}

void BucketLinks::session_up(PeerIndex peer, const Hello&) {
    Link& link = links_[peer];
    link.up = true;
    link.left = false;
    link.status_due = true;
    board_.set_presence(peer, Presence::up);
}

void BucketLinks::session_down(PeerIndex peer, const std::string& why, Time) {
    Link& link = links_[peer];
    link.up = false;
    if (link.left || closing_) return;
    board_.set_presence(peer, Presence::down);
    // When the run is over for one reason, everybody leaves.
    if (!broken_by_) settings_.log("peer " + name(peer) + ": session ended: " + why);
    if (link.met || (started_ && protocol_.partner(peer))) part(peer, "its session ended: " + why);
}

void BucketLinks::peer_lost(PeerIndex peer, const std::string& why) {
    if (closing_) return;
    board_.set_presence(peer, Presence::lost);
    if (!broken_by_) settings_.log("peer " + name(peer) + " is lost: " + why);
    if (started_) part(peer, why);
}

void BucketLinks::part(PeerIndex peer, const std::string& why) {
    Link& link = links_[peer];
    if (std::exchange(link.gone, true)) return;
    protocol_.gone(peer);
    // One whose parameters are final is not needed any more.
    if (closing_ || link.done || !protocol_.needs(peer)) return;
    if (!broken_by_) broken_by_ = peer;
    broken_ = true;
    board_.break_off("peer " + name(peer) +
                     " is gone, and this mode cannot go on without it: " + why);
}

}  // namespace ako
