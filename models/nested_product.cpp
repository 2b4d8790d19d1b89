#include "models/nested_product.h"

#include <algorithm>

#include "models/vector_loops.h"

namespace ako {

namespace {

/// So much of `right` is gone through again and again until all rows have had it: a part of the
/// second-level cache, whose rest is for the left factor and the result.
constexpr std::size_t right_bytes = std::size_t{128} << 10;

std::size_t divided_up(std::size_t value, std::size_t divisor) {
    return (value + divisor - 1) / divisor;
}

/// Two at a time, for then many rows fit beside them and none waits for its own last sum; an odd
/// number ends with three rather than one.
std::size_t vectors_at_once(std::size_t vectors) {
    return vectors == 3 ? 3 : std::min<std::size_t>(vectors, 2);
}

/// All rows of the product for the tile's columns and terms: `tile` is at the first row.
void add_rows(const NestedProduct& product, ProductTile tile, std::size_t vectors) {
    const TileLoops& loops = vector_loops().tiles;
    const std::size_t row_count = product.rows.inner.count;
    const std::size_t pieces = divided_up(row_count, loops.fitting_rows[vectors - 1]);
    const ProductTile first = tile;
    for (std::size_t outer = 0; outer < product.rows.outer.count; ++outer) {
        tile.left = first.left + outer * product.rows.outer.stride;
        tile.result = first.result + outer * product.outer_result_stride;
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            // Pieces are of about the same size, for few rows wait for one another's sums.
            const std::size_t rows = row_count * (piece + 1) / pieces - row_count * piece / pieces;
            loops.add[vectors - 1][rows - 1](tile);
            tile.left += rows * tile.row_stride;
            tile.result += rows * tile.result_stride;
        }
    }
}

}  // namespace

std::size_t padded_columns(std::size_t columns) {
    return divided_up(columns, vector_loops().lanes) * vector_loops().lanes;
}

void multiply(const NestedProduct& product) {
    const std::size_t lanes = vector_loops().lanes;
    const std::size_t vector_count = divided_up(product.columns, lanes);
    for (std::size_t done = 0; done < vector_count;) {
        const std::size_t vectors = vectors_at_once(vector_count - done);
        const std::size_t column = done * lanes;
        const std::size_t terms_bytes =
            std::max<std::size_t>(1, product.terms.inner.count) * vectors * lanes * sizeof(float);
        const std::size_t terms_at_once = std::max<std::size_t>(1, right_bytes / terms_bytes);
        std::size_t term = 0;
        do {  // once where there are no terms
            NestedSteps terms = product.terms;
            terms.outer.count = std::min(terms_at_once, product.terms.outer.count - term);
            const bool begins = term == 0 && product.start != nullptr;
            add_rows(product,
                     {product.left + term * terms.outer.stride, product.rows.inner.stride, terms,
                      product.right + term * terms.inner.count * product.right_stride + column,
                      product.right_stride, product.result + column, product.inner_result_stride,
                      std::min(vectors * lanes, product.columns - column),
                      begins ? product.start + column : nullptr},
                     vectors);
            term += terms_at_once;
        } while (term < product.terms.outer.count);
        done += vectors;
    }
}

}  // namespace ako
