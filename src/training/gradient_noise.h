// The gradient noise scale: the batch from which on more samples per step are worth less and less.
// With G the gradient and Sigma the covariance of that of one sample, it is tr(Sigma) / |G|^2 (S.
// McCandlish, J. Kaplan, D. Amodei et al.: "An Empirical Model of Large-Batch Training", 2018,
// appendix A.1). The squared norm of a gradient of b samples is |G|^2 + tr(Sigma) / b in the mean,
// so those of a batch and of its parts tell both. A value; any thread.
#pragma once

#include <optional>

#include "ako/network.h"

namespace ako {

class GradientNoise {
  public:
    /// Means over about so many rounds, for one round alone says hardly anything.
    static constexpr double rounds = 50;

    void add(const GradientNorms& norms);
    /// In samples. Nothing before the first round, and where the gradient is lost in its noise.
    std::optional<double> scale() const;

  private:
    // Sums in which what is old fades: what matters is their ratio.
    double gradient_ = 0;  ///< |G|^2
    double noise_ = 0;     ///< tr(Sigma)
};

inline void GradientNoise::add(const GradientNorms& norms) {
    const double part = norms.samples_of_part;
    const double whole = norms.samples;
    const double gradient = (whole * norms.of_whole - part * norms.of_part) / (whole - part);
    const double noise = (norms.of_part - norms.of_whole) / (1 / part - 1 / whole);
    constexpr double kept = 1 - 1 / rounds;
    gradient_ = kept * gradient_ + gradient;
    noise_ = kept * noise_ + noise;
}

inline std::optional<double> GradientNoise::scale() const {
    if (gradient_ <= 0) return std::nullopt;
    return noise_ > 0 ? noise_ / gradient_ : 0;
}

}  // namespace ako
