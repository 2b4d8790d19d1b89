// Spans of numbers as arrays of Eigen, whose headers are included nowhere else: an expression over
// whole arrays then stands where a loop over elements would. A view lies in the memory of the span
// and owns none, and no expression in this folder allocates any. Functions, any thread.
#pragma once

#define EIGEN_DONT_PARALLELIZE  // threads are the program's, even where OpenMP is switched on
#include <Eigen/Core>
#include <cstddef>
#include <span>

namespace ako {

using ArrayView = Eigen::Map<Eigen::ArrayXf>;
using ConstArrayView = Eigen::Map<const Eigen::ArrayXf>;

/// Rows one after the other, as those of a batch lie, or the positions of an image.
using RowMajorArray = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowsView = Eigen::Map<RowMajorArray>;
using ConstRowsView = Eigen::Map<const RowMajorArray>;

inline Eigen::Index eigen_index(std::size_t value) { return static_cast<Eigen::Index>(value); }

inline ArrayView as_array(std::span<float> values) {
    return {values.data(), eigen_index(values.size())};
}
inline ConstArrayView as_array(std::span<const float> values) {
    return {values.data(), eigen_index(values.size())};
}

/// Rows of `columns` numbers, as many as there are.
inline RowsView as_rows(std::span<float> values, std::size_t columns) {
    return {values.data(), eigen_index(values.size() / columns), eigen_index(columns)};
}
inline ConstRowsView as_rows(std::span<const float> values, std::size_t columns) {
    return {values.data(), eigen_index(values.size() / columns), eigen_index(columns)};
}

}  // namespace ako
