// What most simulated peers learn: a quadratic whose optimum each of them sees elsewhere, so that
// only together they find the middle. Constant after construction.
#pragma once

#include <span>
#include <vector>

#include "ako/types.h"
#include "tests/sim/world.h"

namespace ako::sim {

class Quadratic {
  public:
    Quadratic(Random& random, std::size_t element_count, std::size_t peer_count)
        : initial_(draw(random, element_count)) {
        for (std::size_t peer = 0; peer < peer_count; ++peer) {
            optima_.push_back(draw(random, element_count));
        }
    }

    std::span<const float> initial() const { return initial_; }

    void gradient(PeerIndex peer, std::span<const float> at, Random& noise,
                  std::span<float> out) const {
        for (std::size_t k = 0; k < at.size(); ++k) {
            out[k] = at[k] - optima_[peer][k] + static_cast<float>(noise.real(-0.1, 0.1));
        }
    }

    /// The loss of all peers together, less what is left at their optimum.
    double loss(std::span<const float> at) const {
        double sum = 0;
        for (std::size_t k = 0; k < at.size(); ++k) {
            double mean = 0;
            for (const auto& optimum : optima_) mean += optimum[k];
            mean /= static_cast<double>(optima_.size());
            sum += (at[k] - mean) * (at[k] - mean);
        }
        return sum / 2;
    }

  private:
    static std::vector<float> draw(Random& random, std::size_t count) {
        std::vector<float> drawn;
        for (std::size_t k = 0; k < count; ++k) {
            drawn.push_back(static_cast<float>(random.real(-1, 1)));
        }
        return drawn;
    }

    std::vector<float> initial_;
    std::vector<std::vector<float>> optima_;  ///< [peer]: of its share of the data
};

}  // namespace ako::sim
