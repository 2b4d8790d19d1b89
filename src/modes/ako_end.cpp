// How the part of a peer in a run ends, as seen by the compute thread: it leaves before the others,
// or finishes with them. The rest of the class is in ako_compute.cpp.
#include <chrono>
#include <string>
#include <vector>

#include "src/agreement/finish_report.h"
#include "src/agreement/why_not_agreed.h"
#include "src/group/coverage.h"
#include "src/modes/ako_compute.h"
#include "src/numbers/digest.h"

namespace ako {

// ---- leaving before the end

Next AkoCompute::leave(Time now) {
    if (!Leaving::somebody_stays(roster_)) {
        // What is agreed on is made of the initial parameters.
        if (!initial_.known()) return Next::give_up(Ending::failed, never_began);
        request_stop(StopReason::requested);
        beginning_.stop(now);
        return stopped();
    }
    leaving_.emplace(rows_.ledger(), roster_,
                     std::chrono::milliseconds(settings_.exchange.life_timeout_ms),
                     from_seconds(settings_.exchange.leave_timeout_s), now);
    outbox_.lift_grants(true);
    post_status(true);
    return Next::finish("asked to leave: the others go on without this peer");
}

bool AkoCompute::step_leave(Time now) {
    drain(now);
    answer();
    finish_.step(now);  // they may need its vote, or its answer, for as long as it is there
    if (stop_ == StopReason::none && Leaving::somebody_stays(roster_)) {
        post_status(false);
        const bool may_go = leaving_->step(now);
        if (may_go && !leaving_->enough_stay())
            settings_.log("too few stay to agree at the end: that needs " +
                          std::to_string(settings_.peer_count() / 2 + 1) + " of the " +
                          std::to_string(settings_.peer_count()) + " peers of the file");
        return may_go;
    }
    if (!initial_.known()) return true;
    if (stop_ == StopReason::none)
        settings_.log("nobody goes on without this peer any more: it stops for all");
    leaving_.reset();
    beginning_.stop(now);
    return false;
}

void AkoCompute::say_left(FinishReport& report, Time now) const {
    report.left = true;
    report.left_early.push_back({settings_.self, round_, report.progress});
    report.why_not.clear();
    report.seconds = std::chrono::duration<double>(leaving_->taken(now)).count();
    for (PeerIndex peer = 0; peer < settings_.peer_count(); ++peer) {
        if (leaving_->handed_to() & peer_bit(peer)) report.handed_to.push_back(peer);
    }
}

// ---- the end

bool AkoCompute::step_finish(Time now, bool hurried) {
    if (leaving_) {
        const bool may_go = step_leave(now);
        if (leaving_) return may_go;
    }
    const bool first = !finish_began_;
    bool closed = false;
    if (first) {
        finish_began_ = now;
        end_times_.begin(now);
        outbox_.lift_grants(true);
        if (stop_ == StopReason::none && !left_behind_) request_stop(StopReason::requested);
        closed = close_row(now);
        finish_.begin(now);
    }
    const CutId accepted = finish_.accepted();
    const CutId decided = finish_.decided();
    drain(now);
    if (!closed) meet_at_the_end(now);  // one round in a step
    answer();
    finish_.step(now);
    const bool adopts = finish_.ready_to_adopt();
    if (adopts) adopt(now);
    post_status(first || adopts || accepted != finish_.accepted() || decided != finish_.decided());

    // Who is in a hurry does not wait for a majority that would have to come back.
    const bool hopeless =
        !agreement_possible(roster_, finish_) ||
        (hurried && roster_.live_count() < settings_.peer_count() / 2 + 1 &&
         now - *finish_began_ > std::chrono::milliseconds(settings_.exchange.life_timeout_ms));
    const bool timed_out = !finish_.adopted() && (hopeless || finish_.timed_out(now));
    end_times_.look(finish_, finish_.adopted() || timed_out, now);
    return timed_out || finish_.done(now, hurried);
}

void AkoCompute::adopt(Time now) {
    finish_.adopt_cut(rows_.open_for_cut(), now);
    Sha256 hash;
    for (const std::span<const float> row : rows_.ledger().rows()) hash.add(row);
    std::vector<float> anchor(blocks_.element_count());
    copy_parameters(anchor);
    hash.add(std::span<const float>(anchor));
    finish_.set_digest(hash.finish());
}

FinishReport AkoCompute::report(std::span<float> out, Time now) {
    copy_parameters(out);
    FinishReport report = finish_report(settings_, roster_, finish_, end_times_);
    report.rounds = round_;
    report.progress = progress();
    report.stop = stop_;
    report.asked = asked();
    if (settings_.coverage != nullptr) report.seen = settings_.coverage->seen();
    if (leaving_) say_left(report, now);
    if (!report.agreed && left_behind_) report.why_not = left_behind_text + ("; " + report.why_not);
    return report;
}

}  // namespace ako
