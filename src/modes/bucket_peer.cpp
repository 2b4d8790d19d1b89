// See bucket_peer.h.
#include "src/modes/bucket_peer.h"

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "src/digest.h"
#include "src/finite.h"
#include "src/learning_rate.h"

namespace ako {

BucketPeer::BucketPeer(const ModeSettings& settings, const Buckets& buckets, BucketBoard& board,
                       std::span<const float> result, std::unique_ptr<BucketUpdate> update)
    : settings_(settings),
      buckets_(buckets),
      board_(board),
      result_(result),
      update_(std::move(update)),
      worker_count_(settings.workers().size()),
      rounds_budget_((settings.sample_budget + settings.training.batch_per_peer - 1) /
                     settings.training.batch_per_peer),
      settled_(buckets.count()),
      ready_(buckets.count()) {
    status_.progress.resize(settings.peer_count());
}

// In the others a worker may be ahead, and no two know the same at the same round.
bool BucketPeer::lockstep() const {
    return settings_.exchange.mode != Mode::parameter_server ||
           settings_.exchange.server.clock_gap_max == 0U;
}

// ---- beginning and ending of training

std::vector<PeerIndex> BucketPeer::missing() const {
    std::vector<PeerIndex> absent;
    const auto members = board_.members();
    for (PeerIndex peer = 0; peer < members.size(); ++peer)
        if (peer != settings_.self && members[peer].presence != Presence::up)
            absent.push_back(peer);
    return absent;
}

bool BucketPeer::may_start(Time now, std::string& why_not) {
    if (!waits_since_) waits_since_ = now;
    const std::vector<PeerIndex> absent = missing();
    if (absent.empty()) return true;
    if (now - *waits_since_ < from_seconds(settings_.exchange.start_wait_s)) return false;
    why_not = "this mode needs all " + std::to_string(settings_.peer_count()) +
              " peers of the file, and these did not come within start_wait_s:";
    for (const PeerIndex peer : absent) why_not += " " + settings_.peer_names[peer];
    return false;
}

BucketPeer::Begin BucketPeer::begin_round(Time now) {
    if (std::string why = board_.broken(); !why.empty()) return {Begin::Kind::broken, why};
    if (!started_) {
        std::string why_not;
        if (wish_ != StopReason::none)
            return {Begin::Kind::failed, "interrupted before training began"};
        if (!may_start(now, why_not))
            return {why_not.empty() ? Begin::Kind::wait : Begin::Kind::failed, why_not};
        started_ = true;
        board_.start();
    }
    if (serves_only()) return {Begin::Kind::stop, ""};
    if (auto why = stop_due()) {
        exchange_the_rest();
        if (lockstep() && not_finite_.empty()) {
            if (!settle_all()) return {Begin::Kind::wait, ""};
            // Where a worker may be ahead more is still coming; report() looks there.
            if (!broken_ && !all_finite(parameters())) not_finite_ = "a parameter";
        }
        if (!not_finite_.empty()) return {Begin::Kind::numbers, complaint(round_)};
        return {Begin::Kind::stop, *why};
    }
    wish_of_round_ = wish_;
    std::fill(ready_.begin(), ready_.end(), 0);
    return {Begin::Kind::train, ""};
}

// In lockstep all peers must stop after the same round, so only what all of them know alike counts:
// what came with the exchange before the newest, which everybody's last forward pass has awaited.
std::optional<std::string> BucketPeer::stop_due() const {
    StopReason reason = known_.stop;
    if (!lockstep()) {
        reason = std::max({reason, newest_.stop, wish_});
        // Who has stopped pushes nothing more that a wish could come with.
        for (const auto& member : board_.members()) reason = std::max(reason, member.status.stop);
    }
    if (reason == StopReason::target_reached) return "the target accuracy is reached";
    if (reason == StopReason::requested) return "a stop was requested";
    if (rounds_made() >= rounds_budget_) return "the sample budget is spent";
    return std::nullopt;
}

std::uint64_t BucketPeer::rounds_made() const {
    if (settings_.exchange.mode != Mode::parameter_server) return worker_count_ * round_;
    if (!lockstep())
        return std::max({newest_.rounds_total, known_.rounds_total, std::uint64_t{round_}});
    // What is known is of the exchange before the newest round.
    if (known_.workers == 0) return worker_count_ * round_;
    return known_.rounds_total + known_.workers;
}

double BucketPeer::progress() const {
    if (settings_.sample_budget == 0 || serves_only()) return 1;
    const auto samples = static_cast<double>(rounds_made() * settings_.training.batch_per_peer);
    // A worker that is lost takes the round back that was foreseen for it; progress never falls.
    progress_ =
        std::max(progress_, std::min(1.0, samples / static_cast<double>(settings_.sample_budget)));
    return progress_;
}

// ---- one round

bool BucketPeer::settle(Range range) {
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end; ++bucket) {
        if (settled_[bucket] == exchange_) continue;
        const auto exchanged = board_.completed(bucket, exchange_);
        if (!exchanged) {
            broken_ = !board_.broken().empty();
            return broken_;
        }
        update_->settle(buckets_[bucket], result_);
        board_.consume(bucket, exchange_);
        settled_[bucket] = exchange_;
        newest_.follow(*exchanged);
    }
    return true;
}

void BucketPeer::gradient_ready(Range range, std::span<const float> gradient) {
    if (broken_ || !not_finite_.empty()) return;
    if (!all_finite(gradient.subspan(range.first, range.count))) {
        not_finite_ = "the gradient";
        return;
    }
    update_->take(range, gradient, learning_rate_at(settings_.training, progress()));
    const bool exchanges = update_->exchanges(round_ + 1);
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end; ++bucket) {
        const Range& whole = buckets_[bucket];
        const std::size_t first = std::max(whole.first, range.first);
        const std::size_t end = std::min(whole.first + whole.count, range.first + range.count);
        ready_[bucket] += end - first;
        if (ready_[bucket] == whole.count && exchanges) contribute(bucket);
    }
}

void BucketPeer::contribute(std::size_t bucket) {
    // The first bucket of a round begins its exchange; all were settled in the forward pass.
    if (exchanged_round_ != round_ + 1) {
        for (const std::uint64_t settled : settled_)
            AKO_ASSERT(settled == exchange_, "a layer was read before it was awaited");
        exchanged_round_ = round_ + 1;
        ++exchange_;
    }
    give(bucket);
}

void BucketPeer::give(std::size_t bucket) {
    const Range range = buckets_[bucket];
    const std::span<const float> contribution = update_->contribution(range);
    // A step with a gradient that is finite may still lead beyond what is.
    if (settings_.exchange.mode == Mode::local_sgd &&
        !all_finite(contribution.subspan(range.first, range.count))) {
        not_finite_ = "what local rounds made of the parameters up to the end";
        return;
    }
    board_.contribute({bucket, exchange_, contribution, wish_of_round_});
}

std::string BucketPeer::complaint(Round round) const {
    return not_finite_ + " of round " + std::to_string(round) +
           " is not finite: no more of it is sent";
}

void BucketPeer::exchange_the_rest() {
    if (exchanged_round_ == round_ || settings_.exchange.mode != Mode::local_sgd) return;
    wish_of_round_ = wish_;
    ++exchange_;
    exchanged_round_ = round_;
    for (std::size_t bucket = 0; bucket < buckets_.count() && not_finite_.empty(); ++bucket)
        give(bucket);
}

Result<void> BucketPeer::end_round(std::span<const float> gradient, const RoundResult& result) {
    // Layers that say nothing of their gradients: all of it is here now.
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) {
        if (broken_ || !not_finite_.empty()) break;
        if (ready_[bucket] == buckets_[bucket].count) continue;
        AKO_ASSERT(ready_[bucket] == 0, "half of a bucket is ready");
        gradient_ready(buckets_[bucket], gradient);
    }
    if (!not_finite_.empty()) return fail(Error::Kind::numbers, complaint(round_ + 1));
    if (broken_) return {};
    ++round_;
    loss_ = result.loss;
    known_.follow(std::exchange(newest_, {}));
    post_status(false);
    return {};
}

void BucketPeer::post_status(bool urgent) {
    status_.loss = loss_;
    status_.stop = wish_;
    status_.progress[settings_.self] = {round_, round_ * settings_.training.batch_per_peer};
    status_.verdict = verdict_;
    board_.post(status_, urgent);
}

// ---- evaluation

bool BucketPeer::evaluates() const {
    const auto members = board_.members();
    for (const PeerIndex worker : settings_.workers()) {
        if (worker == settings_.self) return true;
        if (members[worker].presence == Presence::up) return false;
    }
    return false;
}

void BucketPeer::announce(const Verdict& verdict) {
    verdict_ = verdict;
    post_status(true);
}

std::optional<Verdict> BucketPeer::newest_verdict() const {
    std::optional<Verdict> newest = verdict_;
    for (const auto& member : board_.members()) {
        const auto& verdict = member.status.verdict;
        if (verdict && (!newest || verdict->progress > newest->progress)) newest = verdict;
    }
    return newest;
}

LinkView BucketPeer::link(PeerIndex peer) const {
    LinkView view;
    view.peer = peer;
    view.live = view.advancing = board_.members()[peer].presence == Presence::up;
    return view;
}

// ---- the end

bool BucketPeer::all_told(const std::vector<BucketBoard::Member>& members) const {
    for (const PeerIndex worker : settings_.workers()) {
        if (worker == settings_.self) continue;
        const bool there = members[worker].presence == Presence::up;
        if (there && !members[worker].status.digest) return false;
    }
    return true;
}

bool BucketPeer::step_finish(Time now) {
    if (!finish_since_) {
        finish_since_ = now;
        if (!serves_only()) status_.final_round = round_;
        post_status(true);
    }
    if (serves_only() && status_.stop != wish_) post_status(true);
    if (!board_.broken().empty()) return true;
    // A server alone waits as long as anybody trains; the workers have the time-outs.
    const Time patience = from_seconds(settings_.exchange.finish_timeout_s);
    timed_out_ = !serves_only() && now - *finish_since_ >= patience;
    if (timed_out_) return true;
    const bool pulls_final = settings_.exchange.mode == Mode::parameter_server && !serves_only();
    if (pulls_final && !board_.final_is_here()) return false;
    if (!serves_only() && !digest_posted_) {
        status_.digest = sha256(std::as_bytes(update_->parameters()));
        post_status(true);
        digest_posted_ = true;
    }
    return all_told(board_.members());
}

FinishReport BucketPeer::report(std::span<float> out, Time now) {
    FinishReport report;
    const auto members = board_.members();
    if (!serves_only()) std::copy_n(update_->parameters().begin(), out.size(), out.begin());
    report.rounds = round_;
    report.seconds = std::chrono::duration<double>(now - finish_since_.value_or(now)).count();
    std::optional<Digest> digest = status_.digest;
    report.identical = true;
    for (PeerIndex peer = 0; peer < members.size(); ++peer) {
        const bool self = peer == settings_.self;
        const Status& status = self ? status_ : members[peer].status;
        const std::uint64_t samples = status.progress.empty() ? 0 : status.progress[peer].samples;
        report.samples.push_back(samples);
        report.samples_total += samples;
        if (status.digest) {
            if (!digest) digest = status.digest;
            if (status.digest == digest)
                report.finished_with.push_back(peer);
            else
                report.identical = false;
        } else if (!self && (members[peer].ever_lost || members[peer].presence == Presence::down)) {
            report.lost.push_back(peer);
        }
    }
    const std::string broken = board_.broken();
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
