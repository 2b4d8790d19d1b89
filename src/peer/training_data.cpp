#include "src/peer/training_data.h"

#include <algorithm>
#include <cmath>

#include "models/catalog.h"
#include "models/shard.h"

namespace ako {

WorkerPlace place_among_workers(const Settings& settings, PeerIndex self) {
    WorkerPlace place;
    for (PeerIndex peer = 0; peer < settings.peers.size(); ++peer) {
        if (settings.peers[peer].role != Role::worker) continue;
        if (peer < self) ++place.place;
        ++place.count;
    }
    return place;
}

std::uint64_t training_set_size(const Settings& settings) {
    if (!needs_data(settings.model.kind)) return settings.model.samples;
    return load_dataset(settings.data, DataPart::train, data_shape(settings.model)).size();
}

std::size_t training_data_bytes(const Settings& settings) {
    if (!needs_data(settings.model.kind)) return 0;
    return dataset_bytes(settings.data, DataPart::test) +
           dataset_bytes(settings.data, DataPart::train);
}

TrainingData::TrainingData(const Settings& settings, DataParts parts)
    : settings_(settings), sample_count_(settings.model.samples) {
    if (!needs_data(settings.model.kind)) return;
    const DataShape wanted = data_shape(settings.model);
    test_ = load_dataset(settings.data, DataPart::test, wanted);
    slices_.emplace(*test_);
    if (parts == DataParts::test) return;
    train_ = load_dataset(settings.data, DataPart::train, wanted);
    sample_count_ = train_->size();
    check_shardable(*train_, settings.peers.size());  // now, and not in every peer
}

std::unique_ptr<BatchSource> TrainingData::batches(PeerIndex self) const {
    if (!train_) return make_countless_source();
    const auto [place, count] = place_among_workers(settings_, self);
    return make_shard(*train_, settings_.data.sharding, place, count, settings_.seed);
}

TestSet TrainingData::test_set() {
    // A network without data is evaluated as a whole, whatever the batch.
    if (!test_) return {1, [](std::size_t, std::size_t count) { return Batch{{}, {}, count}; }};
    return {test_->size(),
            [this](std::size_t first, std::size_t count) { return slices_->slice(first, count); }};
}

std::uint64_t TrainingData::sample_budget() const {
    const double samples = settings_.training.epochs * static_cast<double>(sample_count_);
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(samples)));
}

}  // namespace ako
