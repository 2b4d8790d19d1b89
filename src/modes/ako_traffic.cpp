// See ako_traffic.h. What a link carries: control, then Status, then relays and own partials in
// turn; which own blocks, LinkSchedule decides.
#include "src/modes/ako_traffic.h"

#include <algorithm>

#include "ako/assert.h"
#include "ako/payload.h"
#include "src/rows/coded_blocks.h"
#include "src/rows/refusal.h"

namespace ako {
namespace {

/// How often it is asked how the dials of absent peers ended.
constexpr Time gone_interval = std::chrono::milliseconds(100);

}  // namespace

AkoTraffic::AkoTraffic(const ModeSettings& settings, const Blocks& blocks, Mailbox& mailbox,
                       Outbox& outbox, const Snapshots& snapshots, Transport& transport,
                       const Clock& clock)
    : settings_(settings),
      bounds_(RunBounds::of(settings)),
      blocks_(blocks),
      mailbox_(mailbox),
      outbox_(outbox),
      snapshots_(snapshots),
      transport_(transport),
      clock_(clock),
      bound_(settings.peer_count(), payload_bytes_of(blocks.element_count()),
             settings.computes_elsewhere),
      departures_(settings.peer_count(), settings.times().life_timeout,
                  settings.times().finish_linger),
      unanswered_(~peer_bit(settings.self)) {
    for (PeerIndex peer = 0; peer < settings.peer_count(); ++peer) {
        links_.emplace_back(LinkSchedule(blocks, settings.self, peer, settings.peer_count()));
    }
    take_mail();
}

// ---- sending

std::optional<OutFrame> AkoTraffic::next_control(PeerIndex peer) {
    RowLink& link = links_[peer];
    if (link.control.empty()) return std::nullopt;
    OutFrame frame{std::move(link.control.front()), {}, {}};
    link.control.pop_front();
    outbox_.control_sent(peer, frame.header);
    return frame;
}

std::optional<OutFrame> AkoTraffic::next(PeerIndex peer, std::size_t payload_bytes_max) {
    if (closing_) return std::nullopt;
    RowLink& link = links_[peer];
    link.relay_turn = !link.relay_turn;
    if ((link.relay_turn || link.joining) && !link.relays.empty()) return relay_frame(peer);
    if (auto frame = own_partial(peer, payload_bytes_max)) return frame;
    if (!link.relays.empty()) return relay_frame(peer);
    return std::nullopt;
}

std::optional<OutFrame> AkoTraffic::own_partial(PeerIndex peer, std::size_t payload_bytes_max) {
    // Once the cut is decided, whoever lacks a block of it asks: what would be streamed beside that
    // has come from elsewhere, or is no part of it.
    RowLink& link = links_[peer];
    if ((!newest_ && !growing_) || decided_ || !link.answered) return std::nullopt;
    const auto plain_bytes_max =
        static_cast<std::size_t>(static_cast<double>(payload_bytes_max) / sent_share_);
    const auto count_max = static_cast<BlockIndex>(std::clamp<std::size_t>(
        elements_within(plain_bytes_max) / blocks_.block_elements(), 1, blocks_.run_count_max()));
    std::optional<BlockRun> run = link.schedule.next(count_max);
    const bool early = !run && growing_;
    if (early) {
        const Round round = growing_->version.round;
        run = link.schedule.next_early(round, growing_->first, count_max);
    }
    if (!run) return std::nullopt;
    link.observed_partitions = link.schedule.observed_partitions();

    const auto whole = [this](SnapshotIndex it) {
        return Growing{it, 0, snapshots_[it].version, snapshots_[it].sealed_at};
    };
    const Growing source = early ? *growing_ : whole(*newest_);  // now, not when it became due
    const SnapshotIndex index = source.snapshot;
    const Snapshot& snapshot = snapshots_[index];
    const Range range = blocks_.range(*run);
    Partial header{row_of(settings_.self), source.version, *run, source.sealed_at, false, {}};
    header.checksums.assign(snapshot.checksums.begin() + run->first,
                            snapshot.checksums.begin() + run->first + run->count);
    header.bound_at = clock_.now();
    if (settings_.exchange.precision == Precision::adaptive) {
        if (auto frame = coded_frame(header, snapshot)) {
            bound_.sent(payload_bytes_of(range.count), frame->payload.size());
            return frame;
        }
    }
    bound_.sent(payload_bytes_of(range.count), payload_bytes_of(range.count));
    AKO_ASSERT((sending_[index] & peer_bit(peer)) == 0, "two frames at once for one peer");
    sending_[index] |= peer_bit(peer);
    return OutFrame{
        std::move(header),
        payload_of(std::span<const float>(snapshot.values).subspan(range.first, range.count)),
        BufferRef([this, index, peer] { sending_[index] &= ~peer_bit(peer); })};
}

std::optional<OutFrame> AkoTraffic::coded_frame(Partial header, const Snapshot& snapshot) {
    const auto coded = std::make_shared<std::vector<std::byte>>();
    const std::size_t elements = blocks_.range(header.run).count;
    const std::size_t plain_bytes = payload_bytes_of(elements);
    coded->reserve(static_cast<std::size_t>(1.25 * sent_share_ * static_cast<double>(plain_bytes)));
    const std::span<const float> values(snapshot.values);
    for (BlockIndex k = 0; k < header.run.count; ++k) {
        const Range range = blocks_.range(header.run.first + k);
        encode_block(values.subspan(range.first, range.count), *coded);
    }
    end_blocks(*coded);
    header.coded = coded->size() < plain_bytes;
    const std::size_t sent_bytes = header.coded ? coded->size() : plain_bytes;
    // It rises at once, so that few frames are longer than was asked for.
    const double share = static_cast<double>(sent_bytes) / static_cast<double>(plain_bytes);
    sent_share_ = std::max(share, sent_share_ + (share - sent_share_) / 16);
    if (!header.coded) return std::nullopt;
    return OutFrame{std::move(header), *coded, BufferRef([coded] {})};
}

OutFrame AkoTraffic::relay_frame(PeerIndex peer) {
    RowLink& link = links_[peer];
    auto relay = std::make_shared<Relay>(std::move(link.relays.front()));
    link.relays.pop_front();
    relay->header.bound_at = clock_.now();
    const std::span<const std::byte> payload = relay->payload.bytes();
    return OutFrame{relay->header, payload, BufferRef([this, relay, peer]() AKO_NETWORK_THREAD {
                        outbox_.relay_sent(peer, relay->payload.bytes().size());
                    })};
}

// ---- what comes from the compute half

void AkoTraffic::poll(const Word& word, Time now) {
    decided_ = !word.own.vote.decided.none();
    waits_ = word.own.waits;
    closing_ = word.closing;
    departures_.look(now);
    take_mail();
    look_for_the_gone(now);
}

void AkoTraffic::look_for_the_gone(Time now) {
    if (now - looked_at_ < gone_interval || closing_) return;
    looked_at_ = now;
    const std::vector<LinkCounters> counters = transport_.counters();
    for (PeerIndex peer = 0; peer < counters.size(); ++peer) {
        if (!counters[peer].last_error.empty()) unanswered_ &= ~peer_bit(peer);
        if (peer == settings_.self || links_[peer].up) continue;
        departures_.dialled(peer, counters[peer].nobody_listens(), now);
        if (links_[peer].left || !departures_.gone(peer, now)) continue;
        if (std::exchange(links_[peer].told_gone, true)) continue;
        mailbox_.set_presence(peer, Presence::gone);
        settings_.log("peer " + name(peer) + " has ended: nobody listens at its address");
    }
    mailbox_.set_unanswered(unanswered_);
    mailbox_.set_left_behind(departures_.left_behind(now));
}

void AkoTraffic::take_mail() {
    const Outbox::Waiting waiting = outbox_.waiting();
    make_room_for(waiting);
    Outbox::Unseen unseen = outbox_.take(waiting.snapshot.has_value(), waiting.growing);
    if (unseen.snapshot) take_snapshot(*unseen.snapshot);
    if (unseen.growing) take_growing(*unseen.growing);
    if (unseen.part_dropped && growing_) drop_growing();
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        if (peer == settings_.self) continue;
        RowLink& link = links_[peer];
        if (unseen.damaged & peer_bit(peer)) link.damaged = link.up;
        link.schedule.lift_grants(unseen.grants_lifted || link.joining);
        link.answered = link.up && (link.answered || (unseen.answered & peer_bit(peer)) != 0);
        if (!link.up) {  // nobody to send it to; whoever wants it asks again
            for (const Header& header : unseen.control[peer]) outbox_.control_sent(peer, header);
            for (const Relay& relay : unseen.relays[peer]) {
                outbox_.relay_sent(peer, relay.payload.bytes().size());
            }
            continue;
        }
        std::move(unseen.control[peer].begin(), unseen.control[peer].end(),
                  std::back_inserter(link.control));
        std::move(unseen.relays[peer].begin(), unseen.relays[peer].end(),
                  std::back_inserter(link.relays));
        transport_.wake(peer);
    }
}

void AkoTraffic::take_snapshot(SnapshotIndex snapshot) {
    newest_ = snapshot;
    held_.push_back(snapshot);
    if (growing_) drop_growing();
    if (sending_[held_.front()] == 0) keep_newest(1);
    const Round round = snapshots_[snapshot].version.round;
    bound_.begin_round(round, clock_.now(), clock_.processor_time(), sent_share_);
    const unsigned fixed = settings_.exchange.partitions;
    const double partitions = fixed != 0 ? fixed : bound_.partitions();
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        const bool awaits_it = waits_.between(settings_.self, peer);
        links_[peer].schedule.begin_round(round,
                                          awaits_it ? waits_.cycle_max(partitions) : partitions);
    }
}

void AkoTraffic::take_growing(const Growing& growing) {
    if (growing_) outbox_.give_back(growing_->snapshot);  // the same: it is held once
    growing_ = growing;
}

void AkoTraffic::make_room_for(const Outbox::Waiting& waiting) {
    const std::size_t coming = (waiting.snapshot ? 1 : 0) + (waiting.growing ? 1 : 0);
    if (coming == 0) return;
    // It becomes the newest, or something newer does.
    const bool stays = growing_ && growing_->snapshot == waiting.snapshot && !waiting.growing;
    if (waiting.snapshot && growing_ && !stays) drop_growing();
    keep_newest(coming == 2 || stays ? 0 : 1);
}

void AkoTraffic::drop_growing() {
    const SnapshotIndex index = growing_->snapshot;
    growing_.reset();
    if (std::find(held_.begin(), held_.end(), index) == held_.end()) copy_aside(index);
    outbox_.give_back(index);
}

void AkoTraffic::keep_newest(std::size_t count) {
    while (held_.size() > count) {
        const SnapshotIndex oldest = held_.front();
        copy_aside(oldest);
        held_.pop_front();
        outbox_.give_back(oldest);
    }
}

void AkoTraffic::copy_aside(SnapshotIndex snapshot) {
    for (PeerIndex peer = 0; peer < links_.size(); ++peer) {
        if (sending_[snapshot] & peer_bit(peer)) transport_.copy_aside(peer);
    }
    AKO_ASSERT(sending_[snapshot] == 0, "a frame still points into a snapshot");
}

// ---- receiving

std::optional<std::string> AkoTraffic::refuse(PeerIndex peer, const Header& header,
                                              std::size_t bytes) {
    if (auto complaint = refusal(header, bytes, peer, settings_.peer_count(), blocks_, bounds_)) {
        return complaint;
    }
    if (links_[peer].damaged) return "a block that it sent did not match its checksum";
    return std::nullopt;
}

std::optional<Destination> AkoTraffic::reserve(PeerIndex, const Header&, std::size_t bytes) {
    std::optional<PooledBuffer> buffer = mailbox_.take_buffer(bytes);
    if (!buffer) return std::nullopt;
    const std::uint64_t ticket = next_ticket_++;
    const Destination destination{buffer->bytes(), ticket};
    reserved_.emplace(ticket, std::move(*buffer));
    return destination;
}

PooledBuffer AkoTraffic::arrived(PeerIndex peer, const Header& header, Destination destination,
                                 Time) {
    RowLink& link = links_[peer];
    if (const auto* bye = std::get_if<Bye>(&header)) {
        link.left = true;
        if (bye->leaves) departures_.left_early(peer);
    } else if (const auto* status = std::get_if<Status>(&header)) {
        link.joining = status->start.joining;
    }
    PooledBuffer payload;
    if (destination.ticket != 0) {
        const auto found = reserved_.find(destination.ticket);
        payload = std::move(found->second);
        reserved_.erase(found);
    }
    return payload;
}

void AkoTraffic::abandoned(PeerIndex, Destination destination) {
    if (destination.ticket != 0) reserved_.erase(destination.ticket);
}

// ---- sessions

void AkoTraffic::session_up(PeerIndex peer, const Hello&) {
    RowLink& link = links_[peer];
    link.up = true;
    link.damaged = false;
    link.answered = false;
    link.left = false;
    link.told_gone = false;
    link.joining = false;
    unanswered_ &= ~peer_bit(peer);
    departures_.came(peer);
    link.schedule.begin_session();
}

void AkoTraffic::session_down(PeerIndex peer, const std::string&, Time silence, bool left) {
    RowLink& link = links_[peer];
    link.up = false;
    for (const Header& header : link.control) outbox_.control_sent(peer, header);
    link.control.clear();
    for (const Relay& relay : link.relays) {
        outbox_.relay_sent(peer, relay.payload.bytes().size());
    }
    link.relays.clear();
    departures_.went(peer, left, silence, clock_.now());
}

}  // namespace ako
