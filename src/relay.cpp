// See relay.h.
#include "src/relay.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ako {

Relaying::Relaying(const Ledger& ledger, const Membership& membership, Outbox& outbox,
                   Time ask_timeout)
    : ledger_(ledger), membership_(membership), outbox_(outbox) {
    for (PeerIndex row = 0; row < ledger.peer_count(); ++row) {
        pullers_.emplace_back(row, ledger.blocks().count(), ask_timeout);
    }
}

BlockRun Relaying::run_to_send(const Want& want, const Want::Run& asked, BlockIndex first,
                               const Finish& finish) const {
    const BlockIndex end = asked.blocks.first + asked.blocks.count;
    BlockRun run{first, 0};
    while (first < end && run.count < relay_run_max) {
        const Version held = ledger_.version(want.row, first);
        if (want.exact) {
            if (finish.find(want.row, first, asked.version).values.empty()) break;
        } else {
            if (held <= asked.version) break;
            if (run.count > 0 && held != ledger_.version(want.row, run.first)) break;
        }
        ++first;
        ++run.count;
    }
    return run;
}

void Relaying::serve(PeerIndex peer, const Want& want, const Finish& finish) {
    std::size_t room = outbox_.relay_room(peer);
    for (const Want::Run& asked : want.runs) {
        for (BlockIndex first = asked.blocks.first;
             first < asked.blocks.first + asked.blocks.count;) {
            const BlockRun run = run_to_send(want, asked, first, finish);
            first += std::max<BlockIndex>(run.count, 1);
            if (run.count == 0) continue;
            const std::size_t bytes = ledger_.blocks().range(run).count * sizeof(float);
            if (bytes > room) return;
            auto payload = outbox_.relay_buffer(bytes);
            if (!payload) return;
            room -= bytes;

            Partial header{want.row, {}, run, Time{0}, true, {}};
            header.version = want.exact ? asked.version : ledger_.version(want.row, run.first);
            std::byte* to = payload->bytes().data();
            for (BlockIndex block = run.first; block < run.first + run.count; ++block) {
                const Finish::HeldBlock held = finish.find(want.row, block, header.version);
                std::memcpy(to, held.values.data(), held.values.size_bytes());
                to += held.values.size_bytes();
                header.checksums.push_back(held.checksum);  // its owner's, never made anew
            }
            outbox_.relay(peer, {std::move(header), std::move(*payload)});
        }
    }
}

PeerSet Relaying::better_informed(PeerIndex row) const {
    const RowHeld mine = ledger_.held(row);
    PeerSet holders = 0;
    for (PeerIndex peer = 0; peer < membership_.peer_count(); ++peer) {
        const std::optional<Status>& status = membership_[peer].status;
        if (peer == membership_.self() || !membership_.reachable(peer) || !status) continue;
        const RowHeld& theirs = status->rows[row];
        if (theirs.map_checksum != mine.map_checksum && theirs.highest > mine.lowest) {
            holders |= peer_bit(peer);
        }
    }
    return holders;
}

void Relaying::step(Time now) {
    for (PeerIndex row = 0; row < membership_.peer_count(); ++row) {
        if (row == membership_.self() || membership_.reachable(row)) continue;
        const PeerSet holders = better_informed(row);
        if (holders == 0) continue;
        const auto lacking = [&](BlockIndex block) -> std::optional<Version> {
            return ledger_.version(row, block);
        };
        if (auto ask = pullers_[row].step(now, holders, false, lacking)) {
            outbox_.send(ask->holder, std::move(ask->want));
        }
    }
}

}  // namespace ako
