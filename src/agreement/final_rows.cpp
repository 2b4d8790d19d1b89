// See final_rows.h.
#include "src/agreement/final_rows.h"

#include <optional>

#include "ako/frame.h"

namespace ako {
namespace {

/// All who can be reached hold the same of the row.
bool is_settled(const Ledger& ledger, const Roster& roster, RowIndex row) {
    const RowHeld& held = ledger.held(row);
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        if (peer == roster.self() || peer == owner_of(row) || !roster.reachable(peer)) continue;
        const std::optional<Status>& status = roster[peer].status;
        // A peer that joins takes in the row from others, and counts for what only it may hold.
        if (roster[peer].joins() && (!status || status->rows[row].highest <= held.highest))
            continue;
        if (!status || status->rows[row].map_checksum != held.map_checksum) return false;
    }
    return true;
}

/// Will its owner say a final round? Not while it takes in the row of its own earlier life.
bool final_round_comes(const Ledger& ledger, const Roster& roster, RowIndex row) {
    const PeerView& view = roster[owner_of(row)];
    if (!view.live() || view.joins()) return false;
    // Blocks run ahead of what its Status says of them, but not into another life.
    return !view.status || view.status->vote.has_vote ||
           view.status->rows[row].highest.incarnation >= ledger.held(row).highest.incarnation;
}

/// Not where a later life has come to the end before it took in what the earlier one made.
bool own_row_here(const Ledger& ledger, const Roster& roster) {
    const RowHeld& held = ledger.held(ledger.own());
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        const std::optional<Status>& status = roster[peer].status;
        if (peer == roster.self() || !roster.reachable(peer) || !status) continue;
        const RowHeld& theirs = status->rows[ledger.own()];
        if (theirs.highest > held.highest || theirs.lowest > held.lowest) return false;
    }
    return true;
}

/// The row of another peer.
bool is_complete(const Ledger& ledger, const Roster& roster, const CutPuller& cut, RowIndex row) {
    const PeerView& view = roster[owner_of(row)];
    // A peer that joins may still begin to train, until it has heard of the stop.
    if (view.live() && view.joins() &&
        !(view.status && view.status->standing.stop != StopReason::none))
        return false;
    if (!final_round_comes(ledger, roster, row)) return is_settled(ledger, roster, row);
    const std::optional<Version> last = view.final_version();
    if (!last) return false;
    // Another process has made the row: what this one made comes no more.
    if (ledger.held(row).lowest > *last || ledger.begun_apart(row, last->incarnation)) return true;
    // What a frozen peer has been sent lies beside its ledger.
    return ledger.held(row).lowest == *last || (cut.frozen() && cut.holds_row(row, *last));
}

}  // namespace

bool rows_complete(const Ledger& ledger, const Roster& roster, const CutPuller& cut) {
    for (const RowIndex row : ledger.all()) {
        const bool here = row == ledger.own() ? own_row_here(ledger, roster)
                                              : is_complete(ledger, roster, cut, row);
        if (!here) return false;
    }
    return true;
}

}  // namespace ako
