// The data of one peer: its data shard, and the test set for the trainer; or, for `synthetic`,
// neither. Compute thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ako/data_description.h"
#include "ako/network.h"
#include "ako/portions.h"
#include "models/dataset.h"
#include "src/config/cluster_settings.h"
#include "src/training/evaluation.h"
#include "src/wiring/settings_of_mode.h"

namespace ako {

/// Samples in the training set, of which `epochs` counts. Loads it; throws StartupError as below.
std::uint64_t training_set_size(const Settings& settings);

/// What TrainingData will take once it is loaded; reads headers and sizes of files alone. Throws
/// StartupError if there are no such files.
std::size_t training_data_bytes(const Settings& settings);

/// A program that only judges a model needs no training set.
enum class DataParts { all, test };

class TrainingData {
  public:
    /// Loads what the model needs. Throws StartupError (missing, damaged, does not fit the model).
    explicit TrainingData(const Settings& settings, DataParts parts = DataParts::all);
    TrainingData(const TrainingData&) = delete;  // batches point into the sets
    TrainingData& operator=(const TrainingData&) = delete;

    /// The batches of one peer; `portions`: where data shards follow the live peers, else null.
    /// Must not outlive either.
    std::unique_ptr<BatchSource> batches(PeerIndex self, PortionSource* portions = nullptr) const;
    /// Must not outlive this.
    TestSet test_set();
    /// Samples in the training set of this peer.
    std::uint64_t held() const { return train_ ? train_->size() : 0; }
    /// And in those of all peers, of which `epochs` counts.
    std::uint64_t sample_count() const { return sample_count_; }
    std::uint64_t sample_budget() const;
    /// What was changed as they were read, a line each.
    std::vector<std::string> notes() const;
    /// Samples of each class in the test set; empty without one.
    std::vector<std::size_t> test_samples_of_class() const;
    /// Describes the data that is used and is the same at all peers; reads all of it.
    DataDescription description() const;

  private:
    const Settings& settings_;
    std::optional<Dataset> train_;
    std::optional<Dataset> test_;
    std::optional<SequentialBatches> slices_;
    std::uint64_t sample_count_ = 0;
};

}  // namespace ako
