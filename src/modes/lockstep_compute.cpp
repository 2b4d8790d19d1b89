// See lockstep_compute.h.
#include "src/modes/lockstep_compute.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "src/numbers/budget_share.h"

namespace ako {
namespace {

/// The newest of `own` and of those that were told.
std::optional<Verdict> newest_verdict(const Roster& roster, std::optional<Verdict> own) {
    std::optional<Verdict> newest = own;
    for (PeerIndex peer = 0; peer < roster.peer_count(); ++peer) {
        const auto& status = roster[peer].status;
        if (!status || !status->standing.verdict) continue;
        if (!newest || status->standing.verdict->progress > newest->progress)
            newest = status->standing.verdict;
    }
    return newest;
}

}  // namespace

LockstepCompute::LockstepCompute(const ModeSettings& settings, const Buckets& buckets,
                                 Mailbox& mailbox, BucketBoard& board, const char* those_in)
    : settings_(settings),
      buckets_(buckets),
      mailbox_(mailbox),
      board_(board),
      roster_(settings.self, settings.peer_count()),
      syncs_(buckets, board),
      those_in_(those_in) {
    status_.standing.progress.resize(settings.peer_count());
    status_.heartbeat.process_id = settings.process_id;
}

// ---- what is said

void LockstepCompute::take_in() {
    const std::vector<PresenceChange> changes = mailbox_.take_presence();
    roster_.follow(changes);
    for (const auto& [peer, presence] : changes)
        if (presence == Presence::up) roster_.begin_session(peer, false);
    for (const Arrival& arrival : mailbox_.take()) {
        if (arrival.opens_session) roster_.begin_session(arrival.from, arrival.new_process);
        if (const auto* status = std::get_if<Status>(&arrival.header))
            roster_.heard_status(arrival.from, *status, arrival.arrived_at, round_);
        else if (const auto* bye = std::get_if<Bye>(&arrival.header))
            roster_.heard_bye(arrival.from, *bye);
    }
}

void LockstepCompute::post_status(bool urgent) {
    status_.standing.stop = wish_;
    status_.standing.progress[settings_.self] = {round_, own_samples()};
    mailbox_.post(status_, urgent);
}

void LockstepCompute::announce(const Verdict& verdict) {
    status_.standing.verdict = verdict;
    post_status(true);
}

void LockstepCompute::copy_parameters(std::span<float> out) const {
    std::copy_n(parameters().begin(), out.size(), out.begin());
}

bool LockstepCompute::evaluates() const {
    if (!is_in()) return false;
    for (PeerIndex peer = 0; peer < settings_.self; ++peer)
        if ((members_ & peer_bit(peer)) && roster_.reachable(peer)) return false;
    return true;
}

Standing LockstepCompute::standing() const {
    return {round_, progress(), evaluates(), newest_verdict(roster_, status_.standing.verdict),
            own_samples()};
}

LinkView LockstepCompute::link(PeerIndex peer, Time) const {
    LinkView view = roster_.link_view(peer);
    view.live = view.advancing = roster_.reachable(peer);
    return view;
}

// ---- one round

void LockstepCompute::take_the_rest(std::span<const float> gradient) {
    for (std::size_t bucket = 0; bucket < buckets_.count() && !is_void(); ++bucket) {
        if (!syncs_.ready().is_whole(bucket)) gradient_ready(buckets_[bucket], gradient, {});
    }
}

Result<void> LockstepCompute::break_off_by_numbers() {
    mailbox_.break_off(numbers_.complaint(round_ + 1), {EndCause::numbers, round_ + 1, ""});
    return fail(Error::Kind::numbers, numbers_.complaint(round_ + 1));
}

void LockstepCompute::made_round(const RoundResult& result) {
    ++round_;
    status_.standing.loss = result.loss;
    roster_.set_own(round_, own_samples());
    post_status(false);
}

// ---- the end

bool LockstepCompute::somebody_stays() const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == settings_.self || !(members_ & peer_bit(peer))) continue;
        const std::optional<Status>& status = roster_[peer].status;
        if (!roster_.reachable(peer) || !status) continue;
        if (!status->standing.leaving && !status->standing.final_round) return true;
    }
    return false;
}

Next LockstepCompute::leave() {
    leaving_ = true;
    return Next::finish("asked to leave: the others go on without this peer");
}

bool LockstepCompute::begins_to_finish(Time now) {
    if (finish_since_) return false;
    finish_since_ = now;
    if (!parameters().empty()) status_.standing.final_round = round_;
    status_.standing.leaving = leaving_;
    return true;
}

bool LockstepCompute::finish_is_late(Time now) const {
    return now - *finish_since_ >= settings_.times().finish_timeout;
}

bool LockstepCompute::all_told(bool waits_for_unreachable) const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == settings_.self || !(members_ & peer_bit(peer))) continue;
        const std::optional<Status>& status = roster_[peer].status;
        if (status && status->standing.digest) continue;
        if (waits_for_unreachable || roster_.reachable(peer)) return false;
    }
    return true;
}

FinishReport LockstepCompute::report(std::span<float> out, Time now) {
    FinishReport report;
    if (!parameters().empty()) copy_parameters(out);
    report.rounds = round_;
    report.seconds = seconds_of(now - finish_since_.value_or(now));
    report.samples = samples_of_all();
    for (const std::uint64_t samples : report.samples) report.samples_total += samples;
    report_digests(report);
    report_stop(report);
    report.left_early = roster_.left_early(settings_.sample_budget);
    if (leaving_) {
        report.left = true;
        report.left_early.push_back({settings_.self, round_, report.progress});
        report.identical = false;
        for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)
            if (heirs() & peer_bit(peer)) report.handed_to.push_back(peer);
        return report;
    }
    const std::optional<Digest> digest = digest_of_run();
    report.why_not = why_not_agreed();
    report.agreed = report.why_not.empty();
    report.identical &= report.agreed;
    if (digest) report.digest = *digest;
    return report;
}

void LockstepCompute::report_digests(FinishReport& report) const {
    const std::optional<Digest> of_run = digest_of_run();
    report.identical = true;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool self = peer == settings_.self;
        const PeerView& view = roster_[peer];
        const std::optional<Digest> digest = self          ? status_.standing.digest
                                             : view.status ? view.status->standing.digest
                                                           : std::nullopt;
        if (digest && digest == of_run)
            report.finished_with.push_back(peer);
        else if (digest && (members_ & peer_bit(peer)) != 0)
            report.identical = false;
        else if (!self && (view.ever_lost || view.presence == Presence::down))
            report.lost.push_back(peer);
    }
}

// When everybody's digest is here so is its wish, which comes with it.
void LockstepCompute::report_stop(FinishReport& report) const {
    report.stop = stopped_for_;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const std::optional<Status>& said = roster_[peer].status;
        StopReason wish = said ? said->standing.stop : StopReason::none;
        if (peer == settings_.self) wish = wish_;
        report.stop = stronger(report.stop, wish);
        if (wish == StopReason::requested) report.asked.push_back(peer);
    }
    // What was made counts, not what this peer foresaw, so that all know the same.
    report.progress = share_of_budget(report.samples_total, settings_.sample_budget);
    if (report.samples_total >= settings_.sample_end())
        report.stop = stronger(report.stop, StopReason::budget_spent);
    if (report.stop != StopReason::requested) report.asked.clear();
}

std::string LockstepCompute::why_not_agreed() const {
    if (std::string broken = mailbox_.broken(); !broken.empty()) return broken;
    if (timed_out_) return std::string("not all ") + those_in_ + " ended within finish_timeout_s";
    if (!parameters().empty() && !is_in()) return "the others went on without this peer";
    if (!all_finite(parameters())) return "a parameter is not finite: the training diverged";
    return digest_of_run() ? "" : "no worker ended";
}

}  // namespace ako
