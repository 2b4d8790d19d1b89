#include "src/modes/told_by_all.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace ako {

void take_in(Roster& roster, Mailbox& mailbox, Round own_round) {
    const std::vector<PresenceChange> changes = mailbox.take_presence();
    roster.follow(changes);
    for (const auto& [peer, presence] : changes)
        if (presence == Presence::up) roster.begin_session(peer, false);
    for (const Arrival& arrival : mailbox.take()) {
        if (arrival.opens_session) roster.begin_session(arrival.from, arrival.new_process);
        if (const auto* status = std::get_if<Status>(&arrival.header))
            roster.heard_status(arrival.from, *status, arrival.arrived_at, own_round);
        else if (const auto* bye = std::get_if<Bye>(&arrival.header))
            roster.heard_bye(arrival.from, *bye);
    }
}

void report_stop(FinishReport& report, const Roster& roster, const OwnStop& own,
                 std::uint64_t sample_budget) {
    report.stop = own.stopped_for;
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        const std::optional<Status>& said = roster[peer].status;
        StopReason wish = said ? said->stop : StopReason::none;
        if (peer == roster.self()) wish = own.wish;
        report.stop = stronger(report.stop, wish);
        if (wish == StopReason::requested) report.asked.push_back(peer);
    }
    // Of what was made, not of what this peer foresaw, so that all know the same.
    const auto made = static_cast<double>(report.samples_total);
    report.progress =
        sample_budget == 0 ? 1 : std::min(1.0, made / static_cast<double>(sample_budget));
    if (report.progress >= 1) report.stop = stronger(report.stop, StopReason::budget_spent);
    if (report.stop != StopReason::requested) report.asked.clear();
}

std::optional<Verdict> newest_verdict(const Roster& roster, std::optional<Verdict> own) {
    std::optional<Verdict> newest = own;
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        const auto& status = roster[peer].status;
        if (!status || !status->verdict) continue;
        if (!newest || status->verdict->progress > newest->progress) newest = status->verdict;
    }
    return newest;
}

}  // namespace ako
