// See why_not_agreed.h.
#include "src/agreement/why_not_agreed.h"

#include <bit>

#include "src/numbers/printed_number.h"

namespace ako {
namespace {

std::size_t majority_of(const Roster& roster) { return roster.peer_count() / 2 + 1; }

const char* text_of(Presence presence) {
    switch (presence) {
        case Presence::absent:
            return "never came";
        case Presence::up:
        case Presence::down:
            return "lives";
        case Presence::lost:
            return "is lost";
        case Presence::gone:
            return "has ended";
        case Presence::left:
            return "has left";
    }
    return "";
}

std::string count_text(std::size_t count, std::size_t all) {
    return std::to_string(count) + " of " + std::to_string(all);
}

/// ", b has left, c is lost"
std::string missing_text(const ModeSettings& settings, const Roster& roster) {
    std::string text;
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        if (roster[peer].live()) continue;
        text += (text.empty() ? ": " : ", ") + settings.peer_names[peer] + " " +
                text_of(roster[peer].presence);
    }
    return text;
}

/// The live peers that have no vote; empty if there are enough that have one.
std::string voteless_text(const ModeSettings& settings, const Roster& roster,
                          const Finish& finish) {
    PeerSet live = 0;
    PeerSet voteless = 0;
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        if (!roster[peer].live()) continue;
        live |= peer_bit(peer);
        if (!finish.voter().has_vote(peer)) voteless |= peer_bit(peer);
    }
    return finish.voter().enough(live) ? "" : settings.names(voteless);
}

/// The live peers that have not accepted: how many blocks of the cut each holds, or that it has not
/// ended its last round.
std::string slow_text(const ModeSettings& settings, const Roster& roster, const Finish& finish) {
    const std::size_t all =
        roster.peer_count() * finish.cut().block_count();  // of the cut, all rows
    std::string text;
    const auto add = [&](PeerIndex peer, std::uint32_t held) {
        text += "; " + settings.peer_names[peer] + " holds " + count_text(held, all) + " blocks";
    };
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        const PeerView& view = roster[peer];
        if (peer == roster.self()) {
            if (finish.accepted().none()) add(peer, finish.cut().held());
        } else if (view.live() && !(view.status && view.status->standing.final_round)) {
            text += "; " + settings.peer_names[peer] + " has not ended its last round";
        } else if (view.live() && view.status->vote.accepted.none()) {
            add(peer, view.status->vote.cut_blocks);
        }
    }
    return text;
}

/// What this peer lacks of the decided cut, and how fast it came.
std::string lacking_text(const ModeSettings& settings, const Roster& roster, const Finish& finish) {
    const CutPuller& cut = finish.cut();
    if (cut.lacking().empty()) return "; its version map never came";
    std::string text;
    for (const RowIndex row : AllRows(cut.lacking().size())) {
        if (cut.lacking()[row] == 0) continue;
        text += (text.empty() ? "; lacking " : ", ") +
                count_text(cut.lacking()[row], cut.block_count()) + " blocks of the row of " +
                settings.peer_names[owner_of(row)];
    }
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        const double mbit =
            cut.rate(peer) * static_cast<double>(settings.block_elements) * 32 / 1e6;
        if (mbit == 0) continue;
        text += "; from " + settings.peer_names[peer] + " came " + printed("%.3g Mbit/s", mbit);
    }
    return text;
}

}  // namespace

bool agreement_possible(const Roster& roster, const Finish& finish) {
    PeerSet may_be_there = 0;
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        const Presence presence = roster[peer].presence;
        if (presence != Presence::left && presence != Presence::gone)
            may_be_there |= peer_bit(peer);
    }
    return finish.decided().none() ? finish.voter().enough(may_be_there)
                                   : std::popcount(may_be_there) >= 2;
}

std::string why_not_agreed(const ModeSettings& settings, const Roster& roster,
                           const Finish& finish) {
    const std::size_t needed = majority_of(roster);
    const std::string live = count_text(roster.live_count(), roster.peer_count()) + " peers live";
    const std::string missing = missing_text(settings, roster);
    if (!finish.decided().none()) {
        return "the decided cut did not come in time" + lacking_text(settings, roster, finish) +
               (missing.empty() ? "" : "; " + live + missing);
    }
    if (roster.live_count() < needed) {
        return "no majority to agree on a cut: " + live + ", " + std::to_string(needed) +
               " are needed" + missing;
    }
    const std::string voteless = voteless_text(settings, roster, finish);
    if (!voteless.empty()) {
        return "too few have a vote on the cut: " + live + ", but these were started again, and " +
               "too few others remembered what they had voted for: " + voteless + missing;
    }
    return "no cut was agreed on in time, although " + live + " and " + std::to_string(needed) +
           " are enough" + slow_text(settings, roster, finish);
}

}  // namespace ako
