// A tile of a nested product: a few rows and a few vectors of columns, which stay in registers
// while all terms are added. A value.
#pragma once

#include <cstddef>

#include "models/nested_product.h"

namespace ako {

struct ProductTile {
    const float* left;
    std::size_t row_stride;
    NestedSteps terms;
    const float* right;
    std::size_t right_stride;
    float* result;
    std::size_t result_stride;
    std::size_t columns;  ///< that are written: some of the last vector and all of those before
    const float* start;   ///< as in NestedProduct
};

/// The loops of a tile, for one width of vectors.
struct TileLoops {
    static constexpr std::size_t vectors_most = 3;
    static constexpr std::size_t rows_most = 12;

    /// Rows that fit into the registers beside [v + 1] vectors.
    std::size_t fitting_rows[vectors_most];
    /// For [v + 1] vectors and [r + 1] rows; null for more rows than fit.
    void (*add[vectors_most][rows_most])(const ProductTile&);
};

}  // namespace ako
