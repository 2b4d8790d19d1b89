// See relay.h.
#include "src/rows/relay.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ako/payload.h"
#include "src/rows/coded_blocks.h"
#include "src/rows/initial_values.h"

namespace ako {

Relaying::Relaying(const Ledger& ledger, const Roster& roster, Outbox& outbox)
    : ledger_(ledger),
      roster_(roster),
      outbox_(outbox),
      puller_(roster, ledger.blocks().count(), false) {}

// ---- serving

BlockRun Relaying::run_to_send(const Want& want, const Want::Run& asked, BlockIndex first,
                               BlockIndex count_max, const FindBlock& find) const {
    const BlockIndex end = asked.blocks.first + asked.blocks.count;
    BlockRun run{first, 0};
    while (first < end && run.count < count_max) {
        if (want.exact) {
            if (find(want.row, first, asked.version).values.empty()) break;
        } else {
            const Version held = ledger_.version(want.row, first);
            if (held <= asked.version) break;
            if (run.count > 0 && held != ledger_.version(want.row, run.first)) break;
        }
        ++first;
        ++run.count;
    }
    return run;
}

bool Relaying::send(PeerIndex peer, const Want& want, Version version, BlockRun run,
                    const FindBlock& find) {
    const std::size_t elements = ledger_.blocks().range(run).count;
    if (coded_bytes_min(elements, run.count) > outbox_.relay_room(peer)) return false;
    Partial header{want.row, version, run, Time{0}, true, {}};
    std::vector<HeldBlock> held;
    coded_.clear();
    for (BlockIndex block = run.first; block < run.first + run.count; ++block) {
        held.push_back(find(want.row, block, version));
        header.checksums.push_back(held.back().checksum);  // its owner's, never made anew
        if (want.row != initial_row) encode_block(held.back().values, coded_);
    }
    end_blocks(coded_);
    const std::size_t plain_bytes = payload_bytes_of(elements);
    header.coded = want.row != initial_row && coded_.size() < plain_bytes;
    const std::size_t bytes = header.coded ? coded_.size() : plain_bytes;
    if (bytes > outbox_.relay_room(peer)) return false;
    auto payload = outbox_.relay_buffer(bytes);
    if (!payload) return false;
    std::byte* to = payload->bytes().data();
    if (header.coded) {
        std::ranges::copy(coded_, to);
    } else {
        for (const HeldBlock& one : held) to = std::ranges::copy(payload_of(one.values), to).out;
    }
    outbox_.relay(peer, {std::move(header), std::move(*payload)});
    return true;
}

void Relaying::serve(PeerIndex peer, const Want& want, const FindBlock& find) {
    BlockIndex sum = 0;
    for (const Want::Run& asked : want.runs) sum += asked.blocks.count;
    const BlockIndex count_max = std::clamp<BlockIndex>(sum / 2, 1, relay_run_max);
    Lack lack{want.row, {}};
    for (const Want::Run& asked : want.runs) {
        const BlockIndex end = asked.blocks.first + asked.blocks.count;
        for (BlockIndex first = asked.blocks.first; first < end;) {
            const BlockRun run = run_to_send(want, asked, first, count_max, find);
            const Version version =
                want.exact ? asked.version : ledger_.version(want.row, run.first);
            if (run.count > 0 && send(peer, want, version, run, find)) {
                first += run.count;
            } else if (!lack.runs.empty() &&
                       lack.runs.back().first + lack.runs.back().count == first) {
                ++lack.runs.back().count;
                ++first;
            } else {
                lack.runs.push_back({first++, 1});
            }
        }
    }
    if (!lack.runs.empty()) outbox_.send(peer, std::move(lack));
}

void Relaying::tell_versions(PeerIndex peer) {
    for (const RowIndex row : ledger_.all())
        outbox_.send(peer, Versions{row, ledger_.versions(row)});
}

// ---- asking

Relaying::Informed Relaying::better_informed(RowIndex row, bool at_the_end) const {
    const RowHeld mine = ledger_.held(row);
    Informed informed;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& status = roster_[peer].status;
        if (peer == roster_.self() || !roster_.reachable(peer) || !status) continue;
        const RowHeld& theirs = status->rows[row];
        if (at_the_end && roster_.streams(owner_of(row), theirs.highest)) continue;
        if (ledger_.begun_apart(row, theirs.highest.incarnation)) continue;
        if (theirs.map_checksum != mine.map_checksum && theirs.highest > mine.lowest) {
            informed.holders |= peer_bit(peer);
            informed.newest = std::max(informed.newest, theirs.highest);
        }
    }
    return informed;
}

void Relaying::step(Time now, bool at_the_end) {
    PerRow<Informed> informed(ledger_.row_count());
    PeerSet holders = 0;
    for (const RowIndex row : ledger_.all()) {
        if (row == ledger_.own()) continue;
        // An owner that takes its row in from the others will stream it, and needs their links now.
        if (!at_the_end && roster_.reachable(owner_of(row))) continue;
        informed[row] = better_informed(row, at_the_end);
        holders |= informed[row].holders;
    }
    if (holders == 0) return;
    Puller::Need need;
    need.lacking = [&](RowIndex row, BlockIndex block) -> std::optional<Version> {
        const Version version = ledger_.version(row, block);
        if (version >= informed[row].newest) return std::nullopt;
        return version;
    };
    need.holders = [&](RowIndex row) { return informed[row].holders; };
    for (Puller::Ask& ask : puller_.step(now, need)) {
        outbox_.send(ask.holder, std::move(ask.want));
    }
}

}  // namespace ako
