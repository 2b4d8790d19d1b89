// See bucket_compute.h.
#include "src/modes/bucket_compute.h"

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "src/modes/told_by_all.h"
#include "src/numbers/finite.h"

namespace ako {

namespace {

/// Among the workers; 0 of a server that trains nothing.
std::size_t place_of(const ModeSettings& settings) {
    const std::vector<PeerIndex> workers = settings.workers();
    const auto found = std::find(workers.begin(), workers.end(), settings.self);
    return found == workers.end() ? 0 : static_cast<std::size_t>(found - workers.begin());
}

}  // namespace

BucketCompute::BucketCompute(const ModeSettings& settings, const Buckets& buckets, Mailbox& mailbox,
                             BucketBoard& board, BucketProtocol& protocol,
                             std::unique_ptr<BucketRule> rule)
    : settings_(settings),
      buckets_(buckets),
      mailbox_(mailbox),
      board_(board),
      protocol_(protocol),
      result_(protocol.result()),
      rule_(std::move(rule)),
      worker_count_(settings.workers().size()),
      plan_(settings.training, worker_count_),
      place_(place_of(settings)),
      global_(plan_.global(0, 0)),
      runs_ahead_(settings.exchange.runs_ahead()),
      rounds_budget_((settings.sample_budget * worker_count_ + global_ - 1) / global_),
      roster_(settings.self, settings.peer_count()),
      start_wait_(settings, settings.peer_count()),
      common_(settings_, roster_),
      settled_(buckets.count()),
      rates_(buckets.count()),
      ready_(buckets),
      growth_(plan_) {
    status_.progress.resize(settings.peer_count());
    status_.process_id = settings.process_id;
    status_.checkpoints = settings.checkpoints;
    post_status(true);
}

// In the others a worker may be ahead, and no two know the same at the same round.
bool BucketCompute::lockstep() const {
    return settings_.exchange.mode != Mode::parameter_server ||
           settings_.exchange.server.clock_gap_max == 0U;
}

// ---- beginning and ending of training

void BucketCompute::drain() { take_in(roster_, mailbox_, round_); }

std::vector<PeerIndex> BucketCompute::missing() const { return common_.silent(); }

std::optional<Next> BucketCompute::begin_round(Time now) {
    drain();
    if (std::string why = mailbox_.broken(); !why.empty())
        return Next::give_up(Ending::broken, why);
    if (!started_) {
        if (wish_ != StopReason::none || asked_to_leave_)
            return Next::give_up(Ending::failed, never_began);
        const StartWait::State wait = start_wait_.look(missing().size(), false, now);
        if (wait == StartWait::State::failed)
            return Next::give_up(Ending::failed, start_wait_.why_not());
        if (wait == StartWait::State::waits) return std::nullopt;
        if (const std::string why = start(); !why.empty())
            return Next::give_up(Ending::failed, why);
    }
    if (serves_only()) return Next::finish("");
    if (const StopReason reason = stop_due(); reason != StopReason::none) {
        stopped_for_ = reason;
        sync_the_rest();
        if (lockstep() && not_finite_.empty()) {
            if (!settle_newest()) return std::nullopt;
            // Where a worker may be ahead more is still coming; report() looks there.
            if (!broken_ && !all_finite(parameters())) not_finite_ = "a parameter";
        }
        if (!not_finite_.empty()) return Next::give_up(Ending::numbers, complaint(round_));
        return Next::finish(sentence(reason));
    }
    if (asked_to_leave_ && !somebody_stays()) {
        request_stop(StopReason::requested);
    } else if (asked_to_leave_) {
        if (!settle_newest()) return std::nullopt;
        if (broken_) return begin_round(now);  // which says why
        leaving_ = true;
        return Next::finish("asked to leave: the others go on without this peer");
    }
    wish_of_round_ = own_wish();
    ready_.clear();
    if (!averages()) global_ = plan_.global(progress(), doublings());
    return Next::train(plan_.share(global_, place_, worker_count_));
}

std::string BucketCompute::start() {
    if (std::string why = common_.why_not(); !why.empty()) return why;
    if (const auto id = common_.checkpoint()) {
        Result<Checkpoint> read = settings_.read_checkpoint(*id);
        if (!read) return read.error().what + ": " + without_this_checkpoint;
        const std::string path = read->path;
        const auto restored = restore(std::make_shared<const Checkpoint>(*std::move(read)));
        if (!restored)
            return path + ": " + restored.error().what + ": " + without_this_checkpoint;
        settings_.log("goes on from round " + std::to_string(round_) +
                      ", the newest that all peers have a checkpoint of");
    }
    start_ = common_.id();
    started_ = true;
    mailbox_.start();
    return "";
}

void BucketCompute::request_leave() {
    const std::vector<PeerIndex> servers = settings_.servers();
    const bool serves = std::find(servers.begin(), servers.end(), settings_.self) != servers.end();
    if (settings_.exchange.mode == Mode::parameter_server && !serves) {
        asked_to_leave_ = true;
    } else if (wish_ == StopReason::none) {
        settings_.log("in this mode the others cannot go on without this peer: it stops for all");
        request_stop(StopReason::requested);
    }
}

bool BucketCompute::somebody_stays() const {
    for (const PeerIndex worker : settings_.workers()) {
        if (worker == settings_.self || !roster_.reachable(worker)) continue;
        const std::optional<Status>& status = roster_[worker].status;
        if (!status || !status->final_round) return true;
    }
    return false;
}

// In lockstep all peers must stop after the same round, so only what all of them know alike counts:
// what came with the sync before the newest, which everybody's last forward pass has awaited.
StopReason BucketCompute::stop_due() const {
    StopReason reason = known_.wish.stop;
    if (!lockstep()) {
        reason = stronger(reason, stronger(newest_.wish.stop, wish_));
        // Who has stopped pushes nothing more that a wish could come with.
        for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)
            if (const auto& status = roster_[peer].status) reason = stronger(reason, status->stop);
    }
    if (reason == StopReason::none && spent()) reason = StopReason::budget_spent;
    return reason;
}

std::uint64_t BucketCompute::rounds_made() const {
    if (settings_.exchange.mode != Mode::parameter_server) return worker_count_ * round_;
    if (!lockstep())
        return std::max({newest_.rounds_total, known_.rounds_total, std::uint64_t{round_}});
    // What is known is of the sync before the newest round.
    if (known_.workers == 0) return worker_count_ * round_;
    return known_.rounds_total + known_.workers;
}

std::uint64_t BucketCompute::samples_made() const {
    return counts_samples() ? samples_total_ : rounds_made() * global_ / worker_count_;
}

bool BucketCompute::spent() const {
    return counts_samples() ? samples_total_ >= settings_.sample_budget
                            : rounds_made() >= rounds_budget_;
}

double BucketCompute::progress() const {
    if (settings_.sample_budget == 0 || serves_only()) return 1;
    const auto samples = static_cast<double>(samples_made());
    // A worker that is lost takes the round back that was foreseen for it; progress never falls.
    progress_ =
        std::max(progress_, std::min(1.0, samples / static_cast<double>(settings_.sample_budget)));
    return progress_;
}

// ---- one round

bool BucketCompute::look_for_break() {
    drain();  // what waits in the mailbox would wake this peer again and again
    broken_ = !mailbox_.broken().empty();
    return broken_;
}

bool BucketCompute::is_settled(Range range) const {
    const Buckets::Span span = buckets_.overlapping(range);
    return std::all_of(settled_.begin() + static_cast<std::ptrdiff_t>(span.first),
                       settled_.begin() + static_cast<std::ptrdiff_t>(span.end),
                       [this](std::uint64_t sync) { return sync == sync_; });
}

bool BucketCompute::complete(Range range) const {
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end; ++bucket)
        if (settled_[bucket] != sync_ && !board_.completed(bucket, sync_)) return false;
    return true;
}

bool BucketCompute::settle(Range range) { return runs_ahead_ || settle_range(range); }

// A bucket that is whole with this range is not read any more, whichever layers share it.
bool BucketCompute::make_way(Range range) {
    if (broken_ || !not_finite_.empty()) return true;
    const std::uint64_t sync = sync_before_round();
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end; ++bucket)
        if (ready_.is_whole_with(bucket, range) && !settle_bucket(bucket, sync))
            return look_for_break();
    return true;
}

bool BucketCompute::settle_range(Range range) {
    if (rule_->settles_layers()) {
        range = buckets_.whole_layers(range);
        if (!complete(range)) return look_for_break();
        if (!is_settled(range)) rule_->measure(range, result_);
    }
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end; ++bucket)
        if (!settle_bucket(bucket, sync_)) return look_for_break();
    return true;
}

std::optional<PeerIndex> BucketCompute::without_learners(const SyncSummary& summary) const {
    for (PeerIndex peer = 0; averages() && peer < roster_.peer_count(); ++peer)
        if (summary.wish.learners[peer] == 0) return peer;
    return std::nullopt;
}

bool BucketCompute::settle_bucket(std::size_t bucket, std::uint64_t sync) {
    if (settled_[bucket] >= sync) return true;
    const auto summary = board_.completed(bucket, sync);
    if (!summary) return false;
    if (const auto silent = without_learners(*summary)) {
        mailbox_.break_off("peer " + settings_.peer_names[*silent] +
                           " has not said how many learners it has");
        return false;
    }
    rule_->settle(buckets_[bucket], result_, {rates_[bucket], summary->learners()});
    board_.consume(bucket, sync);
    settled_[bucket] = sync;
    newest_.follow(*summary);
    return true;
}

void BucketCompute::assert_awaited(Range range) const {
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end; ++bucket)
        AKO_ASSERT(settled_[bucket] == sync_before_round(),
                   "parameters were used before they were awaited");
}

void BucketCompute::gradient_ready(Range range, std::span<const float> gradient) {
    if (broken_ || !not_finite_.empty()) return;
    if (!runs_ahead_) assert_awaited(range);
    if (!all_finite(gradient.subspan(range.first, range.count))) {
        not_finite_ = "the gradient";
        return;
    }
    if (!rule_->takes_whole()) take(range, gradient);
}

void BucketCompute::take(Range range, std::span<const float> gradient) {
    rule_->take(range, gradient, rate());
    taken(range);
}

void BucketCompute::taken(Range range) {
    const bool syncs = rule_->syncs(round_ + 1);
    ready_.add(range, [&](std::size_t bucket) AKO_COMPUTE_THREAD {
        if (syncs) contribute(bucket);
    });
}

void BucketCompute::contribute(std::size_t bucket) {
    // The first bucket of a round begins its sync.
    if (synced_round_ != round_ + 1) {
        synced_round_ = round_ + 1;
        ++sync_;
    }
    AKO_ASSERT(settled_[bucket] == sync_ - 1, "a bucket did not make way for its next sync");
    give(bucket);
}

void BucketCompute::give(std::size_t bucket) {
    const Range range = buckets_[bucket];
    const std::span<const float> contribution = rule_->contribution(range);
    rates_[bucket] = rate();
    // A step with a gradient that is finite may still lead beyond what is.
    if (settings_.exchange.mode == Mode::local_sgd &&
        !all_finite(contribution.subspan(range.first, range.count))) {
        not_finite_ = "what local rounds made of the parameters up to the end";
        return;
    }
    board_.contribute({bucket, sync_, contribution, wish_of_round_});
}

std::string BucketCompute::complaint(Round round) const {
    return not_finite_ + " of round " + std::to_string(round) +
           " is not finite: no more of it is sent";
}

void BucketCompute::sync_the_rest() {
    if (synced_round_ == round_ || settings_.exchange.mode != Mode::local_sgd) return;
    wish_of_round_ = own_wish();
    ++sync_;
    synced_round_ = round_;
    for (std::size_t bucket = 0; bucket < buckets_.count() && not_finite_.empty(); ++bucket)
        give(bucket);
}

Result<void> BucketCompute::end_round(const Learned& learned, const RoundResult& result, Time) {
    AKO_ASSERT(!serves_only(), "who only serves makes no rounds");
    const auto* const update = std::get_if<Update>(&learned);
    if (update != nullptr && !rule_->takes_updates()) {
        return fail(Error::Kind::unsupported, exchanges_gradients);
    }
    if (update == nullptr && !rule_->takes_gradients()) {
        return fail(Error::Kind::unsupported,
                    "this mode averages replicas, whose own optimizers make the steps: end the "
                    "round with an update");
    }
    drain();  // who evaluates now depends on who is there
    if (update != nullptr) {
        take_update(update->values, result.learners);
    } else {
        take_the_rest(values_of(learned));
    }
    if (!not_finite_.empty()) {
        mailbox_.break_off(complaint(round_ + 1));
        return fail(Error::Kind::numbers, complaint(round_ + 1));
    }
    if (broken_) return {};
    growth_.end_round(progress(), doublings(), result.noise_scale);
    ++round_;
    samples_ += result.samples;
    loss_ = result.loss;
    roster_.set_own(round_, samples_);
    known_.follow(std::exchange(newest_, {}));
    add_samples();
    post_status(false);
    return {};
}

// How many learners made a round is known alike by all a round later. Until then it is foreseen
// that they are as many as in the round before.
void BucketCompute::add_samples() {
    if (const std::size_t made = images_of_learners(); made > 0) {
        samples_total_ += made;
        samples_total_ -= std::exchange(global_, made);
    }
    samples_total_ += global_;
}

// Of layers that say nothing of their gradients: all of it is here now.
void BucketCompute::take_the_rest(std::span<const float> gradient) {
    if (rule_->takes_whole()) {
        const Range all{0, buckets_.parameter_count()};
        gradient_ready(all, gradient);
        if (!broken_ && not_finite_.empty()) take(all, gradient);
        return;
    }
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) {
        if (broken_ || !not_finite_.empty()) return;
        if (!ready_.is_whole(bucket)) gradient_ready(buckets_[bucket], gradient);
    }
}

void BucketCompute::take_update(std::span<const float> update, std::size_t learners) {
    if (broken_ || !not_finite_.empty()) return;
    assert_awaited({0, buckets_.parameter_count()});
    if (!all_finite(update)) {
        not_finite_ = "the update";
        return;
    }
    AKO_ASSERT(learners > 0 && learners <= learners_max, std::to_string(learners) + " learners");
    if (averages()) wish_of_round_.learners[settings_.self] = static_cast<std::uint8_t>(learners);
    for (std::size_t bucket = 0; bucket < buckets_.count() && not_finite_.empty(); ++bucket) {
        AKO_ASSERT(ready_.is_untouched(bucket), "a part of this round was given as a gradient");
        rule_->take_update(buckets_[bucket], update, learners);
        taken(buckets_[bucket]);
    }
}

void BucketCompute::post_status(bool urgent) {
    status_.loss = loss_;
    status_.stop = wish_;
    status_.progress[settings_.self] = {round_, samples_};
    status_.verdict = verdict_;
    mailbox_.post(status_, urgent);
}

// ---- evaluation

void BucketCompute::copy_parameters(std::span<float> out) const {
    std::copy_n(parameters().begin(), out.size(), out.begin());
}

bool BucketCompute::evaluates() const {
    for (const PeerIndex worker : settings_.workers()) {
        if (worker == settings_.self) return true;
        if (roster_.reachable(worker)) return false;
    }
    return false;
}

void BucketCompute::announce(const Verdict& verdict) {
    verdict_ = verdict;
    post_status(true);
}

Standing BucketCompute::standing() const {
    const std::size_t newest = newest_.learners();
    return {round_,
            progress(),
            evaluates(),
            newest_verdict(roster_, verdict_),
            samples_,
            false,
            newest > 0 ? newest : known_.learners()};
}

LinkView BucketCompute::link(PeerIndex peer, Time) const {
    LinkView view = roster_.link_view(peer);
    view.live = view.advancing = roster_.reachable(peer);
    return view;
}

}  // namespace ako
