#include "models/shard.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ako/assert.h"
#include "ako/error.h"
#include "models/random.h"

namespace ako {

namespace {

/// What a seed is used for, so that no two uses share a sequence.
constexpr std::uint64_t use_partition = 0x5348415244;            // all peers alike
constexpr std::uint64_t use_passes = 0x5041535345;               // plus the peer's index
constexpr std::uint64_t use_augmentation_of_shard = 0x4155474d;  // plus the peer's index

class Shard final : public BatchSource {
  public:
    Shard(const Dataset& dataset, std::vector<std::uint32_t> items, std::uint64_t seed,
          const Augmentation& augmentation)
        : dataset_(dataset),
          augmentation_(augmentation),
          items_(std::move(items)),
          random_(seed),
          next_(items_.size()) {}

    Batch next(std::size_t count) override {
        buffer_.resize(count, dataset_.image_elements());
        for (std::size_t place = 0; place < count; ++place) {
            begin_pass_if_due();
            buffer_.set(place, dataset_, items_[next_++], augmentation_, drawn_++);
        }
        return buffer_.batch();
    }

    void skip(std::uint64_t samples) override {
        drawn_ += samples;
        while (samples > 0) {
            begin_pass_if_due();
            const auto step = std::min<std::uint64_t>(samples, items_.size() - next_);
            next_ += static_cast<std::size_t>(step);
            samples -= step;
        }
    }

  private:
    void begin_pass_if_due() {
        if (next_ < items_.size()) return;
        shuffle(items_, random_);
        next_ = 0;
    }

    const Dataset& dataset_;
    const Augmentation augmentation_;
    std::vector<std::uint32_t> items_;  ///< in the order of this pass
    RandomStream random_;
    std::size_t next_;
    std::uint64_t drawn_ = 0;  ///< or skipped, in all passes
    BatchBuffer buffer_;
};

class CountlessSource final : public BatchSource {
  public:
    Batch next(std::size_t count) override { return {{}, {}, count}; }
    void skip(std::uint64_t) override {}
};

}  // namespace

void check_shardable(const Dataset& dataset, std::size_t peer_count) {
    if (dataset.size() < peer_count)
        throw StartupError("the data set has " + std::to_string(dataset.size()) + " items for " +
                               std::to_string(peer_count) + " peers",
                           "use fewer peers, or a larger data set");
}

std::unique_ptr<BatchSource> make_shard(const Dataset& dataset, Sharding sharding, PeerIndex self,
                                        std::size_t peer_count, std::uint64_t seed,
                                        const AugmentationSettings& augmentation) {
    AKO_ASSERT(self < peer_count,
               "peer " + std::to_string(self) + " of " + std::to_string(peer_count));
    AKO_ASSERT(dataset.size() <= UINT32_MAX, std::to_string(dataset.size()) + " items");
    check_shardable(dataset, peer_count);
    std::vector<std::uint32_t> items(dataset.size());
    std::iota(items.begin(), items.end(), 0u);
    if (sharding == Sharding::disjoint) {
        RandomStream common(derive_seed(seed, use_partition));
        shuffle(items, common);
        const Range own = disjoint_shard(items.size(), self, peer_count);
        const auto first = items.begin() + static_cast<std::ptrdiff_t>(own.first);
        items = std::vector<std::uint32_t>(first, first + static_cast<std::ptrdiff_t>(own.count));
    }
    const std::uint64_t own = std::uint64_t{self} << 40;
    return std::make_unique<Shard>(
        dataset, std::move(items), derive_seed(seed, use_passes + own),
        Augmentation(augmentation, derive_seed(seed, use_augmentation_of_shard + own)));
}

std::unique_ptr<BatchSource> make_countless_source() { return std::make_unique<CountlessSource>(); }

}  // namespace ako
