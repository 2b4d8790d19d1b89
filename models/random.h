// The program's own random numbers: integers only, so the same bits come out on every machine and
// from every compiler. Values and functions; no shared state, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace ako {

/// One output of SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014): a bijection of 64 bits that mixes well, also for counters.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// A seed of its own for each of several uses of one seed.
constexpr std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t use) {
    return mix_bits(seed ^ mix_bits(use));
}

/// The upper 24 bits as an odd multiple of 2^-24 in (-1, 1), mean 0: exact in a float, so no
/// rounding can differ between machines.
constexpr float symmetric_unit(std::uint64_t bits) {
    const auto odd = static_cast<std::int32_t>(2 * (bits >> 40) + 1) - (1 << 24);
    return static_cast<float>(odd) * 0x1p-24f;
}

/// A sequence of random integers.
class RandomStream {
  public:
    explicit RandomStream(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        const std::uint64_t bits = mix_bits(state_);
        state_ += 0x9e3779b97f4a7c15u;
        return bits;
    }

    /// Uniform in [0, bound), bound >= 1; the few values that would favour small results are drawn
    /// again.
    std::uint64_t below(std::uint64_t bound) {
        const std::uint64_t excess = (UINT64_MAX % bound + 1) % bound;
        std::uint64_t bits = next();
        while (bits > UINT64_MAX - excess) bits = next();
        return bits % bound;
    }

  private:
    std::uint64_t state_;
};

/// Fisher-Yates (Durstenfeld 1964): every order is equally likely. std::shuffle leaves its use of
/// the generator to the library, so its orders differ between libraries.
inline void shuffle(std::span<std::uint32_t> values, RandomStream& random) {
    for (std::size_t i = values.size(); i > 1; --i)
        std::swap(values[i - 1], values[random.below(i)]);
}

}  // namespace ako
