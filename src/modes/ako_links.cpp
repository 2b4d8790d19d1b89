// See ako_links.h. What a link carries: control, then Status, then relays and own partials in turn;
// which own blocks, LinkSchedule decides.
#include "src/modes/ako_links.h"

#include <algorithm>

#include "ako/assert.h"
#include "src/modes/ako_refusal.h"

namespace ako {
namespace {

/// How often it is asked how the dials of absent peers ended.
constexpr Time gone_interval = std::chrono::milliseconds(100);

}  // namespace

AkoLinks::AkoLinks(const ModeSettings& settings, const Blocks& blocks, Inbox& inbox, Outbox& outbox,
                   const Snapshots& snapshots, BufferPool& pool, Transport& transport,
                   const Clock& clock)
    : settings_(settings),
      blocks_(blocks),
      inbox_(inbox),
      outbox_(outbox),
      snapshots_(snapshots),
      pool_(pool),
      transport_(transport),
      clock_(clock),
      lives_(settings.self, settings.process_id, settings.peer_count()),
      departures_(settings.peer_count(),
                  std::chrono::milliseconds(settings.exchange.life_timeout_ms),
                  from_seconds(settings.exchange.finish_linger_s)) {
    for (PeerIndex peer = 0; peer < settings.peer_count(); ++peer) {
        links_.emplace_back(LinkSchedule(blocks, settings.exchange.partitions, settings.self, peer,
                                         settings.peer_count()));
    }
    take_mail();
}

// ---- sending

std::optional<OutFrame> AkoLinks::next(PeerIndex peer, std::size_t payload_bytes_max) {
    Link& link = links_[peer];
    if (!link.control.empty()) {
        OutFrame frame{std::move(link.control.front()), {}, {}};
        link.control.pop_front();
        outbox_.control_sent(peer, frame.header);
        if (auto* row = std::get_if<CutRow>(&frame.header)) row->life = life(row->row);
        return frame;
    }
    if (link.status_due) return status_frame(link, clock_.now());
    if (closing_) {
        if (std::exchange(link.bye_sent, true)) return std::nullopt;
        return OutFrame{Bye{status_.final_round.value_or(0)}, {}, {}};
    }
    link.relay_turn = !link.relay_turn;
    if (link.relay_turn && !link.relays.empty()) return relay_frame(peer);
    if (auto frame = own_partial(peer, payload_bytes_max)) return frame;
    if (!link.relays.empty()) return relay_frame(peer);
    return std::nullopt;
}

std::optional<OutFrame> AkoLinks::own_partial(PeerIndex peer, std::size_t payload_bytes_max) {
    // Once the cut is decided, whoever lacks a block of it asks: what would be streamed beside that
    // has come from elsewhere, or is no part of it.
    if (!newest_ || !status_.decided.none()) return std::nullopt;
    Link& link = links_[peer];
    const std::size_t block_bytes = blocks_.block_elements() * sizeof(float);
    const auto count_max = static_cast<BlockIndex>(
        std::clamp<std::size_t>(payload_bytes_max / block_bytes, 1, blocks_.run_count_max()));
    const std::optional<BlockRun> run = link.schedule.next(count_max);
    if (!run) return std::nullopt;
    link.observed_partitions = link.schedule.observed_partitions();

    const SnapshotIndex index = *newest_;  // bound now, not when the frame became due
    const Snapshot& snapshot = snapshots_[index];
    const Range range = blocks_.range(*run);
    Partial header{settings_.self, snapshot.version, *run, snapshot.sealed_at, false, {}};
    header.checksums.assign(snapshot.checksums.begin() + run->first,
                            snapshot.checksums.begin() + run->first + run->count);
    header.bound_at = clock_.now();
    AKO_ASSERT((sending_[index] & peer_bit(peer)) == 0, "two frames at once for one peer");
    sending_[index] |= peer_bit(peer);
    return OutFrame{std::move(header),
                    std::as_bytes(std::span(snapshot.values).subspan(range.first, range.count)),
                    BufferRef([this, index, peer] { sending_[index] &= ~peer_bit(peer); })};
}

OutFrame AkoLinks::relay_frame(PeerIndex peer) {
    Link& link = links_[peer];
    auto relay = std::make_shared<Relay>(std::move(link.relays.front()));
    link.relays.pop_front();
    relay->header.bound_at = clock_.now();
    if (relay->header.version.round > 0) relay->header.life = lives_.of(relay->header.origin);
    const std::span<const std::byte> payload = relay->payload.bytes();
    return OutFrame{relay->header, payload, BufferRef([this, relay, peer] {
                        outbox_.relay_sent(peer, relay->payload.bytes().size());
                    })};
}

OutFrame AkoLinks::status_frame(Link& link, Time now) {
    link.status_due = false;
    link.status_sent = status_revision_;
    link.status_sent_at = now;
    Status status = status_;
    status.sent_at = now;
    if (link.heard_sent_at != Time{0}) {
        status.echo_sent_at = link.heard_sent_at;
        status.echo_held = now - link.heard_at;
    }
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        if (links_[peer].up) status.reached |= peer_bit(peer);
    }
    for (PeerIndex row = 0; row < status.rows.size(); ++row) status.rows[row].life = life(row);
    return OutFrame{std::move(status), {}, {}};
}

// ---- mail from the compute half

void AkoLinks::poll(Time now) {
    departures_.look(now);
    take_mail();
    look_for_the_gone(now);
    const Time heartbeat = std::chrono::milliseconds(settings_.exchange.heartbeat_ms);
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        Link& link = links_[peer];
        if (!link.up) continue;
        if (std::exchange(link.out_of_room, false)) transport_.resume(peer);  // it asks again
        const Time interval =
            link.status_sent == status_revision_ ? heartbeat : std::min(status_interval, heartbeat);
        if (now - link.status_sent_at < interval) continue;
        link.status_due = true;
        transport_.wake(peer);
    }
}

void AkoLinks::look_for_the_gone(Time now) {
    if (now - looked_at_ < gone_interval || closing_) return;
    looked_at_ = now;
    const std::vector<LinkCounters> counters = transport_.counters();
    for (PeerIndex peer = 0; peer < counters.size(); ++peer) {
        if (peer == settings_.self || links_[peer].up) continue;
        departures_.dialled(peer, counters[peer].nobody_listens(), now);
        if (links_[peer].left || !departures_.gone(peer, now)) continue;
        if (std::exchange(links_[peer].told_gone, true)) continue;
        inbox_.set_presence(peer, Presence::gone);
        settings_.log("peer " + name(peer) + " has ended: nobody listens at its address");
    }
    left_behind_ = departures_.left_behind(now);
}

void AkoLinks::take_mail() {
    // Room is made before the next is taken: the network thread never holds more than two.
    const bool snapshot_waits = outbox_.snapshot_waits();
    if (snapshot_waits) keep_only_the_newest();
    Mail mail = outbox_.take(snapshot_waits);
    if (mail.snapshot) take_snapshot(*mail.snapshot);
    if (mail.status) {
        status_ = std::move(*mail.status);
        ++status_revision_;
    }
    closing_ = mail.closing;
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        if (peer == settings_.self) continue;
        Link& link = links_[peer];
        if (mail.status_urgent) link.status_due = true;
        if (mail.damaged & peer_bit(peer)) link.damaged = link.up;
        link.schedule.lift_grants(mail.grants_lifted);
        if (!link.up) {  // nobody to send it to; whoever wants it asks again
            for (const Header& header : mail.control[peer]) outbox_.control_sent(peer, header);
            for (const Relay& relay : mail.relays[peer]) {
                outbox_.relay_sent(peer, relay.payload.bytes().size());
            }
            continue;
        }
        std::move(mail.control[peer].begin(), mail.control[peer].end(),
                  std::back_inserter(link.control));
        std::move(mail.relays[peer].begin(), mail.relays[peer].end(),
                  std::back_inserter(link.relays));
        transport_.wake(peer);
    }
}

void AkoLinks::take_snapshot(SnapshotIndex snapshot) {
    newest_ = snapshot;
    held_.push_back(snapshot);
    if (sending_[held_.front()] == 0) keep_only_the_newest();
    for (Link& link : links_) link.schedule.begin_round(snapshots_[snapshot].version.round);
}

void AkoLinks::keep_only_the_newest() {
    while (held_.size() > 1) {
        const SnapshotIndex oldest = held_.front();
        for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
            if (sending_[oldest] & peer_bit(peer)) transport_.copy_aside(peer);
        }
        AKO_ASSERT(sending_[oldest] == 0, "a frame still points into a snapshot");
        held_.pop_front();
        outbox_.give_back(oldest);
    }
}

// ---- receiving

std::optional<std::string> AkoLinks::refuse(PeerIndex peer, const Header& header,
                                            std::size_t bytes) {
    if (auto complaint = refusal(header, bytes, peer, settings_.peer_count(), blocks_,
                                 RunBounds::of(settings_))) {
        return complaint;
    }
    Link& link = links_[peer];
    if (link.damaged) return "a block that it sent did not match its checksum";
    if (lives_.other_than(peer, link.process_id)) {  // heard of since it was admitted
        return "another process has trained as " + name(peer) + " before";
    }
    const std::optional<PeerIndex> row = lives_.hear(peer, link.process_id, header);
    if (!row) return std::nullopt;
    link.apart_process = link.process_id;
    link.apart_row = *row;
    return "it has trained with another process as " + name(*row) +
           " than this peer: their contributions cannot be put together";
}

std::optional<Destination> AkoLinks::reserve(PeerIndex peer, const Header&, std::size_t bytes) {
    if (inbox_.has_room(frames_reserved_)) {
        std::optional<PooledBuffer> buffer;
        if (bytes > 0) buffer = pool_.take(bytes);
        if (bytes == 0 || buffer) ++frames_reserved_;
        if (bytes == 0) return Destination{};
        if (buffer) {
            const std::uint64_t ticket = next_ticket_++;
            const Destination destination{buffer->bytes(), ticket};
            reserved_.emplace(ticket, std::move(*buffer));
            return destination;
        }
    }
    links_[peer].out_of_room = true;
    return std::nullopt;
}

void AkoLinks::arrived(PeerIndex peer, Header header, Destination destination, Time arrived_at) {
    Link& link = links_[peer];
    --frames_reserved_;
    if (const auto* status = std::get_if<Status>(&header)) {
        link.heard_sent_at = status->sent_at;
        link.heard_at = arrived_at;
    } else if (std::holds_alternative<Bye>(header)) {
        link.left = true;
    }
    PooledBuffer payload;
    if (destination.ticket != 0) {
        const auto found = reserved_.find(destination.ticket);
        payload = std::move(found->second);
        reserved_.erase(found);
    }
    inbox_.push({peer, std::move(header), std::move(payload), arrived_at,
                 !std::exchange(link.heard, true)});
}

void AkoLinks::abandoned(PeerIndex, Destination destination) {
    --frames_reserved_;
    if (destination.ticket != 0) reserved_.erase(destination.ticket);
}

// ---- sessions

std::optional<Reject> AkoLinks::admit(PeerIndex peer, const Hello& hello) {
    const Link& link = links_[peer];
    const bool met_other = link.process_id != 0 && link.process_id != hello.process_id;
    // A new process would begin its row anew and replace what the old one has contributed.
    if (lives_.other_than(peer, hello.process_id) || (met_other && newest_)) {
        return Reject{"process_id", "the process that trained as " + name(peer) + " before",
                      "a new one (a restarted peer cannot rejoin yet: let the others finish)"};
    }
    if (hello.process_id != 0 && hello.process_id == link.apart_process) {
        return Reject{"process_id of " + name(link.apart_row),
                      "the process that this peer has trained with", "another"};
    }
    return std::nullopt;
}

void AkoLinks::session_up(PeerIndex peer, const Hello& hello) {
    Link& link = links_[peer];
    link.up = true;
    link.heard = false;
    link.damaged = false;
    link.left = false;
    link.told_gone = false;
    departures_.came(peer);
    const bool met = std::exchange(link.process_id, hello.process_id) != 0;
    link.schedule.begin_session();
    link.status_due = true;
    link.heard_sent_at = Time{0};
    inbox_.set_presence(peer, Presence::up);
    if (met) settings_.log("peer " + name(peer) + " is connected again");
}

void AkoLinks::session_down(PeerIndex peer, const std::string& why, Time silence) {
    Link& link = links_[peer];
    link.up = false;
    for (const Header& header : link.control) outbox_.control_sent(peer, header);
    link.control.clear();
    for (const Relay& relay : link.relays) {
        outbox_.relay_sent(peer, relay.payload.bytes().size());
    }
    link.relays.clear();
    departures_.went(peer, link.left, silence, clock_.now());
    if (link.left) return;
    inbox_.set_presence(peer, Presence::down);
    // Once all is agreed, sessions end because everyone leaves.
    if (closing_) return;
    settings_.log("peer " + name(peer) + ": session ended: " + why);
}

void AkoLinks::peer_lost(PeerIndex peer, const std::string& why) {
    inbox_.set_presence(peer, Presence::lost);
    settings_.log("peer " + name(peer) + " is lost: " + why);
}

}  // namespace ako
