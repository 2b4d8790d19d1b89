// How far apart two parameter vectors are.
#pragma once

#include <cmath>
#include <span>

namespace ako::sim {

/// |a - b| / |b|, Euclidean.
inline double relative_distance(std::span<const float> a, std::span<const float> b) {
    double square = 0, norm = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        square += std::pow(static_cast<double>(a[k]) - b[k], 2);
        norm += std::pow(static_cast<double>(b[k]), 2);
    }
    return std::sqrt(square / norm);
}

}  // namespace ako::sim
