// See ako_arrivals.h.
#include "src/modes/ako_arrivals.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "src/exchange/coverage.h"
#include "src/rows/coded_blocks.h"

namespace ako {

void AkoArrivals::take_in(Time now) {
    parts_.roster.follow(parts_.mailbox.take_presence());
    std::deque<Arrival> arrivals = parts_.mailbox.take();
    for (Arrival& arrival : arrivals) handle(arrival, now);
    for (PeerIndex peer = 0; versions_wanted_ != 0; versions_wanted_ &= ~peer_bit(peer++)) {
        if (versions_wanted_ & peer_bit(peer)) parts_.relaying.tell_versions(peer);
    }
    if (!parts_.finish.frozen() && !parts_.beginning.leaves_relays())
        parts_.relaying.step(now, parts_.finish.begun());
}

void AkoArrivals::handle(Arrival& arrival, Time now) {
    if (arrival.opens_session) begin_session(arrival, now);
    if (std::holds_alternative<Partial>(arrival.header)) {
        handle_partial(arrival, now);
        arrival.payload = {};  // back to the pool at once, not when all have been handled
    } else if (const auto* status = std::get_if<Status>(&arrival.header)) {
        handle_status(arrival, *status, now);
    } else if (const auto* want = std::get_if<Want>(&arrival.header)) {
        serve(arrival, *want);
    } else if (const auto* bye = std::get_if<Bye>(&arrival.header)) {
        handle_bye(arrival.from, *bye);
    } else if (std::holds_alternative<WantVersions>(arrival.header)) {
        versions_wanted_ |= peer_bit(arrival.from);
    } else if (const auto* versions = std::get_if<Versions>(&arrival.header)) {
        parts_.beginning.heard(arrival.from, *versions, now);
    } else {
        if (const auto* lack = std::get_if<Lack>(&arrival.header)) {
            if (lack->row == initial_row) return parts_.initial.lacks(arrival.from, *lack, now);
            parts_.relaying.lacks(arrival.from, *lack, now);  // whoever asked for it knows
            parts_.beginning.lacks(arrival.from, *lack, now);
        }
        parts_.finish.handle(arrival.from, arrival.header, now);
    }
}

void AkoArrivals::begin_session(const Arrival& arrival, Time now) {
    answered_ &= ~peer_bit(arrival.from);
    unanswered_ &= ~peer_bit(arrival.from);
    parts_.roster.begin_session(arrival.from, arrival.new_process);
    parts_.relaying.forget_asked(arrival.from);
    parts_.initial.forget_asked(arrival.from);
    parts_.finish.forget_asked(arrival.from);
    parts_.beginning.begin_session(arrival.from, arrival.new_process, now);
}

void AkoArrivals::handle_status(const Arrival& arrival, const Status& status, Time now) {
    const bool waits = parts_.beginning.state() == AkoBeginning::State::waiting;
    if (!status.start.resuming || parts_.beginning.goes_on() || !waits)
        return hear_status(arrival, status, now);
    // A peer that begins anew passes on nothing that others have on their disks: it is no run.
    Status without = status;
    without.standing.progress.assign(parts_.settings.peer_count(), {});
    without.covered.reset();
    hear_status(arrival, without, now);
}

void AkoArrivals::hear_status(const Arrival& arrival, const Status& status, Time now) {
    const bool first = !parts_.roster[arrival.from].heard;
    parts_.roster.heard_status(arrival.from, status, arrival.arrived_at, parts_.budget.round());
    if ((answered_ & peer_bit(arrival.from)) == 0) unanswered_ |= peer_bit(arrival.from);
    parts_.finish.heard(arrival.from, status, now);
    if (parts_.settings.coverage != nullptr && status.covered)
        parts_.settings.coverage->hear(arrival.from, *status.covered);
    // In the final exchange its row is as the cut will have it.
    if (!parts_.finish.begun()) parts_.beginning.heard(arrival.from, status, first, now);
    parts_.stop.hear(status.standing.stop, status.standing.asked);
    parts_.budget.hear_of_doublings(status.standing.batch_doublings);
    parts_.staleness.hear(status.waits);
    word_.hear_verdict(status.standing.verdict);
}

void AkoArrivals::handle_bye(PeerIndex from, const Bye& bye) {
    parts_.roster.heard_bye(from, bye);
    if (parts_.settings.coverage == nullptr || !bye.leaves) return;
    const RowHeld row = parts_.rows.ledger().held(row_of(from));
    parts_.settings.coverage->left(from, row.lowest.round >= bye.final_round);
}

void AkoArrivals::answer() {
    if (unanswered_ != 0) parts_.outbox.answer(unanswered_);
    answered_ |= std::exchange(unanswered_, 0);
}

void AkoArrivals::serve(const Arrival& arrival, const Want& want) {
    if (want.row == initial_row) parts_.initial.asked(arrival.arrived_at);
    parts_.relaying.serve(arrival.from, want,
                          [this](RowIndex row, BlockIndex block, Version version) {
                              return row == initial_row ? parts_.initial.block(block)
                                                        : parts_.finish.find(row, block, version);
                          });
}

void AkoArrivals::take_initial(const Arrival& arrival, const Partial& partial) {
    const BlockCheck check =
        parts_.initial.take(arrival.from, partial, arrival.payload.floats(), arrival.arrived_at);
    if (check == BlockCheck::damaged) parts_.outbox.mistrust(arrival.from);
    if (check == BlockCheck::diverged)
        parts_.settings.log("the initial parameters that peer " + parts_.name(arrival.from) +
                            " sends are not those that it says to have, or not finite");
}

void AkoArrivals::handle_partial(const Arrival& arrival, Time now) {
    const auto& partial = std::get<Partial>(arrival.header);
    if (partial.origin == initial_row) return take_initial(arrival, partial);
    if (!may_say(arrival.from, partial)) return;
    if (partial.bound_at != Time{0}) {
        const auto bound_at = parts_.roster[arrival.from].clock.to_local(partial.bound_at);
        if (bound_at) ages_[arrival.from].add(arrival.arrived_at - *bound_at);
    }
    std::optional<Time> sealed_at;
    if (!partial.relayed) {
        parts_.roster.heard_round(arrival.from, partial.version.round, parts_.budget.round());
        sealed_at = parts_.roster[arrival.from].clock.to_local(partial.sealed_at);
        sealed_at = std::min(sealed_at.value_or(arrival.arrived_at), arrival.arrived_at);
    }
    const std::size_t first_element = parts_.blocks.range(partial.run).first;
    const std::span<const float> payload = elements_of(arrival, partial);
    if (payload.empty()) return refuse_block(arrival.from, partial, BlockCheck::damaged);
    for (BlockIndex k = 0; k < partial.run.count; ++k) {
        const BlockIndex block = partial.run.first + k;
        const Range range = parts_.blocks.range(block);
        take_block(arrival.from, partial, block,
                   payload.subspan(range.first - first_element, range.count), sealed_at, now);
    }
    parts_.finish.arrived(arrival.from, partial, arrival.arrived_at);
    parts_.relaying.arrived(arrival.from, partial, arrival.arrived_at);
    parts_.beginning.arrived(arrival.from, partial, arrival.arrived_at);
}

// Anybody could make up a version of another's row that is newer than its own word. So a row is
// taken of its owner, and of others what was asked of them.
bool AkoArrivals::may_say(PeerIndex from, const Partial& partial) const {
    return partial.origin == row_of(from) || parts_.outbox.asked(from, partial.origin);
}

std::span<const float> AkoArrivals::elements_of(const Arrival& arrival, const Partial& partial) {
    if (!partial.coded) return arrival.payload.floats();
    decoded_.resize(parts_.blocks.range(partial.run).count);
    std::span<const std::byte> left = arrival.payload.bytes();
    std::span<float> to = decoded_;
    for (BlockIndex k = 0; k < partial.run.count; ++k) {
        const std::size_t count = parts_.blocks.range(partial.run.first + k).count;
        if (!decode_block(left, to.first(count))) return {};
        to = to.subspan(count);
    }
    if (!at_end_of_blocks(left)) return {};
    return decoded_;
}

void AkoArrivals::take_block(PeerIndex from, const Partial& partial, BlockIndex block,
                             std::span<const float> values, const std::optional<Time>& sealed_at,
                             Time now) {
    const RowIndex row = partial.origin;
    const std::uint32_t checksum = partial.checksums[block - partial.run.first];
    if (parts_.finish.begun()) {
        const BlockCheck intact = Ledger::inspect(values, checksum);
        if (intact == BlockCheck::damaged) return refuse_block(from, partial, intact);
        if (intact == BlockCheck::good &&
            parts_.finish.take(row, block, partial.version, values, checksum, now))
            return;
    }
    if (parts_.finish.frozen()) return;
    if (row == parts_.rows.ledger().own() && parts_.beginning.refuses(partial.version)) return;
    const BlockCheck check =
        parts_.rows.take(row, block, partial.version, values, checksum, sealed_at, now);
    if (check == BlockCheck::good) {
        parts_.finish.ledger_changed(now);
        parts_.beginning.ledger_changed();
    } else if (check != BlockCheck::late) {
        refuse_block(from, partial, check);
    }
}

void AkoArrivals::refuse_block(PeerIndex from, const Partial& partial, BlockCheck check) {
    // Damaged on the way: nobody sends it again in this session.
    if (check == BlockCheck::damaged) parts_.outbox.mistrust(from);
    const bool first = blocks_refused() == 0;
    RefusedBlocks& refused = refused_[owner_of(partial.origin)];
    ++(check == BlockCheck::damaged ? refused.damaged : refused.diverged);
    if (!first) return;  // it says it all; the counts are in the metrics
    parts_.settings.log("a block of peer " + parts_.name(owner_of(partial.origin)) + ", round " +
                        std::to_string(partial.version.round) +
                        (check == BlockCheck::damaged
                             ? ", does not match its checksum"
                             : ", holds values that are not finite or beyond 2^24: it diverges") +
                        ": dropped, the older copy is kept");
}

void AkoArrivals::describe(PeerIndex peer, LinkView& out) const {
    out.age_ms = std::chrono::duration<double, std::milli>(ages_[peer].median()).count();
    out.damaged_blocks = refused_[peer].damaged;
    out.diverged_blocks = refused_[peer].diverged;
}

}  // namespace ako
