// When the global batch is worth doubling, by the noise of gradients: as long as it stays below the
// gradient noise scale B_noise, twice the samples make a step worth nearly twice as much. Of S
// steps and E samples to a given loss, training with the batch B takes
//
//     S = S_min (1 + B_noise / B)        E = E_min (1 + B / B_noise)
//
// (S. McCandlish, J. Kaplan, D. Amodei et al.: "An Empirical Model of Large-Batch Training", 2018),
// so that with B = B_noise both are twice their least. Measured, that batch costs less: see
// experiments/large-batches. The noise scale rises while the loss falls, and the batch follows; it
// never shrinks.
// Compute thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "src/numbers/batch_plan.h"

namespace ako {

class BatchGrowth {
  public:
    /// Between two doublings, and before the first: in fewer rounds nothing is known of the noise.
    static constexpr unsigned rounds_min = 100;

    explicit BatchGrowth(const BatchPlan& plan) : plan_(plan) {}

    /// Others know, or the run that is gone on with did: at least so many are due.
    void hear_of(std::uint64_t doublings) {
        wish_ = std::max(wish_, static_cast<unsigned>(
                                    std::min<std::uint64_t>(doublings, BatchPlan::doublings_max)));
    }
    /// A round was made with the batch doubled so many times.
    void end_round(double progress, unsigned doublings, std::optional<double> noise_scale) {
        if (!plan_.grows_by_noise()) return;
        if (doublings != doublings_) rounds_ = 0;
        doublings_ = doublings;
        hear_of(doublings);
        if (++rounds_ < rounds_min || !noise_scale || doublings >= BatchPlan::doublings_max) return;
        const auto next = static_cast<double>(plan_.global(progress, doublings + 1));
        if (next <= *noise_scale) wish_ = doublings + 1;
    }
    /// So many doublings are due, as far as this peer knows.
    unsigned wish() const { return wish_; }

  private:
    const BatchPlan plan_;
    unsigned doublings_ = 0;
    unsigned rounds_ = 0;  ///< with these
    unsigned wish_ = 0;
};

}  // namespace ako
