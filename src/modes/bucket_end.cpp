// How the part of a peer in a run ends in the modes with buckets, as seen by the compute thread.
// The rest of the class is in bucket_compute.cpp.
#include <algorithm>

#include "ako/assert.h"
#include "src/modes/bucket_compute.h"
#include "src/modes/told_by_all.h"
#include "src/numbers/digest.h"
#include "src/numbers/finite.h"

namespace ako {

// ---- the end

bool BucketCompute::all_told() const {
    for (const PeerIndex worker : settings_.workers()) {
        if (worker == settings_.self) continue;
        const PeerView& view = roster_[worker];
        if (roster_.reachable(worker) && !(view.status && view.status->digest)) return false;
    }
    return true;
}

bool BucketCompute::step_finish(Time now, bool hurried) {
    // A worker's training is over, and whoever hears its wish would take it for the reason.
    if (hurried && serves_only()) request_stop(StopReason::requested);
    const bool broken = !mailbox_.broken().empty();
    drain();  // after that look, so that who broke it off is known to be gone
    if (!finish_since_) {
        finish_since_ = now;
        if (!serves_only()) status_.final_round = round_;
        status_.leaving = leaving_;
        post_status(true);
    }
    if (leaving_) return true;
    if (serves_only() && status_.stop != wish_) post_status(true);
    if (broken) return true;
    // A server alone waits as long as anybody trains; the workers have the time-outs.
    const Time patience = from_seconds(settings_.exchange.finish_timeout_s);
    timed_out_ = !serves_only() && now - *finish_since_ >= patience;
    if (timed_out_) return true;
    const bool pulls_final = settings_.exchange.mode == Mode::parameter_server && !serves_only();
    if (pulls_final && !board_.final_is_here()) return false;
    if (!serves_only() && !digest_posted_) {
        status_.digest = sha256(std::as_bytes(rule_->parameters()));
        post_status(true);
        digest_posted_ = true;
    }
    return all_told();
}

FinishReport BucketCompute::report(std::span<float> out, Time now) {
    FinishReport report;
    if (!serves_only()) copy_parameters(out);
    report.rounds = round_;
    report.seconds = std::chrono::duration<double>(now - finish_since_.value_or(now)).count();
    std::optional<Digest> digest = status_.digest;
    report.identical = true;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool self = peer == settings_.self;
        const PeerView& view = roster_[peer];
        const Status status = self ? status_ : view.status.value_or(Status{});
        const std::uint64_t samples = status.progress.empty() ? 0 : status.progress[peer].samples;
        report.samples.push_back(samples);
        report.samples_total += samples;
        if (status.digest) {
            if (!digest) digest = status.digest;
            if (status.digest == digest)
                report.finished_with.push_back(peer);
            else
                report.identical = false;
        } else if (!self && (view.ever_lost || view.presence == Presence::down)) {
            report.lost.push_back(peer);
        }
    }
    report_stop(report, roster_, {wish_, stopped_for_}, settings_.sample_budget);
    report.left_early = roster_.left_early(settings_.sample_budget);
    if (leaving_) {
        report.left = true;
        report.left_early.push_back({settings_.self, round_, report.progress});
        report.identical = false;
        report.handed_to = settings_.servers();  // which have taken in all that it pushed
        return report;
    }
    const std::string broken = mailbox_.broken();
    const bool finite = all_finite(out);
    report.agreed = digest.has_value() && broken.empty() && !timed_out_ && finite;
    report.identical &= report.agreed;
    if (digest) report.digest = *digest;
    if (!report.agreed)
        report.why_not = !broken.empty() ? broken
                         : timed_out_ ? std::string("not all peers ended within finish_timeout_s")
                         : !finite ? std::string("a parameter is not finite: the training diverged")
                                   : std::string("no worker ended");
    return report;
}

}  // namespace ako
