// Memory for the largest batch seen, of which a smaller one takes the front. A function, any
// thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ako {

/// The first so many elements; `memory` grows where it has fewer.
inline std::span<float> room_of(std::vector<float>& memory, std::size_t elements) {
    if (memory.size() < elements) memory.resize(elements);
    return std::span(memory).first(elements);
}

}  // namespace ako
