#include "src/wiring/wiring.h"

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "src/config/key_places.h"
#include "src/exchange/coverage.h"
#include "src/modes/make_exchange.h"
#include "src/numbers/batch_plan.h"
#include "src/wiring/hello.h"
#include "src/wiring/link_safety.h"
#include "src/wiring/sample_budget.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {
namespace {

/// Null unless data shards follow the live peers.
std::unique_ptr<Coverage> make_coverage(const Settings& settings, PeerIndex self,
                                        const Brought& brought) {
    if (!shards_follow(settings)) return nullptr;
    Coverage::Sizes sizes;
    sizes.items = brought.sample_count;
    const BatchPlan batch(settings.training, settings.peers.size());
    sizes.portions = portions_of(sizes.items, batch.share_min(), settings.peers.size());
    // What is trained on twice brings nobody further. When the budget is spent, all end their
    // round.
    const std::uint64_t at_once =
        batch.local_only() ? batch.share_max() * settings.peers.size() : batch.share_max();
    const std::uint64_t samples = brought.sample_budget + 2 * at_once;
    sizes.pass_max = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(samples / sizes.items + 2, UINT32_MAX - 2));
    return std::make_unique<Coverage>(self, settings.peers.size(), sizes);
}

/// Reads one of these, and says which it was.
std::function<Result<Checkpoint>(const CheckpointId&)> reader_of(
    std::vector<KeptCheckpoint> usable, const Settings& settings) {
    return [usable = std::move(usable), changed = ChangedPeers(settings)](const CheckpointId& id) {
        const auto found = std::find_if(usable.begin(), usable.end(),
                                        [&id](const KeptCheckpoint& it) { return it.id == id; });
        AKO_ASSERT(found != usable.end(), "a checkpoint that was not found before");
        Result<Checkpoint> read = read_checkpoint(found->path);
        if (!read)
            read.error().what = found->path + " " + read.error().what;
        else
            read->path = found->path;
        if (read && !found->of_peers.empty()) changed.apply(*read, found->of_peers);
        return read;
    };
}

}  // namespace

Wiring::Wiring(const Settings& settings, PeerIndex self, Brought brought, const EarlierRun& earlier,
               WiringCalls calls, const std::atomic<int>& interrupts)
    : settings_(settings),
      self_(self),
      process_id_(random_process_id()),
      key_(read_cluster_key(settings)),
      coverage_(make_coverage(settings, self, brought)),
      hello_(make_hello(settings, self, process_id_, brought)),
      owner_(checkpoint_owner(settings, hello_)),
      resumes_(!earlier.none()),
      resumes_if_any_(earlier.if_any),
      earlier_(earlier.none() ? EarlierCheckpoints()
                              : checkpoints_to_go_on_from(settings, earlier, owner_)),
      transport_(transport_settings(settings, self, hello_, key_, calls.log), clock_) {
    // Before the exchange takes its memory.
    if (key_.none()) check_announced(settings, self, Names::looked_up);
    naming_key(settings, listen_key(settings, self), [this] { transport_.bind(); });
    ModeSettings mode = own_mode_settings(brought, std::move(calls));
    exchange_ =
        make_exchange(std::move(mode), std::move(brought.initial), transport_, clock_, interrupts);
}

Wiring::~Wiring() = default;

void Wiring::start() { exchange_->start(); }

Exchange& Wiring::exchange() { return *exchange_; }

PortionSource* Wiring::portions() { return coverage_.get(); }

ModeSettings Wiring::own_mode_settings(const Brought& brought, WiringCalls calls) const {
    ModeSettings mode = mode_settings(settings_);
    mode.self = self_;
    mode.process_id = process_id_;
    mode.layers = layer_ranges(brought.tensors);
    mode.sample_budget = brought.sample_budget;
    mode.samples_until = samples_until(settings_.training, brought.sample_budget);
    mode.log = std::move(calls.log.notice);
    mode.waits = std::move(calls.waits);
    mode.leaves = std::move(calls.leaves);
    mode.initial_of_lowest = brought.initial_of_lowest;
    // The one may have a device of its own, the other sleeps.
    mode.computes_elsewhere =
        settings_.model.kind == ModelKind::external || settings_.model.kind == ModelKind::synthetic;
    mode.resumes = resumes_;
    mode.resumes_if_any = resumes_if_any_;
    for (const KeptCheckpoint& it : earlier_.usable) {
        if (mode.checkpoints.size() < checkpoints_told_max) mode.checkpoints.push_back(it.id);
    }
    mode.read_checkpoint = reader_of(earlier_.usable, settings_);
    mode.coverage = coverage_.get();
    return mode;
}

}  // namespace ako
