#include "src/peer/peer.h"

#include <utility>

#include "models/accumulation.h"
#include "models/catalog.h"
#include "models/workers.h"
#include "src/numbers/batch_plan.h"
#include "src/peer/initial_parameters.h"
#include "src/peer/network_memory.h"

namespace ako {
namespace {

/// What trains: a batch in parts, where it has more images than are computed at once.
std::unique_ptr<Network> training_network(const Settings& settings, PeerIndex self) {
    std::unique_ptr<Network> network = make_network(settings.model, settings.seed + self);
    const BatchSettings& batch = settings.training.batch;
    if (!computes_in_parts(batch)) return network;
    return std::make_unique<Accumulation>(std::move(network), images_at_once(batch));
}

/// Once it is sure that what is about to be read fits into the memory allowed.
MemoryPlan checked_plan(const Settings& settings, const Network& network) {
    MemoryPlan plan =
        plan_memory(settings, {network.parameter_count(), training_data_bytes(settings)});
    check_memory(settings, plan);
    return plan;
}

}  // namespace

Peer::Peer(const Settings& settings, PeerIndex self, const std::string& resume, MemberCalls calls,
           const std::atomic<int>& interrupts)
    : self_(self),
      network_(training_network(settings, self)),
      memory_(checked_plan(settings, *network_)),
      data_(settings),
      member_(settings, self, brought(settings), resume, std::move(calls), interrupts) {
    set_threads(settings.training.threads);
}

std::unique_ptr<BatchSource> Peer::batches() { return data_.batches(self_, member_.portions()); }

Brought Peer::brought(const Settings& settings) const {
    return {.tensors = network_->tensors(),
            .initial = initial_parameters(settings, *network_),
            .sample_count = data_.sample_count(),
            .sample_budget = data_.sample_budget()};
}

}  // namespace ako
