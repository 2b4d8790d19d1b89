// What a dense layer does with biases, one for each column of a row-major matrix. Functions, any
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "models/eigen_maps.h"

namespace ako {

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
