// See finish_report.h.
#include "src/agreement/finish_report.h"

#include "src/agreement/why_not_agreed.h"

namespace ako {
namespace {

/// Lost and not back, or never there.
bool is_missing(const PeerView& view) {
    const bool missed = view.ever_lost || view.presence == Presence::absent;
    return missed && !view.live() && view.presence != Presence::left;
}

}  // namespace

FinishReport finish_report(const ModeSettings& settings, const Roster& roster, const Finish& finish,
                           const EndTimes& times) {
    FinishReport report;
    report.seconds = seconds_of(times.exchange());
    report.waiting_seconds = seconds_of(times.waiting());
    report.serving_seconds = seconds_of(times.serving());
    report.after_seconds = seconds_of(times.after());
    report.agreed = finish.adopted();
    report.left_early = roster.left_early(settings.sample_budget);
    report.identical = report.agreed;
    if (report.agreed) report.digest = *finish.digest();
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        const PeerView& view = roster[peer];
        report.samples.push_back(roster.samples_by_all(peer));
        report.samples_total += report.samples.back();
        const bool self = peer == roster.self();
        const bool has_digest = view.status && view.status->standing.digest;
        if (self ? report.agreed : has_digest && view.status->standing.digest == finish.digest()) {
            report.finished_with.push_back(peer);
        } else if (has_digest && report.agreed) {
            report.identical = false;
        }
        if (!self && is_missing(view)) report.lost.push_back(peer);
        if (times.waited_for() & peer_bit(peer)) report.waited_for.push_back(peer);
    }
    if (!report.agreed) report.why_not = why_not_agreed(settings, roster, finish);
    return report;
}

}  // namespace ako
