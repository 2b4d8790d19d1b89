#include "src/native_peer/native_peer.h"

#include <utility>

#include "ako/mode_table.h"
#include "models/accumulation.h"
#include "models/catalog.h"
#include "models/random.h"
#include "models/workers.h"
#include "src/native_peer/initial_parameters.h"
#include "src/native_peer/network_memory.h"
#include "src/numbers/batch_plan.h"

namespace ako {
namespace {

/// What a seed is used for, so that no two uses share a sequence; plus the learner's number.
constexpr std::uint64_t use_learners = 0x4c4541524e;

/// What trains, of one learner: a batch in parts, where it has more samples than are computed at
/// once.
std::unique_ptr<Network> training_network(const Settings& settings, PeerIndex self,
                                          std::size_t learner = 0) {
    const std::uint64_t seed = settings.seed + self;
    std::unique_ptr<Network> network = make_network(
        settings.model, learner == 0 ? seed : derive_seed(seed, use_learners + learner));
    const BatchSettings& batch = settings.training.batch;
    if (!computes_in_parts(batch)) return network;
    return std::make_unique<Accumulation>(std::move(network), samples_at_once(batch));
}

/// Once it is sure that what is about to be read fits into the memory allowed.
MemoryPlan checked_plan(const Settings& settings, const Network& network) {
    MemoryPlan plan =
        plan_memory(settings, {network.parameter_count(), training_data_bytes(settings)});
    check_memory(settings, plan);
    return plan;
}

}  // namespace

NativePeer::NativePeer(const Settings& settings, PeerIndex self, const EarlierRun& earlier,
                       WiringCalls calls, const std::atomic<int>& interrupts)
    : settings_(settings),
      self_(self),
      network_(training_network(settings, self)),
      memory_(checked_plan(settings, *network_)),
      data_(settings),
      wiring_(settings, self, brought(settings), earlier, std::move(calls), interrupts) {
    set_threads(settings.training.threads);
}

std::unique_ptr<BatchSource> NativePeer::batches() {
    return data_.batches(self_, wiring_.portions());
}

std::unique_ptr<Learners> NativePeer::learners(const PeerLog& log) {
    if (!has_learners(settings_.training, settings_.exchange)) return nullptr;
    const LearnersMeet meet = entry_of(settings_.exchange).learners;
    LearnerOptions options;
    options.peers_together = meet == LearnersMeet::at_all_peers ? settings_.peers.size() : 1;
    options.follows = meet == LearnersMeet::with_exchange;
    options.count_max = learners_at_most(settings_, network_->parameter_count(), memory_);
    options.notice = log.notice;
    options.detail = log.detail;
    return std::make_unique<Learners>(
        *network_,
        [this](std::size_t number) { return training_network(settings_, self_, number); },
        settings_.training, std::move(options), wiring_.clock());
}

Brought NativePeer::brought(const Settings& settings) const {
    check_own_samples(settings, self_, data_.held());
    return {.tensors = network_->tensors(),
            .initial = initial_parameters(settings, *network_),
            .sample_count = data_.sample_count(),
            .sample_budget = data_.sample_budget(),
            .data = data_.description()};
}

}  // namespace ako
