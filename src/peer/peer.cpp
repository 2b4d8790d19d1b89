#include "src/peer/peer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ako/assert.h"
#include "models/blas.h"
#include "models/catalog.h"
#include "src/config/key_places.h"
#include "src/group/coverage.h"
#include "src/modes/make_exchange.h"
#include "src/peer/hello.h"
#include "src/peer/initial_parameters.h"
#include "src/peer/link_safety.h"
#include "src/peer/memory_plan.h"
#include "src/peer/mode_settings.h"

namespace ako {
namespace {

/// The settings, once it is sure that what is about to be read fits into the memory allowed.
const Settings& within_memory(const Settings& settings, const Network& network) {
    check_memory(settings,
                 plan_memory(settings, {network.parameter_count(), training_data_bytes(settings)}));
    return settings;
}

/// Null unless data shards follow the live peers.
std::unique_ptr<Coverage> make_coverage(const Settings& settings, PeerIndex self,
                                        const TrainingData& data) {
    if (!shards_follow(settings)) return nullptr;
    Coverage::Sizes sizes;
    sizes.items = data.sample_count();
    sizes.portions =
        portions_of(sizes.items, settings.training.batch_per_peer, settings.peers.size());
    // What is trained on twice brings nobody further. When the budget is spent, all end their
    // round.
    const std::uint64_t at_once = settings.training.batch_per_peer * settings.peers.size();
    const std::uint64_t samples = data.sample_budget() + 2 * at_once;
    sizes.pass_max = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(samples / sizes.items + 2, UINT32_MAX - 2));
    return std::make_unique<Coverage>(self, settings.peers.size(), sizes);
}

}  // namespace

Peer::Peer(const Settings& settings, PeerIndex self, const std::string& resume, const PeerLog& log,
           std::function<void(const std::vector<PeerIndex>& missing)> waits,
           std::function<bool()> leaves, const std::atomic<int>& interrupts)
    : settings_(settings),
      self_(self),
      process_id_(random_process_id()),
      key_(read_cluster_key(settings)),
      network_(make_network(settings.model, settings.seed + self)),
      data_(within_memory(settings, *network_)),
      coverage_(make_coverage(settings, self, data_)),
      initial_(initial_parameters(settings, *network_)),
      hello_(make_hello(settings, self, process_id_, *network_, initial_)),
      owner_(checkpoint_owner(settings, hello_)),
      resumes_(!resume.empty()),
      earlier_(resume.empty() ? EarlierCheckpoints()
                              : checkpoints_to_go_on_from(settings, resume, owner_)),
      transport_(transport_settings(settings, self, hello_, key_, log), clock_) {
    set_blas_threads(settings.training.threads);
    // Before the exchange takes its memory.
    if (key_.none()) check_announced(settings, self, Names::looked_up);
    naming_key(settings, listen_key(settings, self), [this] { transport_.bind(); });
    ModeSettings mode = own_mode_settings(log, std::move(waits));
    mode.leaves = std::move(leaves);
    exchange_ = make_exchange(std::move(mode), std::move(initial_), transport_, clock_, interrupts);
}

Peer::~Peer() = default;

void Peer::start() { exchange_->start(); }

Exchange& Peer::exchange() { return *exchange_; }

std::unique_ptr<BatchSource> Peer::batches() { return data_.batches(self_, coverage_.get()); }

ModeSettings Peer::own_mode_settings(
    const PeerLog& log, std::function<void(const std::vector<PeerIndex>& missing)> waits) const {
    ModeSettings mode = mode_settings(settings_);
    mode.self = self_;
    mode.process_id = process_id_;
    mode.layers = layer_ranges(network_->tensors());
    mode.sample_budget = data_.sample_budget();
    mode.log = log.notice;
    mode.waits = std::move(waits);
    mode.resumes = resumes_;
    for (const KeptCheckpoint& it : earlier_.usable) {
        if (mode.checkpoints.size() < checkpoints_told_max) mode.checkpoints.push_back(it.id);
    }
    mode.read_checkpoint = [usable = earlier_.usable](const CheckpointId& id) {
        const auto found = std::find_if(usable.begin(), usable.end(),
                                        [&id](const KeptCheckpoint& it) { return it.id == id; });
        AKO_ASSERT(found != usable.end(), "a checkpoint that was not found before");
        Result<Checkpoint> read = read_checkpoint(found->path);
        if (!read) read.error().what = found->path + " " + read.error().what;
        return read;
    };
    mode.coverage = coverage_.get();
    return mode;
}

}  // namespace ako
