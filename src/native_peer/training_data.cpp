#include "src/native_peer/training_data.h"

#include <filesystem>
#include <limits>

#include "ako/error.h"
#include "models/catalog.h"
#include "models/elastic.h"
#include "models/shard.h"
#include "src/config/key_places.h"
#include "src/native_peer/dataset_description.h"
#include "src/wiring/sample_budget.h"

namespace ako {

namespace {

/// Refuses a path that is no folder, before its files are looked for.
void check_folder(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) return;
    if (status.type() == fs::file_type::none)
        throw StartupError(path + ": cannot be looked at: " + error.message(),
                           "may this user open the folders above it?");
    if (fs::exists(status))
        throw StartupError(path + ": expected the folder with the data set, found a file",
                           "did you mean " + fs::path(path).parent_path().string() + "?");
    throw StartupError(path + ": there is no such folder",
                       "a path in the file is relative to that file, one of --set to the folder "
                       "in which the command is started");
}

/// What `action` makes of the data; a complaint names the key that says where they are.
template <class Action>
auto with_data(const Settings& settings, const Action& action) {
    return naming_key(settings, "data.path", [&] {
        check_folder(settings.data.path);
        return action();
    });
}

Dataset load_part(const Settings& settings, DataPart part) {
    return with_data(settings,
                     [&] { return load_dataset(settings.data, part, data_shape(settings.model)); });
}

}  // namespace

std::uint64_t training_set_size(const Settings& settings) {
    if (!needs_data(settings.model.kind)) return settings.model.samples;
    if (settings.data.sharding == Sharding::own) return samples_of_all(settings, 0);
    return load_part(settings, DataPart::train).size();
}

std::size_t training_data_bytes(const Settings& settings) {
    if (!needs_data(settings.model.kind)) return 0;
    return with_data(settings, [&] {
        return dataset_bytes(settings.data, DataPart::test) +
               dataset_bytes(settings.data, DataPart::train);
    });
}

TrainingData::TrainingData(const Settings& settings, DataParts parts)
    : settings_(settings), sample_count_(settings.model.samples) {
    if (!needs_data(settings.model.kind)) return;
    test_ = load_part(settings, DataPart::test);
    slices_.emplace(*test_);
    if (parts == DataParts::test) return;
    train_ = load_part(settings, DataPart::train);
    sample_count_ = samples_of_all(settings, train_->size());
    naming_key(settings, "data.path", [&] {  // now, and not in every peer
        check_shardable(*train_, shard_place(settings, 0).count);
    });
}

std::unique_ptr<BatchSource> TrainingData::batches(PeerIndex self, PortionSource* portions) const {
    if (!train_) return make_countless_source();
    const AugmentationSettings& augmentation = settings_.data.augmentation;
    if (portions != nullptr)
        return make_elastic_source(*train_, *portions, settings_.seed, augmentation);
    const auto [place, count] = shard_place(settings_, self);
    const bool shuffled = settings_.data.sharding == Sharding::shuffled;
    return make_shard(*train_, shuffled ? Sharding::shuffled : Sharding::disjoint, place, count,
                      settings_.seed, augmentation);
}

TestSet TrainingData::test_set() {
    // A network without data is evaluated as a whole, whatever the batch.
    if (!test_) return {1, [](std::size_t, std::size_t count) { return Batch{{}, {}, count}; }};
    return {test_->size(),
            [this](std::size_t first, std::size_t count) { return slices_->slice(first, count); }};
}

std::vector<std::string> TrainingData::notes() const {
    std::vector<std::string> all;
    for (const auto* part : {&train_, &test_})
        if (*part) all.insert(all.end(), (*part)->notes().begin(), (*part)->notes().end());
    return all;
}

std::vector<std::size_t> TrainingData::test_samples_of_class() const {
    if (!test_) return {};
    std::vector<std::size_t> samples(std::numeric_limits<std::uint8_t>::max() + 1);
    for (const std::uint8_t label : test_->labels(0, test_->size())) ++samples[label];
    return samples;
}

DataDescription TrainingData::description() const {
    DataDescription data;
    const bool own = settings_.data.sharding == Sharding::own;  // and others' may differ
    if (train_ && !own) data.train = describe(*train_);
    if (test_) data.test = describe(*test_);
    return data;
}

std::uint64_t TrainingData::sample_budget() const {
    return ako::sample_budget(settings_.training, sample_count_);
}

}  // namespace ako
