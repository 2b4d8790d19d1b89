// See ako_meetings.h.
#include "src/modes/ako_meetings.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "src/exchange/run_bounds.h"

namespace ako {
namespace {

/// The least share of what was learned apart that gives way in the final exchange, to all peers
/// that are back, taken together: less is not worth it that all have to get the whole row anew.
constexpr double share_at_end_min = 0.05;

}  // namespace

void AkoMeetings::meet(Time now) {
    if (parts_.settings.exchange.rule == Rule::plain) return;
    PeerSet before = 0;
    for (PeerIndex peer = 0; peer < parts_.settings.peer_count(); ++peer) {
        if (attendance_.takes_part(peer)) before |= peer_bit(peer);
    }
    for (const Attendance::Return& back : attendance_.look(now)) {
        const Round since = parts_.rows.replica().apart_since(back.peer);
        if (!parts_.rows.give_way(back.peer, back.share, back.before)) continue;
        kept_share_ *= 1 - back.share;
        const double percent = 100 * back.share;
        if (percent < 1) continue;  // it stood still, or was slow
        parts_.settings.log("peer " + parts_.name(back.peer) + " made " +
                            std::to_string(back.rounds) +
                            " rounds apart from this one: of what was learned here since round " +
                            std::to_string(since) + ", " + std::to_string(std::lround(percent)) +
                            " % gives way to that");
    }
    for (PeerIndex peer = 0; peer < parts_.settings.peer_count(); ++peer) {
        if ((before & peer_bit(peer)) != 0 && !attendance_.takes_part(peer))
            parts_.rows.heard_of(peer);
    }
}

void AkoMeetings::begin_round(Time now) {
    const bool anchored = parts_.settings.exchange.rule == Rule::anchored;
    scale_ = anchored ? attendance_.scale() : 1;
    for (PeerIndex peer = 0; peer < parts_.settings.peer_count(); ++peer) {
        if (peer == parts_.settings.self) continue;
        const bool stand_in = anchored && parts_.roster.advancing(peer, parts_.budget.round());
        parts_.rows.stand_in(peer, stand_in, now);
    }
}

void AkoMeetings::meet_at_the_end(Time now) {
    if (!may_add_nothing() || !parts_.finish.decided().none()) return;
    meet(now);
    if (1 - kept_share_ < share_at_end_min) return;
    if (add_nothing(now)) parts_.finish.rows_change(now);
}

bool AkoMeetings::close_row(Time now) {
    if (parts_.rows.precision() != Precision::adaptive || !may_add_nothing()) return false;
    return add_nothing(now);
}

bool AkoMeetings::may_add_nothing() const {
    // A peer that has made no round in a row of its own has nothing to give.
    return !parts_.finish.frozen() && parts_.rows.claimed() && parts_.budget.round() > 0 &&
           parts_.budget.round() < RunBounds::of(parts_.settings).round_max;
}

bool AkoMeetings::add_nothing(Time now) {
    const auto nothing = [](Range, std::span<float> update) {
        std::fill(update.begin(), update.end(), 0.0f);
    };
    if (!parts_.rows.add(parts_.budget.round() + 1, nothing, now))
        return false;  // it stays as it was
    row_changed();
    parts_.budget.add_round();
    return true;
}

}  // namespace ako
