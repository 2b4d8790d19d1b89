// What dense and convolution do with biases, one for each column of a row-major matrix. Functions,
// any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "models/eigen_maps.h"

namespace ako {

/// Sets every row of `matrix` [row_count x row.size()] to `row`: biases, before a product is added.
inline void fill_rows(std::span<const float> row, std::size_t row_count, float* matrix) {
    // What is filled already is copied, twice as much each time: a few long copies are faster than
    // many short ones, and up to four times as fast as Eigen's.
    const std::size_t element_count = row_count * row.size();
    std::size_t filled = std::min(row.size(), element_count);
    std::copy(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(filled), matrix);
    while (filled < element_count) {
        const std::size_t copied = std::min(filled, element_count - filled);
        std::copy(matrix, matrix + copied, matrix + filled);
        filled += copied;
    }
}

/// Adds `row` to every row of `matrix` [any number x row.size()].
inline void add_to_rows(std::span<const float> row, std::span<float> matrix) {
    as_rows(matrix, row.size()).rowwise() += as_array(row).transpose();
}

/// sums += the sum of all rows of `matrix` [any number x sums.size()]: the gradient of biases.
inline void add_row_sums(std::span<const float> matrix, std::span<float> sums) {
    // A few columns at a time are summed from top to bottom; so few rows stay in the first-level
    // cache meanwhile.
    constexpr Eigen::Index rows_at_once = 64;
    const auto rows = as_rows(matrix, sums.size());
    auto sum = as_array(sums).transpose();
    for (Eigen::Index first = 0; first < rows.rows(); first += rows_at_once)
        sum += rows.middleRows(first, std::min(rows_at_once, rows.rows() - first)).colwise().sum();
}

}  // namespace ako
