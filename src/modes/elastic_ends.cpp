// How the part of a peer in the run of an elastic ring begins and ends, as seen by the compute
// thread. The rest of the class is in elastic_compute.cpp.
#include <algorithm>
#include <bit>
#include <utility>

#include "src/modes/elastic_compute.h"
#include "src/modes/told_by_all.h"
#include "src/numbers/digest.h"
#include "src/numbers/finite.h"

namespace ako {
namespace {

/// Images of each who gave to the sync that they know of last.
std::uint64_t images_of_each(const MemberState& said) {
    std::uint64_t images = 0;
    for (std::size_t peer = 0; peer < said.now.samples.size(); ++peer)
        images = std::max(images, said.now.samples[peer] - said.before.samples[peer]);
    return images;
}

}  // namespace

// ---- to come in

std::vector<PeerIndex> ElasticCompute::missing() const {
    std::vector<PeerIndex> missing;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)
        if (peer != settings_.self && !roster_.reachable(peer)) missing.push_back(peer);
    return missing;
}

ElasticCompute::Answer ElasticCompute::come_in(Time now) {
    const std::optional<Entry> entry = epochs_.take_entry();
    if (!entry) {
        if (!std::exchange(asked_, true)) {
            waits_since_ = now;
            epochs_.ask();
        }
        return wait_for_entry(now);
    }
    if (const std::string wrong = take(*entry); !wrong.empty())
        return Next::give_up(Ending::broken, wrong);
    waits_since_.reset();
    asked_ = false;
    in_ = true;
    if (!std::exchange(started_, true)) mailbox_.start();
    look_at_place();
    if (!in_) return std::optional<Next>();  // it was put out already
    roster_.set_own(round_, own_samples());
    post_status(true);
    return std::nullopt;
}

std::optional<Next> ElasticCompute::wait_for_entry(Time now) {
    if (!started_ && (wish_ != StopReason::none || asked_to_leave_))
        return Next::give_up(Ending::failed, never_began);
    if (place_.epoch == 0 &&
        start_wait_.look(missing().size(), false, now) == StartWait::State::failed)
        return Next::give_up(Ending::failed, start_wait_.why_not());
    if (place_.over)
        return Next::give_up(started_ ? Ending::broken : Ending::failed,
                             "all others ended before they took this peer in");
    const double patience = settings_.exchange.finish_timeout_s +
                            (place_.epoch == 0 ? settings_.exchange.start_wait_s : 0);
    if (now - std::max(*waits_since_, board_.newest_sign_at()) < from_seconds(patience))
        return std::nullopt;
    return Next::give_up(started_ ? Ending::broken : Ending::failed,
                         place_.epoch == 0 ? "the peers that are there did not agree on a beginning"
                                           : "the members of the run did not take this peer in");
}

std::string ElasticCompute::take(const Entry& entry) {
    if (entry.states.empty()) {  // the run begins
        tally_ = {0, entry.founders, StopReason::none, 0, {}};
        tally_.samples.resize(settings_.peer_count());
        tally_.progress = progress_after(tally_);
        before_ = known_ = tally_;
        return "";
    }
    const MemberState& said = entry.states.front();
    for (const MemberState& other : entry.states)
        if (other != said) return "the members of the run do not hold the same parameters";
    if (digest_of_state() != said.digest)
        return "the parameters that came do not match the digest of the members";
    tally_ = said.now;
    before_ = known_ = said.before;
    round_ = sync_ = tally_.sync;
    sync_images_ = images_of_each(said);
    std::fill(settled_.begin(), settled_.end(), sync_);
    settled_count_ = buckets_.count();
    newest_ = {};
    settings_.log("comes in after round " + std::to_string(round_) +
                  ", with the parameters of the members");
    return "";
}

// ---- what others take over

Digest ElasticCompute::digest_of_state() const {
    Sha256 digest;
    digest.add(std::span<const float>(state_.parameters));
    digest.add(std::span<const float>(state_.velocity));
    return digest.finish();
}

// The state stands still between the last bucket of this sync and the first of the next, which
// cannot come before the newcomer is in.
void ElasticCompute::tell_state() {
    if (!place_.asked_for || told_in_ == place_.epoch || tally_.sync != *place_.asked_for) return;
    const bool still = sync_ == tally_.sync || settled_count_ == 0;
    if (!still) return;
    told_in_ = place_.epoch;
    epochs_.tell({place_.epoch, before_, tally_, digest_of_state()});
}

// ---- too few

bool ElasticCompute::too_few() const {
    if (static_cast<std::size_t>(std::popcount(place_.members)) >= members_min_) return false;
    if (wish_ != StopReason::none) return false;  // the next round says so to all
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const auto& status = roster_[peer].status;
        const bool wishes = status && status->stop != StopReason::none;
        if (wishes && (place_.members & peer_bit(peer)) != 0) return false;
    }
    return true;
}

std::optional<Next> ElasticCompute::wait_for_more(Time now) {
    const auto members = static_cast<std::size_t>(std::popcount(place_.members));
    const std::string few = "only " + std::to_string(members) + " of at least " +
                            std::to_string(members_min_) + " peers are left";
    if (!waits_since_) {
        waits_since_ = now;
        settings_.log(few + " (exchange.start_peers_min): waits for more");
    }
    if (now - *waits_since_ < from_seconds(settings_.exchange.finish_timeout_s))
        return std::nullopt;
    return Next::give_up(Ending::broken,
                         few +
                             ", and none came within finish_timeout_s: start the others again, "
                             "or lower exchange.start_peers_min");
}

// ---- to end

// In lockstep all must stop after the same round, so only what all of them know alike counts: the
// tally before the newest sync, which everybody's last forward pass has awaited.
StopReason ElasticCompute::stop_due() const {
    if (known_.stop != StopReason::none) return known_.stop;
    if (round_ == 0)
        return settings_.sample_budget == 0 ? StopReason::budget_spent : StopReason::none;
    // And the sync after that, as it is foreseen.
    std::uint64_t samples =
        sync_images_ * static_cast<std::uint64_t>(std::popcount(known_.contributors));
    for (const std::uint64_t of_peer : known_.samples) samples += of_peer;
    return samples >= settings_.sample_budget ? StopReason::budget_spent : StopReason::none;
}

bool ElasticCompute::somebody_stays() const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == settings_.self || !(place_.members & peer_bit(peer))) continue;
        const std::optional<Status>& status = roster_[peer].status;
        if (!roster_.reachable(peer) || !status) continue;
        if (!status->leaving && !status->final_round) return true;
    }
    return false;
}

ElasticCompute::Answer ElasticCompute::finish_or_leave() {
    if (const StopReason reason = stop_due(); reason != StopReason::none) {
        stopped_for_ = reason;
        if (!settle_newest() || is_void()) return std::optional<Next>();
        if (!all_finite(state_.parameters)) {
            not_finite_ = "a parameter";
            return Next::give_up(Ending::numbers, complaint(round_));
        }
        return Next::finish(sentence(reason));
    }
    if (!asked_to_leave_) return std::nullopt;
    if (!somebody_stays()) {
        status_.leaving = false;
        request_stop(StopReason::requested);
    } else if (!std::exchange(status_.leaving, true)) {
        post_status(true);  // whoever is asked as well hears of it in a round
    } else {
        if (!settle_newest() || is_void()) return std::optional<Next>();
        leaving_ = true;
        return Next::finish("asked to leave: the others go on without this peer");
    }
    return std::nullopt;
}

// Who has left at the end had heard the digests of all.
bool ElasticCompute::one_has_ended() const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const PeerView& view = roster_[peer];
        if (peer == settings_.self || !(place_.members & peer_bit(peer))) continue;
        const bool told = view.status && view.status->digest;
        if (told && view.presence == Presence::left && !view.status->leaving) return true;
    }
    return false;
}

// Once one has ended only those are waited for who can still be heard, for theirs is on its way.
bool ElasticCompute::all_told() const {
    const bool ended = one_has_ended();
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        if (peer == settings_.self || !(place_.members & peer_bit(peer))) continue;
        const std::optional<Status>& status = roster_[peer].status;
        if (status && status->digest) continue;
        if (!ended || roster_.reachable(peer)) return false;
    }
    return true;
}

bool ElasticCompute::step_finish(Time now, bool) {
    drain();
    look_at_place();
    tell_state();  // who comes in meanwhile ends with the others
    if (!finish_since_) {
        finish_since_ = now;
        status_.final_round = round_;
        status_.leaving = leaving_;
        if (!leaving_) status_.digest = sha256(std::as_bytes(std::span(state_.parameters)));
        post_status(true);
    }
    if (leaving_ || broken_ || !in_) return true;
    if (all_told()) return true;
    if (now - *finish_since_ < from_seconds(settings_.exchange.finish_timeout_s)) return false;
    timed_out_ = !one_has_ended();
    return true;
}

std::string ElasticCompute::why_not_agreed() const {
    if (const std::string broken = mailbox_.broken(); !broken.empty()) return broken;
    if (timed_out_) return "not all members ended within finish_timeout_s";
    if (!in_) return "the others went on without this peer";
    if (!all_finite(state_.parameters)) return "a parameter is not finite: the training diverged";
    return "";
}

FinishReport ElasticCompute::report(std::span<float> out, Time now) {
    FinishReport report;
    copy_parameters(out);
    report.rounds = round_;
    report.seconds = std::chrono::duration<double>(now - finish_since_.value_or(now)).count();
    report.samples = tally_.samples;
    report.samples.resize(settings_.peer_count());
    for (const std::uint64_t samples : report.samples) report.samples_total += samples;
    report.identical = true;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const bool self = peer == settings_.self;
        const PeerView& view = roster_[peer];
        const std::optional<Digest> digest = self          ? status_.digest
                                             : view.status ? view.status->digest
                                                           : std::nullopt;
        if (digest && digest == status_.digest)
            report.finished_with.push_back(peer);
        else if (digest && (place_.members & peer_bit(peer)) != 0)
            report.identical = false;
        else if (!self && (view.ever_lost || view.presence == Presence::down))
            report.lost.push_back(peer);
    }
    report_stop(report, roster_, {wish_, stopped_for_}, settings_.sample_budget);
    report.left_early = roster_.left_early(settings_.sample_budget);
    if (leaving_) {
        report.left = true;
        report.left_early.push_back({settings_.self, round_, report.progress});
        report.identical = false;
        for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)
            if (peer != settings_.self && (place_.members & peer_bit(peer)))
                report.handed_to.push_back(peer);
        return report;
    }
    report.why_not = why_not_agreed();
    report.agreed = report.why_not.empty() && status_.digest.has_value();
    report.identical &= report.agreed;
    if (status_.digest) report.digest = *status_.digest;
    return report;
}

}  // namespace ako
