// The grid of a block: a row is rounded where it grows, so that it travels in few bits and every
// copy of it is still bitwise what its owner made. A value on a grid is a whole number of at most
// 8 or 16 bits times a power of two, which is the least with which the block's largest value fits;
// so whoever holds the values knows the grid. What rounding cuts off is carried to the next round
// (error feedback; F. Seide, H. Fu, J. Droppo, G. Li, D. Yu: "1-Bit Stochastic Gradient Descent and
// its Application to Data-Parallel Distributed Training of Speech DNNs", 2014). Values; any thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ako {

class Grid {
  public:
    /// A step of 8 bits is at most so many times the root mean square of what a round adds: a
    /// typical element crosses one in that many rounds or sooner, and one that grows more slowly
    /// waits in the carry. Measured in experiments/update-rule.
    static constexpr float rounds_per_step_max = 32;

    /// With whole numbers of so many bytes, 1 or 2, for values of at most `largest`; nothing if the
    /// step would not be a normal number.
    static std::optional<Grid> of(float largest, unsigned bytes);
    Grid(unsigned bytes, int exponent);

    /// For sums of at most `largest`, to which a round adds `update`, [element count of the block]:
    /// of 8 bits if that is fine enough, else of 16. Nothing: float32 as it is.
    static std::optional<Grid> fitting(float largest, std::span<const float> update);

    unsigned bytes() const { return bytes_; }
    int exponent() const { return exponent_; }
    float step() const { return step_; }
    /// The nearest on the grid.
    float rounded(float value) const { return step_ * whole(value); }
    /// How many steps it is, rounded: added to 1.5 * 2^23 and taken away again, what is left is the
    /// nearest whole number, ties to even, in a form of which the compiler makes vectors.
    float whole(float value) const {
        constexpr float shift = 12'582'912.0f;
        return (value * per_step_ + shift) - shift;
    }

  private:
    unsigned bytes_;
    int exponent_;  ///< step = 2^exponent
    float step_;
    float per_step_;  ///< 1 / step
};

/// The largest magnitude in a block of finite values. Without its sign a float32 compares as its
/// bits do.
inline float largest_of(std::span<const float> values) {
    std::uint32_t lanes[8] = {};
    const auto magnitude = [](float value) {
        return std::bit_cast<std::uint32_t>(value) & 0x7fff'ffffU;
    };
    std::size_t k = 0;
    for (; k + 8 <= values.size(); k += 8) {
        for (std::size_t lane = 0; lane < 8; ++lane)
            lanes[lane] = std::max(lanes[lane], magnitude(values[k + lane]));
    }
    for (; k < values.size(); ++k) lanes[0] = std::max(lanes[0], magnitude(values[k]));
    return std::bit_cast<float>(*std::max_element(lanes, lanes + 8));
}

}  // namespace ako
