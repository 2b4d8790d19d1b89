// What a peer does with what arrived, as seen by the compute thread: each frame goes to the part of
// the class that waits for it, each block into the ledger. The rest of the class is in
// ako_compute.cpp.
#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "src/group/coverage.h"
#include "src/modes/ako_compute.h"
#include "src/rows/coded_blocks.h"

namespace ako {

void AkoCompute::drain(Time now) {
    roster_.follow(mailbox_.take_presence());
    std::deque<Arrival> arrivals = mailbox_.take();
    for (Arrival& arrival : arrivals) handle(arrival, now);
    for (PeerIndex peer = 0; versions_wanted_ != 0; versions_wanted_ &= ~peer_bit(peer++)) {
        if (versions_wanted_ & peer_bit(peer)) relaying_.tell_versions(peer);
    }
    if (!finish_.frozen() && !beginning_.leaves_relays()) relaying_.step(now, finish_.begun());
}

void AkoCompute::handle(Arrival& arrival, Time now) {
    if (arrival.opens_session) begin_session(arrival, now);
    if (std::holds_alternative<Partial>(arrival.header)) {
        handle_partial(arrival, now);
        arrival.payload = {};  // back to the pool at once, not when all have been handled
    } else if (const auto* status = std::get_if<Status>(&arrival.header)) {
        handle_status(arrival, *status, now);
    } else if (const auto* want = std::get_if<Want>(&arrival.header)) {
        serve(arrival, *want);
    } else if (const auto* bye = std::get_if<Bye>(&arrival.header)) {
        roster_.heard_bye(arrival.from, *bye);
        if (settings_.coverage != nullptr && bye->leaves) {
            const RowHeld row = rows_.ledger().held(row_of(arrival.from));
            settings_.coverage->left(arrival.from, row.lowest.round >= bye->final_round);
        }
    } else if (std::holds_alternative<WantVersions>(arrival.header)) {
        versions_wanted_ |= peer_bit(arrival.from);
    } else if (const auto* versions = std::get_if<Versions>(&arrival.header)) {
        beginning_.heard(arrival.from, *versions, now);
    } else {
        if (const auto* lack = std::get_if<Lack>(&arrival.header)) {
            if (lack->row == initial_row) return initial_.lacks(arrival.from, *lack, now);
            relaying_.lacks(arrival.from, *lack, now);  // whoever asked for it knows
            beginning_.lacks(arrival.from, *lack, now);
        }
        finish_.handle(arrival.from, arrival.header, now);
    }
}

void AkoCompute::begin_session(const Arrival& arrival, Time now) {
    answered_ &= ~peer_bit(arrival.from);
    unanswered_ &= ~peer_bit(arrival.from);
    roster_.begin_session(arrival.from, arrival.new_process);
    relaying_.forget_asked(arrival.from);
    initial_.forget_asked(arrival.from);
    finish_.forget_asked(arrival.from);
    beginning_.begin_session(arrival.from, arrival.new_process, now);
}

void AkoCompute::handle_status(const Arrival& arrival, const Status& status, Time now) {
    const bool waits = beginning_.state() == AkoBeginning::State::waiting;
    if (!status.resuming || settings_.resumes || !waits) return hear_status(arrival, status, now);
    // Who begins anew passes on nothing of what was on the disks of others: it is no run.
    Status without = status;
    without.progress.assign(settings_.peer_count(), {});
    without.covered.reset();
    hear_status(arrival, without, now);
}

void AkoCompute::hear_status(const Arrival& arrival, const Status& status, Time now) {
    const bool first = !roster_[arrival.from].heard;
    roster_.heard_status(arrival.from, status, arrival.arrived_at, round_);
    if ((answered_ & peer_bit(arrival.from)) == 0) unanswered_ |= peer_bit(arrival.from);
    finish_.heard(arrival.from, status, now);
    if (settings_.coverage != nullptr && status.covered)
        settings_.coverage->hear(arrival.from, *status.covered);
    // In the final exchange its row is as the cut will have it.
    if (!finish_.begun()) beginning_.heard(arrival.from, status, first, now);
    hear_stop(status.stop, status.asked);
    growth_.hear_of(status.batch_doublings);
    if (status.verdict && (!verdict_ || status.verdict->progress > verdict_->progress)) {
        verdict_ = status.verdict;
    }
}

void AkoCompute::answer() {
    if (unanswered_ != 0) outbox_.answer(unanswered_);
    answered_ |= std::exchange(unanswered_, 0);
}

void AkoCompute::serve(const Arrival& arrival, const Want& want) {
    if (want.row == initial_row) initial_.asked(arrival.arrived_at);
    relaying_.serve(arrival.from, want, [this](RowIndex row, BlockIndex block, Version version) {
        return row == initial_row ? initial_.block(block) : finish_.find(row, block, version);
    });
}

void AkoCompute::take_initial(const Arrival& arrival, const Partial& partial) {
    const BlockCheck check =
        initial_.take(arrival.from, partial, arrival.payload.floats(), arrival.arrived_at);
    if (check == BlockCheck::damaged) outbox_.mistrust(arrival.from);
    if (check == BlockCheck::diverged)
        settings_.log("the initial parameters that peer " + name(arrival.from) +
                      " sends are not those that it says to have, or not finite");
}

void AkoCompute::handle_partial(const Arrival& arrival, Time now) {
    const auto& partial = std::get<Partial>(arrival.header);
    if (partial.origin == initial_row) return take_initial(arrival, partial);
    if (partial.bound_at != Time{0}) {
        const auto bound_at = roster_[arrival.from].clock.to_local(partial.bound_at);
        if (bound_at) ages_[arrival.from].add(arrival.arrived_at - *bound_at);
    }
    std::optional<Time> sealed_at;
    if (!partial.relayed) {
        roster_.heard_round(arrival.from, partial.version.round, round_);
        sealed_at = roster_[arrival.from].clock.to_local(partial.sealed_at);
        sealed_at = std::min(sealed_at.value_or(arrival.arrived_at), arrival.arrived_at);
    }
    const std::size_t first_element = blocks_.range(partial.run).first;
    const std::span<const float> payload = elements_of(arrival, partial);
    if (payload.empty()) return refuse_block(arrival.from, partial, BlockCheck::damaged);
    for (BlockIndex k = 0; k < partial.run.count; ++k) {
        const BlockIndex block = partial.run.first + k;
        const Range range = blocks_.range(block);
        take_block(arrival.from, partial, block,
                   payload.subspan(range.first - first_element, range.count), sealed_at, now);
    }
    finish_.arrived(arrival.from, partial, arrival.arrived_at);
    relaying_.arrived(arrival.from, partial, arrival.arrived_at);
    beginning_.arrived(arrival.from, partial, arrival.arrived_at);
}

std::span<const float> AkoCompute::elements_of(const Arrival& arrival, const Partial& partial) {
    if (!partial.coded) return arrival.payload.floats();
    decoded_.resize(blocks_.range(partial.run).count);
    std::span<const std::byte> left = arrival.payload.bytes();
    std::span<float> to = decoded_;
    for (BlockIndex k = 0; k < partial.run.count; ++k) {
        const std::size_t count = blocks_.range(partial.run.first + k).count;
        if (!decode_block(left, to.first(count))) return {};
        to = to.subspan(count);
    }
    if (!at_end_of_blocks(left)) return {};
    return decoded_;
}

void AkoCompute::take_block(PeerIndex from, const Partial& partial, BlockIndex block,
                            std::span<const float> values, const std::optional<Time>& sealed_at,
                            Time now) {
    const RowIndex row = partial.origin;
    const std::uint32_t checksum = partial.checksums[block - partial.run.first];
    if (finish_.begun()) {
        const BlockCheck intact = Ledger::inspect(values, checksum);
        if (intact == BlockCheck::damaged) return refuse_block(from, partial, intact);
        if (intact == BlockCheck::good &&
            finish_.take(row, block, partial.version, values, checksum, now))
            return;
    }
    if (finish_.frozen()) return;
    if (row == rows_.ledger().own() && beginning_.refuses(partial.version)) return;
    const BlockCheck check =
        rows_.take(row, block, partial.version, values, checksum, sealed_at, now);
    if (check == BlockCheck::good) {
        finish_.ledger_changed(now);
        beginning_.ledger_changed();
    } else if (check != BlockCheck::late) {
        refuse_block(from, partial, check);
    }
}

void AkoCompute::refuse_block(PeerIndex from, const Partial& partial, BlockCheck check) {
    // Damaged on the way: nobody sends it again in this session.
    if (check == BlockCheck::damaged) outbox_.mistrust(from);
    const bool first = blocks_refused() == 0;
    RefusedBlocks& refused = refused_[owner_of(partial.origin)];
    ++(check == BlockCheck::damaged ? refused.damaged : refused.diverged);
    if (!first) return;  // it says it all; the counts are in the metrics
    settings_.log("a block of peer " + name(owner_of(partial.origin)) + ", round " +
                  std::to_string(partial.version.round) +
                  (check == BlockCheck::damaged
                       ? ", does not match its checksum"
                       : ", holds values that are not finite or beyond 2^24: it diverges") +
                  ": dropped, the older copy is kept");
}

}  // namespace ako
