// See elastic_compute.h. How its part in a run begins and ends: elastic_ends.cpp.
#include "src/modes/elastic_compute.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ako/assert.h"
#include "src/modes/told_by_all.h"
#include "src/numbers/finite.h"

namespace ako {

// A run is begun by a majority of the file, however few may go on with it.
ElasticCompute::ElasticCompute(const ModeSettings& settings, const Buckets& buckets,
                               Mailbox& mailbox, BucketBoard& board, EpochBoard& epochs,
                               const ElasticRing& ring, ElasticState& state)
    : settings_(settings),
      buckets_(buckets),
      mailbox_(mailbox),
      board_(board),
      epochs_(epochs),
      ring_(ring),
      state_(state),
      members_min_(settings.start_peers_min()),
      plan_(settings.training, settings.peer_count()),
      roster_(settings.self, settings.peer_count()),
      start_wait_(settings, std::max(members_min_, settings.majority())),
      settled_(buckets.count()),
      ready_(buckets) {
    status_.progress.resize(settings.peer_count());
    status_.process_id = settings.process_id;
    post_status(true);
}

void ElasticCompute::drain() {
    take_in(roster_, mailbox_, round_);
    broken_ = !mailbox_.broken().empty();
}

void ElasticCompute::look_at_place() {
    place_ = epochs_.place();
    if (!in_ || place_.in) return;
    in_ = false;
    settings_.log("the others went on without this peer, in epoch " + std::to_string(place_.epoch) +
                  ": it asks to be taken in again");
}

std::optional<Next> ElasticCompute::begin_round(Time now) {
    drain();
    look_at_place();
    if (broken_) return Next::give_up(Ending::broken, mailbox_.broken());
    if (!in_) {
        if (auto waits = come_in(now)) return *std::move(waits);
    }
    tell_state();
    if (auto over = finish_or_leave()) return *std::move(over);
    if (too_few()) {
        settle_newest();  // or nothing could be handed to those who come in
        return wait_for_more(now);
    }
    waits_since_.reset();
    wish_of_round_ = wish_;
    ready_.clear();
    images_ = images();
    return Next::train(images_);
}

// Of the same global batch all members have equal shares, by what all of them know alike: who gave
// to the newest sync that counts.
std::size_t ElasticCompute::images() const {
    const int contributors = std::popcount(known_.contributors);
    const std::size_t members =
        contributors == 0 ? settings_.peer_count() : static_cast<std::size_t>(contributors);
    return plan_.share(plan_.global(known_.progress, 0), 0, members);
}

// ---- one round

bool ElasticCompute::settle(Range range) {
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end && !is_void(); ++bucket) {
        if (settled_[bucket] == sync_) continue;
        const auto summary = board_.completed(bucket, sync_);
        if (!summary) {
            drain();  // what waits in the mailbox would wake this peer again and again
            look_at_place();
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
    const auto share = 1.0F / static_cast<float>(std::popcount(summary.contributors));
    state_.optimizer.apply(range, ring_.sums(sync_).subspan(range.first, range.count), share,
                           std::span(state_.parameters).subspan(range.first, range.count), rate_);
    board_.consume(bucket, sync_);
    settled_[bucket] = sync_;
    newest_.merge(summary);
    if (++settled_count_ < buckets_.count()) return;
    before_ = tally_;
    tally_.sync = sync_;
    tally_.contributors = newest_.contributors;
    tally_.stop = stronger(tally_.stop, newest_.wish.stop);
    for (PeerIndex peer = 0; peer < tally_.samples.size(); ++peer)
        if (newest_.contributors & peer_bit(peer)) tally_.samples[peer] += sync_images_;
    tally_.progress = std::max(tally_.progress, progress_after(tally_));
    newest_ = {};
}

// Of whoever counts with this tally: one more round was made by the same, each with as many images.
// Not with those of the round under way, for who evaluates settles a sync before it begins one.
double ElasticCompute::progress_after(const Tally& tally) const {
    if (settings_.sample_budget == 0) return 1;
    std::uint64_t samples =
        sync_images_ * static_cast<std::uint64_t>(std::popcount(tally.contributors));
    for (const std::uint64_t of_peer : tally.samples) samples += of_peer;
    return std::min(1.0,
                    static_cast<double>(samples) / static_cast<double>(settings_.sample_budget));
}

void ElasticCompute::assert_awaited(Range range) const {
    const std::uint64_t newest = sync_ - (sync_ == round_ + 1 ? 1 : 0);
    const Buckets::Span span = buckets_.overlapping(range);
    for (std::size_t bucket = span.first; bucket < span.end; ++bucket)
        AKO_ASSERT(settled_[bucket] == newest, "parameters were used before they were awaited");
}

void ElasticCompute::gradient_ready(Range range, std::span<const float> gradient) {
    if (is_void()) return;
    assert_awaited(range);
    if (!all_finite(gradient.subspan(range.first, range.count))) {
        not_finite_ = "the gradient";
        return;
    }
    gradient_ = gradient;
    rate_ = plan_.learning_rate(round_ == 0 ? 0 : known_.progress, 0);
    ready_.add(range, [this](std::size_t bucket) AKO_COMPUTE_THREAD { contribute(bucket); });
}

void ElasticCompute::contribute(std::size_t bucket) {
    // The first bucket of a round begins its sync.
    if (sync_ != round_ + 1) {
        sync_ = round_ + 1;
        settled_count_ = 0;
        sync_images_ = images_;
    }
    board_.contribute({bucket, sync_, gradient_, {wish_of_round_, 0}});
}

std::string ElasticCompute::complaint(Round round) const {
    return not_finite_ + " of round " + std::to_string(round) +
           " is not finite: no more of it is sent";
}

Result<void> ElasticCompute::end_round(const Learned& learned, const RoundResult& result, Time) {
    if (std::holds_alternative<Update>(learned)) {
        return fail(Error::Kind::unsupported, exchanges_gradients);
    }
    drain();  // who evaluates now depends on who is there
    look_at_place();
    take_the_rest(values_of(learned));
    if (!not_finite_.empty()) {
        mailbox_.break_off(complaint(round_ + 1));
        return fail(Error::Kind::numbers, complaint(round_ + 1));
    }
    if (is_void()) return {};
    ++round_;
    loss_ = result.loss;
    known_ = tally_;
    roster_.set_own(round_, own_samples());
    post_status(false);
    return {};
}

// Of layers that say nothing of their gradients: all of it is here now.
void ElasticCompute::take_the_rest(std::span<const float> gradient) {
    for (std::size_t bucket = 0; bucket < buckets_.count() && !is_void(); ++bucket) {
        if (!ready_.is_whole(bucket)) gradient_ready(buckets_[bucket], gradient);
    }
}

// What it gave to a sync that is not settled yet counts as soon as that is.
std::uint64_t ElasticCompute::own_samples() const {
    if (tally_.samples.empty()) return 0;
    return tally_.samples[settings_.self] + (round_ > tally_.sync ? sync_images_ : 0);
}

void ElasticCompute::post_status(bool urgent) {
    status_.loss = loss_;
    status_.stop = wish_;
    status_.progress[settings_.self] = {round_, own_samples()};
    status_.verdict = verdict_;
    mailbox_.post(status_, urgent);
}

// ---- views

void ElasticCompute::copy_parameters(std::span<float> out) const {
    std::copy_n(state_.parameters.begin(), out.size(), out.begin());
}

bool ElasticCompute::evaluates() const {
    if (!in_) return false;
    for (PeerIndex peer = 0; peer < settings_.self; ++peer)
        if ((place_.members & peer_bit(peer)) && roster_.reachable(peer)) return false;
    return true;
}

void ElasticCompute::announce(const Verdict& verdict) {
    verdict_ = verdict;
    post_status(true);
}

Standing ElasticCompute::standing() const {
    return {round_,        round_ == 0 ? 0 : known_.progress,
            evaluates(),   newest_verdict(roster_, verdict_),
            own_samples(), started_ && !in_};
}

LinkView ElasticCompute::link(PeerIndex peer, Time) const {
    LinkView view = roster_.link_view(peer);
    view.live = roster_.reachable(peer);
    view.advancing = view.live && (place_.members & peer_bit(peer)) != 0;
    return view;
}

}  // namespace ako
