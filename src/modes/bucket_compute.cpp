// See bucket_compute.h.
#include "src/modes/bucket_compute.h"

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "ako/mode_table.h"
#include "src/numbers/digest.h"

namespace ako {

namespace {

PeerSet set_of(const std::vector<PeerIndex>& peers) {
    PeerSet set = 0;
    for (const PeerIndex peer : peers) set |= peer_bit(peer);
    return set;
}

}  // namespace

BucketCompute::BucketCompute(const ModeSettings& settings, const Buckets& buckets, Mailbox& mailbox,
                             BucketBoard& board, BucketProtocol& protocol,
                             std::unique_ptr<BucketRule> rule)
    : LockstepCompute(settings, buckets, mailbox, board, "peers"),
      protocol_(protocol),
      result_(protocol.result()),
      rule_(std::move(rule)),
      runs_ahead_(entry_of(settings.exchange).runs_ahead),
      budget_(settings),
      start_wait_(settings, settings.peer_count()),
      common_(settings, roster_),
      rates_(buckets.count()) {
    members_ = set_of(settings.workers());
    status_.start.checkpoints = settings.checkpoints;
    post_status(true);
}

// ---- beginning and ending of training

std::optional<Next> BucketCompute::begin_round(Time now) {
    take_in();
    if (!mailbox_.broken().empty()) return mailbox_.broken_next();
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
    if (!is_in()) return Next::finish("");
    if (const StopReason reason = stop_due(); reason != StopReason::none) return stop(reason);
    if (asked_to_leave_ && !somebody_stays()) {
        request_stop(StopReason::requested);
    } else if (asked_to_leave_) {
        if (!step_settle()) return std::nullopt;
        if (broken_) return begin_round(now);  // which says why
        return leave();
    }
    wish_of_round_ = {wish_, budget_.doublings_due()};
    syncs_.ready().clear();
    return Next::train(budget_.begin_round(round_));
}

std::string BucketCompute::start() {
    if (std::string why = common_.why_not(); !why.empty()) return why;
    if (const auto id = common_.checkpoint()) {
        Result<Checkpoint> read = settings_.read_checkpoint(*id);
        if (!read) return read.error().what + ": " + without_this_checkpoint;
        restored_ = std::make_shared<const Checkpoint>(*std::move(read));
        if (const auto restored = restore(restored_); !restored)
            return restored_->path + ": " + restored.error().what + ": " + without_this_checkpoint;
        settings_.log("goes on from round " + std::to_string(round_) +
                      ", the newest that all peers have a checkpoint of");
    }
    start_ = common_.id();
    started_ = true;
    mailbox_.start();
    return "";
}

void BucketCompute::request_leave() {
    const bool serves = (set_of(settings_.servers()) & peer_bit(settings_.self)) != 0;
    if (entry_of(settings_.exchange).has_servers && !serves) {
        asked_to_leave_ = true;
    } else if (wish_ == StopReason::none) {
        settings_.log("in this mode the others cannot go on without this peer: it stops for all");
        request_stop(StopReason::requested);
    }
}

// In lockstep all peers must stop after the same round, so only what all of them know alike counts:
// what came with the sync before the newest, which everybody's last forward pass has awaited.
StopReason BucketCompute::stop_due() const {
    StopReason reason = budget_.known().wish.stop;
    if (!budget_.in_lockstep()) {
        reason = stronger(reason, stronger(budget_.newest().wish.stop, wish_));
        // A worker that has stopped pushes nothing more that a wish could come with.
        for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)
            if (const auto& status = roster_[peer].status)
                reason = stronger(reason, status->standing.stop);
    }
    if (reason == StopReason::none && budget_.spent(round_)) reason = StopReason::budget_spent;
    return reason;
}

std::optional<Next> BucketCompute::stop(StopReason reason) {
    stopped_for_ = reason;
    sync_the_rest();
    if (budget_.in_lockstep() && numbers_.good()) {
        if (!step_settle()) return std::nullopt;
        // Where a worker may be ahead more is still coming; report() looks there.
        if (!broken_) numbers_.look(parameters(), "a parameter");
    }
    if (!numbers_.good()) return Next::give_up(Ending::numbers, numbers_.complaint(round_));
    return Next::finish(sentence(reason));
}

double BucketCompute::progress() const { return is_in() ? budget_.progress(round_) : 1; }

// ---- one round

bool BucketCompute::look_for_break() {
    take_in();  // what waits in the mailbox would wake this peer again and again
    broken_ = !mailbox_.broken().empty();
    return broken_;
}

// A bucket that is whole with this range is not read any more, whichever layers share it.
bool BucketCompute::step_make_way(Range range) {
    if (is_void()) return true;
    const std::uint64_t sync = sync_before_round();
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end; ++bucket)
        if (syncs_.ready().is_whole_with(bucket, range) && !settle_bucket(bucket, sync))
            return look_for_break();
    return true;
}

bool BucketCompute::settle_range(Range range) {
    if (rule_->settles_layers()) {
        range = buckets_.whole_layers(range);
        if (!syncs_.complete(range)) return look_for_break();
        if (!syncs_.are_settled(range)) rule_->measure(range, result_);
    }
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end; ++bucket)
        if (!settle_bucket(bucket, syncs_.newest())) return look_for_break();
    return true;
}

bool BucketCompute::settle_bucket(std::size_t bucket, std::uint64_t sync) {
    if (syncs_.settled(bucket) >= sync) return true;
    const auto summary = syncs_.completed(bucket, sync);
    if (!summary) return false;
    if (const auto silent = budget_.without_learners(*summary)) {
        mailbox_.break_off("peer " + settings_.peer_names[*silent] +
                           " has not said how many learners it has");
        return false;
    }
    rule_->settle(buckets_[bucket], result_, {rates_[bucket], summary->learners()});
    syncs_.settle(bucket, sync);
    budget_.settled(*summary);
    return true;
}

bool BucketCompute::gradient_ready(Range range, std::span<const float> gradient, Time) {
    if (is_void()) return false;
    if (!runs_ahead_) syncs_.assert_awaited(range, sync_before_round());
    if (!numbers_.look(gradient.subspan(range.first, range.count), "the gradient")) return false;
    if (rule_->takes_whole()) return false;
    take(range, gradient);
    return true;
}

void BucketCompute::take(Range range, std::span<const float> gradient) {
    rule_->take(range, gradient, budget_.rate(round_));
    taken(range);
}

void BucketCompute::taken(Range range) {
    const bool syncs = rule_->syncs(round_ + 1);
    syncs_.ready().add(range, [&](std::size_t bucket) AKO_COMPUTE_THREAD {
        if (syncs) contribute(bucket);
    });
}

void BucketCompute::contribute(std::size_t bucket) {
    // The first bucket of a round begins its sync.
    if (synced_round_ != round_ + 1) {
        synced_round_ = round_ + 1;
        syncs_.begin(syncs_.newest() + 1);
    }
    AKO_ASSERT(syncs_.settled(bucket) == syncs_.newest() - 1,
               "a bucket did not make way for its next sync");
    give(bucket);
}

void BucketCompute::give(std::size_t bucket) {
    const Range range = buckets_[bucket];
    const std::span<const float> contribution = rule_->contribution(range);
    rates_[bucket] = budget_.rate(round_);
    // A step with a gradient that is finite may still lead beyond what is.
    if (!entry_of(settings_.exchange).every_round &&
        !numbers_.look(contribution.subspan(range.first, range.count),
                       "what local rounds made of the parameters up to the end"))
        return;
    syncs_.contribute(bucket, contribution, wish_of_round_);
}

void BucketCompute::sync_the_rest() {
    if (synced_round_ == round_ || entry_of(settings_.exchange).every_round) return;
    wish_of_round_ = {wish_, budget_.doublings_due()};
    syncs_.begin(syncs_.newest() + 1);
    synced_round_ = round_;
    for (std::size_t bucket = 0; bucket < buckets_.count() && numbers_.good(); ++bucket)
        give(bucket);
}

Result<void> BucketCompute::end_round(const Learned& learned, const RoundResult& result, Time) {
    AKO_ASSERT(is_in(), "who only serves makes no rounds");
    const auto* const update = std::get_if<Update>(&learned);
    if (update != nullptr && !rule_->takes_updates()) {
        return fail(Error::Kind::unsupported, exchanges_gradients);
    }
    if (update == nullptr && !rule_->takes_gradients()) {
        return fail(Error::Kind::unsupported,
                    "this mode averages replicas, whose own optimizers make the steps: end the "
                    "round with an update");
    }
    take_in();  // who evaluates now depends on who is there
    if (update != nullptr) {
        take_update(update->values, result.learners);
    } else if (rule_->takes_whole()) {
        const Range all{0, buckets_.parameter_count()};
        gradient_ready(all, values_of(learned), {});
        if (!is_void()) take(all, values_of(learned));
    } else {
        take_the_rest(values_of(learned));
    }
    if (!numbers_.good()) return break_off_by_numbers();
    if (broken_) return {};
    budget_.end_round(round_, result.noise_scale);
    samples_ += result.samples;
    made_round(result);
    return {};
}

void BucketCompute::take_update(std::span<const float> update, std::size_t learners) {
    if (is_void()) return;
    syncs_.assert_awaited({0, buckets_.parameter_count()}, sync_before_round());
    if (!numbers_.look(update, "the update")) return;
    AKO_ASSERT(learners > 0 && learners <= learners_max, std::to_string(learners) + " learners");
    if (budget_.averages())
        wish_of_round_.learners[settings_.self] = static_cast<std::uint8_t>(learners);
    for (std::size_t bucket = 0; bucket < buckets_.count() && numbers_.good(); ++bucket) {
        AKO_ASSERT(syncs_.ready().is_untouched(bucket),
                   "a part of this round was given as a gradient");
        rule_->take_update(buckets_[bucket], update, learners);
        taken(buckets_[bucket]);
    }
}

// ---- views

std::span<const float> BucketCompute::parameters() const {
    return is_in() ? rule_->parameters() : std::span<const float>();
}

Standing BucketCompute::standing() const {
    Standing standing = LockstepCompute::standing();
    standing.learners_together = budget_.learners();
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer)
        if (peer != settings_.self && roster_[peer].live() && roster_[peer].status)
            standing.marks_apart =
                std::max(standing.marks_apart, roster_[peer].status->start.marks_apart);
    return standing;
}

// ---- checkpoints

bool BucketCompute::save(Checkpoint& out) {
    if (!entry_of(settings_.exchange).keeps_checkpoints() || broken_) return false;
    out.id = {start_, round_};
    out.samples = samples_;
    out.progress = progress();
    out.together = true;
    out.common = common_.newest_of(status_.start.checkpoints);
    put_reached(out, "wish", wish_);
    budget_.save(out);
    rule_->save(out);
    protocol_.save(out);
    return true;
}

Result<void> BucketCompute::restore(std::shared_ptr<const Checkpoint> from) {
    if (auto counted = budget_.restore(*from); !counted) return counted;
    if (auto kept = protocol_.check(*from); !kept) return kept;
    if (auto held = rule_->restore(*from); !held) return held;
    round_ = from->id.round;
    samples_ = from->samples;
    synced_round_ = rule_->syncs(round_) ? round_ : 0;
    wish_ = stronger(wish_, reached(*from, "wish"));
    board_.restore(std::move(from));
    post_status(true);
    return {};
}

void BucketCompute::tell_checkpoints(const CheckpointNews& news) {
    if (!news.kept && news.marks_apart == status_.start.marks_apart) return;
    status_.start.marks_apart = news.marks_apart;
    if (news.kept) status_.start.checkpoints = *news.kept;
    post_status(false);
}

// ---- the end

bool BucketCompute::step_finish(Time now, bool hurried) {
    // A worker's training is over, and whoever hears its wish would take it for the reason.
    if (hurried && !is_in()) request_stop(StopReason::requested);
    const bool broken = !mailbox_.broken().empty();
    take_in();  // after that look, so that who broke it off is known to be gone
    if (begins_to_finish(now)) post_status(true);
    if (leaves()) return true;
    if (!is_in() && status_.standing.stop != wish_) post_status(true);
    if (broken) return true;
    // A server alone waits as long as anybody trains; the workers have the time-outs.
    timed_out_ = is_in() && finish_is_late(now);
    if (timed_out_) return true;
    const bool pulls_final = entry_of(settings_.exchange).has_servers && is_in();
    if (pulls_final && !board_.final_is_here()) return false;
    if (is_in() && !status_.standing.digest) {
        status_.standing.digest = sha256(std::as_bytes(parameters()));
        post_status(true);
    }
    return all_told(false);
}

std::vector<std::uint64_t> BucketCompute::samples_of_all() const {
    std::vector<std::uint64_t> samples;
    for (PeerIndex peer = 0; peer < roster_.peer_count(); ++peer) {
        const Status& status =
            peer == settings_.self ? status_ : roster_[peer].status.value_or(Status{});
        samples.push_back(
            status.standing.progress.empty() ? 0 : status.standing.progress[peer].samples);
    }
    return samples;
}

// A peer that has none itself takes what the first says that has.
std::optional<Digest> BucketCompute::digest_of_run() const {
    std::optional<Digest> digest = status_.standing.digest;
    for (PeerIndex peer = 0; peer < roster_.peer_count() && !digest; ++peer)
        if (const auto& status = roster_[peer].status) digest = status->standing.digest;
    return digest;
}

// They have taken in all that it pushed.
PeerSet BucketCompute::heirs() const { return set_of(settings_.servers()); }

}  // namespace ako
