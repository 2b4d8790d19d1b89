// See grid.h.
#include "src/rows/grid.h"

#include <cmath>

namespace ako {
namespace {

/// Below and above it the step, or what one step is divided by, is no normal float.
constexpr int exponent_max = 100;

constexpr double whole_max(unsigned bytes) { return bytes == 1 ? 127 : 32767; }

}  // namespace

std::optional<Grid> Grid::of(float largest, unsigned bytes) {
    if (!std::isfinite(largest)) return std::nullopt;
    if (largest == 0) return Grid(bytes, 0);
    int exponent = 0;
    const double share = std::frexp(static_cast<double>(largest) / whole_max(bytes), &exponent);
    if (share == 0.5) --exponent;  // a power of two already
    if (std::abs(exponent) > exponent_max) return std::nullopt;
    return Grid(bytes, exponent);
}

Grid::Grid(unsigned bytes, int exponent)
    : bytes_(bytes),
      exponent_(exponent),
      step_(std::ldexp(1.0f, exponent)),
      per_step_(std::ldexp(1.0f, -exponent)) {}

std::optional<Grid> Grid::fitting(float largest, std::span<const float> update) {
    float squares[8] = {};
    for (std::size_t k = 0; k < update.size(); ++k) squares[k % 8] += update[k] * update[k];
    float sum = 0;
    for (const float lane : squares) sum += lane;
    const float typical = std::sqrt(sum / static_cast<float>(update.size()));
    const std::optional<Grid> coarse = of(largest, 1);
    const bool enough = coarse && coarse->step() <= rounds_per_step_max * typical;
    return enough || largest == 0 ? coarse : of(largest, 2);
}

}  // namespace ako
