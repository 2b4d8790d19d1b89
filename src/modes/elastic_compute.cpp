// See elastic_compute.h.
#include "src/modes/elastic_compute.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ako/assert.h"
#include "src/numbers/digest.h"

namespace ako {

// A run is begun by a majority of the file, however few may go on with it.
ElasticCompute::ElasticCompute(const ModeSettings& settings, const Buckets& buckets,
                               Mailbox& mailbox, BucketBoard& board, EpochBoard& epochs,
                               const ElasticRing& ring, ElasticState& state)
    : LockstepCompute(settings, buckets, mailbox, board, "members"),
      epochs_(epochs),
      ring_(ring),
      state_(state),
      members_min_(settings.start_peers_min()),
      budget_(settings),
      start_wait_(settings, std::max(members_min_, settings.majority())) {
    post_status(true);
}

void ElasticCompute::look_round() {
    take_in();
    broken_ = !mailbox_.broken().empty();
    look_at_place();
}

void ElasticCompute::look_at_place() {
    place_ = epochs_.place();
    members_ = place_.members;
    if (!in_ || place_.in) return;
    in_ = false;
    settings_.log("the others went on without this peer, in epoch " + std::to_string(place_.epoch) +
                  ": it asks to be taken in again");
}

std::optional<Next> ElasticCompute::begin_round(Time now) {
    look_round();
    if (broken_) return Next::give_up(Ending::broken, mailbox_.broken());
    if (!in_) {
        if (auto waits = come_in(now)) return *std::move(waits);
    }
    tell_state();
    if (auto over = finish_or_leave()) return *std::move(over);
    if (too_few()) {
        step_settle();  // or nothing could be handed to those who come in
        return wait_for_more(now);
    }
    waits_since_.reset();
    wish_of_round_ = wish_;
    syncs_.ready().clear();
    return Next::train(budget_.begin_round());
}

// ---- one round

bool ElasticCompute::step_await(Range range) {
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end && !is_void(); ++bucket) {
        if (syncs_.is_settled(bucket)) continue;
        const auto summary = syncs_.completed(bucket, syncs_.newest());
        if (!summary) {
            look_round();  // what waits in the mailbox would wake this peer again and again
            if (!is_void()) tell_state();
            return is_void();
        }
        settled(bucket, *summary);
    }
    if (!is_void()) tell_state();
    return true;
}

void ElasticCompute::settled(std::size_t bucket, const SyncSummary& summary) {
    const Range& range = buckets_[bucket];
    const std::uint64_t sync = syncs_.newest();
    const auto share = 1.0F / static_cast<float>(std::popcount(summary.contributors));
    state_.optimizer.apply(range, ring_.sums(sync).subspan(range.first, range.count), share,
                           std::span(state_.parameters).subspan(range.first, range.count), rate_);
    syncs_.settle(bucket, sync);
    budget_.settled(summary);
    if (syncs_.all_settled()) budget_.sync_over(sync);
}

bool ElasticCompute::gradient_ready(Range range, std::span<const float> gradient, Time) {
    if (is_void()) return false;
    syncs_.assert_awaited(range, syncs_.newest() - (syncs_.newest() == round_ + 1 ? 1 : 0));
    if (!numbers_.look(gradient.subspan(range.first, range.count), "the gradient")) return false;
    gradient_ = gradient;
    rate_ = budget_.rate(round_);
    syncs_.ready().add(range,
                       [this](std::size_t bucket) AKO_COMPUTE_THREAD { contribute(bucket); });
    return true;
}

void ElasticCompute::contribute(std::size_t bucket) {
    // The first bucket of a round begins its sync.
    if (syncs_.newest() != round_ + 1) {
        syncs_.begin(round_ + 1);
        budget_.begin_sync();
    }
    syncs_.contribute(bucket, gradient_, {wish_of_round_, 0});
}

Result<void> ElasticCompute::end_round(const Learned& learned, const RoundResult& result, Time) {
    if (std::holds_alternative<Update>(learned)) {
        return fail(Error::Kind::unsupported, exchanges_gradients);
    }
    look_round();  // who evaluates now depends on who is there
    take_the_rest(values_of(learned));
    if (!numbers_.good()) return break_off_by_numbers();
    if (is_void()) return {};
    budget_.end_round();
    made_round(result);
    return {};
}

// ---- views

Standing ElasticCompute::standing() const {
    Standing standing = LockstepCompute::standing();
    standing.joining = started_ && !in_;
    return standing;
}

LinkView ElasticCompute::link(PeerIndex peer, Time now) const {
    LinkView view = LockstepCompute::link(peer, now);
    view.advancing = view.live && (members_ & peer_bit(peer)) != 0;
    return view;
}

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
    const ExchangeTimes times = settings_.times();
    const Time patience = times.finish_timeout + (place_.epoch == 0 ? times.start_wait : Time{0});
    if (now - std::max(*waits_since_, board_.newest_sign_at()) < patience) return std::nullopt;
    return Next::give_up(started_ ? Ending::broken : Ending::failed,
                         place_.epoch == 0 ? "the peers that are there did not agree on a beginning"
                                           : "the members of the run did not take this peer in");
}

std::string ElasticCompute::take(const Entry& entry) {
    if (entry.states.empty()) {  // the run begins
        budget_.begin(entry.founders);
        return "";
    }
    const MemberState& said = entry.states.front();
    for (const MemberState& other : entry.states)
        if (other != said) return "the members of the run do not hold the same parameters";
    if (said.now.sync != entry.sync)
        return "the members of the run say what they know after round " +
               std::to_string(said.now.sync) + ", and hold the parameters after round " +
               std::to_string(entry.sync);
    if (digest_of_state() != said.digest)
        return "the parameters that came do not match the digest of the members";
    budget_.take_over(said);
    round_ = entry.sync;
    syncs_.go_on_after(entry.sync);
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
    const Tally& tally = budget_.tally();
    if (!place_.asked_for || told_in_ == place_.epoch || tally.sync != *place_.asked_for) return;
    const bool still = syncs_.newest() == tally.sync || syncs_.settled_count() == 0;
    if (!still) return;
    told_in_ = place_.epoch;
    epochs_.tell({place_.epoch, budget_.before(), tally, digest_of_state()});
}

// ---- too few

bool ElasticCompute::too_few() const {
    if (static_cast<std::size_t>(std::popcount(members_)) >= members_min_) return false;
    if (wish_ != StopReason::none) return false;  // the next round says so to all
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const auto& status = roster_[peer].status;
        const bool wishes = status && status->standing.stop != StopReason::none;
        if (wishes && (members_ & peer_bit(peer)) != 0) return false;
    }
    return true;
}

std::optional<Next> ElasticCompute::wait_for_more(Time now) {
    const auto members = static_cast<std::size_t>(std::popcount(members_));
    const std::string few = "only " + std::to_string(members) + " of at least " +
                            std::to_string(members_min_) + " peers are left";
    if (!waits_since_) {
        waits_since_ = now;
        settings_.log(few + " (exchange.start_peers_min): waits for more");
    }
    if (now - *waits_since_ < settings_.times().finish_timeout) return std::nullopt;
    return Next::give_up(Ending::broken,
                         few +
                             ", and none came within finish_timeout_s: start the others again, "
                             "or lower exchange.start_peers_min");
}

// ---- to end

ElasticCompute::Answer ElasticCompute::finish_or_leave() {
    if (const StopReason reason = budget_.stop_due(round_); reason != StopReason::none) {
        stopped_for_ = reason;
        if (!step_settle() || is_void()) return std::optional<Next>();
        if (!numbers_.look(state_.parameters, "a parameter"))
            return Next::give_up(Ending::numbers, numbers_.complaint(round_));
        return Next::finish(sentence(reason));
    }
    if (!asked_to_leave_) return std::nullopt;
    if (!somebody_stays()) {
        status_.standing.leaving = false;
        request_stop(StopReason::requested);
    } else if (!std::exchange(status_.standing.leaving, true)) {
        post_status(true);  // whoever is asked as well hears of it in a round
    } else {
        if (!step_settle() || is_void()) return std::optional<Next>();
        return leave();
    }
    return std::nullopt;
}

// A member that has left at the end had heard the digests of all.
bool ElasticCompute::one_has_ended() const {
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const PeerView& view = roster_[peer];
        if (peer == settings_.self || !(members_ & peer_bit(peer))) continue;
        const bool told = view.status && view.status->standing.digest;
        if (told && view.presence == Presence::left && !view.status->standing.leaving) return true;
    }
    return false;
}

bool ElasticCompute::step_finish(Time now, bool) {
    look_round();
    tell_state();  // who comes in meanwhile ends with the others
    if (begins_to_finish(now)) {
        if (!leaves()) status_.standing.digest = sha256(std::as_bytes(parameters()));
        post_status(true);
    }
    if (leaves() || broken_ || !in_) return true;
    // Once one has ended, only those that can be reached are waited for: their digest is on its
    // way.
    if (all_told(!one_has_ended())) return true;
    if (!finish_is_late(now)) return false;
    timed_out_ = !one_has_ended();
    return true;
}

std::vector<std::uint64_t> ElasticCompute::samples_of_all() const {
    std::vector<std::uint64_t> samples = budget_.tally().samples;
    samples.resize(settings_.peer_count());
    return samples;
}

PeerSet ElasticCompute::heirs() const { return members_ & ~peer_bit(settings_.self); }

}  // namespace ako
