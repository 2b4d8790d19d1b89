// See bucket_budget.h.
#include "src/modes/bucket_budget.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/numbers/budget_share.h"

namespace ako {

namespace {

/// Among the workers; 0 of a server that trains nothing.
std::size_t place_of(const ModeSettings& settings) {
    const std::vector<PeerIndex> workers = settings.workers();
    const auto found = std::find(workers.begin(), workers.end(), settings.self);
    return found == workers.end() ? 0 : static_cast<std::size_t>(found - workers.begin());
}

constexpr const char* target = ".target_reached";

/// The name in a checkpoint: how many learners had that peer?
std::string learners_of(const std::string& summary, PeerIndex peer) {
    return summary + ".learners." + std::to_string(peer);
}

}  // namespace

void put_reached(Checkpoint& out, const std::string& name, StopReason stop) {
    out.numbers[name + target] = stop == StopReason::target_reached ? 1 : 0;
}

StopReason reached(const Checkpoint& from, const std::string& name) {
    const auto found = from.numbers.find(name + target);
    const bool is = found != from.numbers.end() && found->second == 1;
    return is ? StopReason::target_reached : StopReason::none;
}

BucketBudget::BucketBudget(const ModeSettings& settings)
    : settings_(settings),
      worker_count_(settings.workers().size()),
      plan_(settings.training, worker_count_),
      place_(place_of(settings)),
      global_(plan_.global(0, 0)),
      rounds_end_((settings.sample_end() * worker_count_ + global_ - 1) / global_),
      growth_(plan_) {}

bool BucketBudget::in_lockstep() const {
    return !entry_of(settings_.exchange).has_servers ||
           settings_.exchange.server.clock_gap_max == 0U;
}

std::size_t BucketBudget::begin_round(Round made) {
    if (!averages()) global_ = plan_.global(progress(made), doublings());
    return plan_.share(global_, place_, worker_count_);
}

// How many learners made a round is known alike by all a round later. Until then it is foreseen
// that they are as many as in the round before.
void BucketBudget::end_round(Round made, std::optional<double> noise_scale) {
    growth_.end_round(progress(made), doublings(), noise_scale);
    known_.follow(std::exchange(newest_, {}));
    if (const std::size_t samples = samples_of_learners(); samples > 0) {
        samples_total_ += samples;
        samples_total_ -= std::exchange(global_, samples);
    }
    samples_total_ += global_;
}

std::size_t BucketBudget::learners() const {
    const std::size_t newest = newest_.learners();
    return newest > 0 ? newest : known_.learners();
}

std::optional<PeerIndex> BucketBudget::without_learners(const SyncSummary& summary) const {
    for (PeerIndex peer = 0; averages() && peer < settings_.peer_count(); ++peer)
        if (summary.wish.learners[peer] == 0) return peer;
    return std::nullopt;
}

std::uint64_t BucketBudget::rounds_made(Round made) const {
    if (!entry_of(settings_.exchange).has_servers) return worker_count_ * made;
    if (!in_lockstep())
        return std::max({newest_.rounds_total, known_.rounds_total, std::uint64_t{made}});
    // What is known is of the sync before the newest round.
    if (known_.workers == 0) return worker_count_ * made;
    return known_.rounds_total + known_.workers;
}

bool BucketBudget::spent(Round made) const {
    return counts_samples() ? samples_total_ >= settings_.sample_end()
                            : rounds_made(made) >= rounds_end_;
}

double BucketBudget::progress(Round made) const {
    const std::uint64_t samples =
        counts_samples() ? samples_total_ : rounds_made(made) * global_ / worker_count_;
    // A worker that is lost takes the round back that was foreseen for it; progress never falls.
    progress_ = std::max(progress_, share_of_budget(samples, settings_.sample_budget));
    return progress_;
}

// ---- checkpoints

void BucketBudget::save(Checkpoint& out) const {
    out.numbers["samples_total"] = samples_total_;
    const auto put = [&](const std::string& name, const SyncSummary& summary) {
        put_reached(out, name, summary.wish.stop);
        out.numbers[name + ".doublings"] = summary.wish.doublings;
        out.numbers[name + ".rounds_total"] = summary.rounds_total;
        out.numbers[name + ".workers"] = summary.workers;
        for (PeerIndex peer = 0; averages() && peer < settings_.peer_count(); ++peer)
            out.numbers[learners_of(name, peer)] = summary.wish.learners[peer];
    };
    put("known", known_);
    put("newest", newest_);
}

void BucketBudget::change_peers(Checkpoint& it, const std::vector<std::string>& before,
                                const std::vector<std::string>& now) {
    for (const char* const summary : {"known", "newest"}) {
        std::vector<std::uint64_t> learners;
        for (PeerIndex peer = 0; peer < before.size(); ++peer) {
            const auto found = it.numbers.find(learners_of(summary, peer));
            if (found == it.numbers.end()) return;
            learners.push_back(found->second);
            it.numbers.erase(found);
        }
        for (PeerIndex peer = 0; peer < now.size(); ++peer) {
            const auto same = std::find(before.begin(), before.end(), now[peer]);
            const auto place = same == before.end() ? 0 : same - before.begin();
            it.numbers[learners_of(summary, peer)] = learners[static_cast<std::size_t>(place)];
        }
    }
}

Result<void> BucketBudget::restore(const Checkpoint& from) {
    for (const auto& [name, summary] :
         {std::pair("known", &known_), std::pair("newest", &newest_)}) {
        const auto rounds = from.number(std::string(name) + ".rounds_total");
        const auto workers = from.number(std::string(name) + ".workers");
        if (!rounds) return tl::make_unexpected(rounds.error());
        const auto doubled = from.number(std::string(name) + ".doublings");
        if (!workers) return tl::make_unexpected(workers.error());
        if (!doubled) return tl::make_unexpected(doubled.error());
        *summary = {{reached(from, name), static_cast<std::uint8_t>(*doubled)},
                    *rounds,
                    static_cast<std::uint32_t>(*workers)};
        for (PeerIndex peer = 0; averages() && peer < settings_.peer_count(); ++peer) {
            // Checkpoints from before they were told are of as many at each peer.
            const auto learners = from.numbers.find(learners_of(name, peer));
            if (learners == from.numbers.end()) break;
            summary->wish.learners[peer] = static_cast<std::uint8_t>(learners->second);
        }
    }
    const auto samples_total = from.number("samples_total");
    if (!samples_total) return tl::make_unexpected(samples_total.error());
    samples_total_ = *samples_total;
    if (const std::size_t made = samples_of_learners(); made > 0) global_ = made;
    progress_ = 0;  // a branch may have another budget
    progress(from.id.round);
    return {};
}

}  // namespace ako
