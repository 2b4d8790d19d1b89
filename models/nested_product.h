// A matrix product whose left factor need not lie in memory as a matrix does: its rows are counted
// by two nested loops, its columns by two more, each with a stride. Windows of an image are such
// rows, so that a convolution, its gradient and that of its input are three products each, without
// a copy of the windows (as in Zhang, Franchetti, Low, "High Performance Zero-Memory Overhead
// Direct Convolutions", 2018):
//
//   result[i, j] = start + sum over k of left[i, k] * right[k, j]
//
// The loops are compiled for several widths of vectors; the widest that the processor has is taken.
// The order of sums depends on nothing else. A function, any thread.
#pragma once

#include <cstddef>

namespace ako {

/// What two nested loops visit: outer.count times inner.count places. Strides in floats.
struct NestedSteps {
    struct Steps {
        std::size_t count, stride;
    };
    Steps outer, inner;
};

/// Rows of `right` and of a `start` have columns up to a multiple of this, whose values reach no
/// result.
std::size_t padded_columns(std::size_t columns);

struct NestedProduct {
    const float* left;
    NestedSteps rows;   ///< i
    NestedSteps terms;  ///< k
    const float* right;
    std::size_t right_stride;  ///< from a row to the next
    std::size_t columns;       ///< j
    float* result;             ///< overlaps none of the others; nor do its rows of one inner loop
    std::size_t outer_result_stride, inner_result_stride;  ///< between rows, as `rows` counts them
    const float* start;  ///< a row that every row starts from; null: from what `result` holds
};

void multiply(const NestedProduct& product);

}  // namespace ako
