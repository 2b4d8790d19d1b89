// The numbers that golden values were made of. A function, any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ako::test {

/// The formula of tests/golden/make_layers.py; every result is exact.
inline float pattern(std::size_t k) {
    const auto bits = static_cast<std::uint32_t>(k * 2654435761u + 12345u);
    return static_cast<float>(bits >> 16) / 65536.0f - 0.5f;
}

}  // namespace ako::test
