// Loops over a row-major matrix that dense and convolution share. Functions, any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace ako {

/// Sets every row of `matrix` [row_count x row.size()] to `row`: biases, before a product is added.
inline void fill_rows(std::span<const float> row, std::size_t row_count, float* matrix) {
    // What is filled already is copied, twice as much each time: a few long copies are faster than
    // many short ones.
    const std::size_t element_count = row_count * row.size();
    std::size_t filled = std::min(row.size(), element_count);
    std::copy(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(filled), matrix);
    while (filled < element_count) {
        const std::size_t copied = std::min(filled, element_count - filled);
        std::copy(matrix, matrix + copied, matrix + filled);
        filled += copied;
    }
}

/// Adds `row` to every row of `matrix` [row_count x row.size()].
inline void add_to_rows(std::span<const float> row, std::size_t row_count, float* matrix) {
    for (std::size_t r = 0; r < row_count; ++r) {
        float* __restrict sum = matrix + r * row.size();
        for (std::size_t k = 0; k < row.size(); ++k) sum[k] += row[k];
    }
}

/// sums += the sum of all rows of `matrix` [row_count x sums.size()]: the gradient of biases.
inline void add_row_sums(const float* matrix, std::size_t row_count, std::span<float> sums) {
    for (std::size_t r = 0; r < row_count; ++r) {
        const float* __restrict row = matrix + r * sums.size();
        float* __restrict sum = sums.data();
        for (std::size_t k = 0; k < sums.size(); ++k) sum[k] += row[k];
    }
}

}  // namespace ako
