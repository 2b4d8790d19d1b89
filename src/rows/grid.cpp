// See grid.h.
#include "src/rows/grid.h"

#include <algorithm>
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
    float squares = 0;
    for (const float element : update) squares += element * element;
    const float typical = std::sqrt(squares / static_cast<float>(update.size()));
    const std::optional<Grid> coarse = of(largest, 1);
    const bool enough = coarse && coarse->step() <= rounds_per_step_max * typical;
    return enough || largest == 0 ? coarse : of(largest, 2);
}

float Grid::whole(float value) const {
    // Added and taken away again, this leaves the nearest whole number, ties to even: what
    // nearbyint does, in a form of which the compiler makes vectors.
    constexpr float shift = 12'582'912.0f;  // 1.5 * 2^23
    const float scaled = value * per_step_;
    return (scaled + shift) - shift;
}

float largest_of(std::span<const float> values) {
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    return largest;
}

}  // namespace ako
