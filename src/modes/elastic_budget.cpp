// See elastic_budget.h.
#include "src/modes/elastic_budget.h"

#include <algorithm>
#include <bit>

#include "src/numbers/budget_share.h"

namespace ako {
namespace {

/// Samples of each who gave to the sync that they know of last.
std::uint64_t samples_of_each(const MemberState& said) {
    std::uint64_t samples = 0;
    for (std::size_t peer = 0; peer < said.now.samples.size(); ++peer)
        samples = std::max(samples, said.now.samples[peer] - said.before.samples[peer]);
    return samples;
}

}  // namespace

void ElasticBudget::begin(PeerSet founders) {
    tally_ = {0, founders, StopReason::none, 0, {}};
    tally_.samples.resize(settings_.peer_count());
    set_progress();
    before_ = known_ = tally_;
}

void ElasticBudget::take_over(const MemberState& said) {
    tally_ = said.now;
    before_ = known_ = said.before;
    sync_samples_ = samples_of_each(said);
    newest_ = {};
}

// All members have equal shares of the same global batch, by what all of them know alike: who gave
// to the newest sync that counts.
std::size_t ElasticBudget::begin_round() {
    const int contributors = std::popcount(known_.contributors);
    const std::size_t members =
        contributors == 0 ? settings_.peer_count() : static_cast<std::size_t>(contributors);
    round_samples_ = plan_.share(plan_.global(known_.progress, 0), 0, members);
    return round_samples_;
}

void ElasticBudget::sync_over(std::uint64_t sync) {
    before_ = tally_;
    tally_.sync = sync;
    tally_.contributors = newest_.contributors;
    tally_.stop = stronger(tally_.stop, newest_.wish.stop);
    for (PeerIndex peer = 0; peer < tally_.samples.size(); ++peer)
        if (newest_.contributors & peer_bit(peer)) tally_.samples[peer] += sync_samples_;
    set_progress();
    newest_ = {};
}

// A member that counts with this tally foresees one more round of the same, with as many samples as
// in the newest sync. The round under way may have others, for a member that evaluates settles a
// sync before it begins one.
std::uint64_t ElasticBudget::samples_after(const Tally& tally) const {
    std::uint64_t samples =
        sync_samples_ * static_cast<std::uint64_t>(std::popcount(tally.contributors));
    for (const std::uint64_t of_peer : tally.samples) samples += of_peer;
    return samples;
}

void ElasticBudget::set_progress() {
    tally_.progress =
        std::max(tally_.progress, share_of_budget(samples_after(tally_), settings_.sample_budget));
}

StopReason ElasticBudget::stop_due(Round made) const {
    if (known_.stop != StopReason::none) return known_.stop;
    const bool spent =
        made == 0 ? settings_.sample_end() == 0 : samples_after(known_) >= settings_.sample_end();
    return spent ? StopReason::budget_spent : StopReason::none;
}

std::uint64_t ElasticBudget::own_samples(Round made) const {
    if (tally_.samples.empty()) return 0;
    return tally_.samples[settings_.self] + (made > tally_.sync ? sync_samples_ : 0);
}

}  // namespace ako
