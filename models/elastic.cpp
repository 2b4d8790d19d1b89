#include "models/elastic.h"

#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "models/random.h"
#include "models/shard.h"

namespace ako {
namespace {

/// See shard.cpp: no two uses of a seed share a sequence.
constexpr std::uint64_t use_elastic = 0x454c4153544943;
constexpr std::uint64_t use_augmentation_of_portions = 0x4155474d454c;

/// Passes that a peer may go between: the one that is nearly over, and the next.
constexpr std::size_t orders_max = 2;

class ElasticSource final : public BatchSource {
  public:
    ElasticSource(const Dataset& dataset, PortionSource& portions, std::uint64_t seed,
                  const AugmentationSettings& augmentation)
        : dataset_(dataset),
          portions_(portions),
          seed_(seed),
          augmentation_(augmentation, derive_seed(seed, use_augmentation_of_portions)) {}

    Batch next(std::size_t count) override {
        buffer_.resize(count, dataset_.image_elements());
        for (std::size_t place = 0; place < count;) {
            if (!taken_) take();
            const std::vector<std::uint32_t>& order = order_of(taken_->pass);
            for (; place < count && next_ < range_.count; ++place, ++next_) {
                const std::size_t item = range_.first + next_;
                buffer_.set(place, dataset_, order[item], augmentation_,
                            (std::uint64_t{taken_->pass} << 32) + item);
            }
            const bool all = next_ == range_.count;
            portions_.given(*taken_, next_, all);
            if (all) taken_.reset();
        }
        return buffer_.batch();
    }

    /// What has been trained on, those who say what is next know.
    void skip(std::uint64_t) override {}

  private:
    void take() {
        const PortionSource::Taken taken = portions_.take();
        taken_ = taken.portion;
        range_ = disjoint_shard(dataset_.size(), taken.portion.place, portions_.portion_count());
        next_ = std::min(taken.first, range_.count);
    }

    const std::vector<std::uint32_t>& order_of(std::uint32_t pass) {
        if (const auto known = orders_.find(pass); known != orders_.end()) return known->second;
        if (orders_.size() == orders_max) orders_.erase(orders_.begin());  // the oldest pass
        std::vector<std::uint32_t>& order = orders_[pass];
        order.resize(dataset_.size());
        std::iota(order.begin(), order.end(), 0u);
        RandomStream random(derive_seed(derive_seed(seed_, use_elastic), pass));
        shuffle(order, random);
        return order;
    }

    const Dataset& dataset_;
    PortionSource& portions_;
    const std::uint64_t seed_;
    const Augmentation augmentation_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> orders_;  ///< by pass
    std::optional<Portion> taken_;
    Range range_;           ///< of it, in the order of its pass
    std::size_t next_ = 0;  ///< in it
    BatchBuffer buffer_;
};

}  // namespace

std::unique_ptr<BatchSource> make_elastic_source(const Dataset& dataset, PortionSource& portions,
                                                 std::uint64_t seed,
                                                 const AugmentationSettings& augmentation) {
    return std::make_unique<ElasticSource>(dataset, portions, seed, augmentation);
}

}  // namespace ako
