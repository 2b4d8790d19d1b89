// The loops of a tile of a nested product; for the files vector_loops_* alone. Functions, any
// thread.
#pragma once

#include "models/product_tile.h"
#include "models/vectors.h"

namespace ako {
namespace {

constexpr std::size_t fitting_rows(std::size_t vectors) {
    // The sums of a row, and beside all of them a row of `right` and one number of `left`.
    const std::size_t rows = (registers - 1 - vectors) / vectors;
    return rows < TileLoops::rows_most ? rows : TileLoops::rows_most;
}

template <std::size_t vectors>
void load_row(const float* from, std::size_t columns, Vector* row) {
    for (std::size_t v = 0; v + 1 < vectors; ++v) row[v] = load(from + v * lanes);
    constexpr std::size_t before = (vectors - 1) * lanes;
    row[vectors - 1] = load(from + before, columns - before);
}

template <std::size_t vectors>
void store_row(const Vector* row, std::size_t columns, float* to) {
    for (std::size_t v = 0; v + 1 < vectors; ++v) store(row[v], to + v * lanes);
    constexpr std::size_t before = (vectors - 1) * lanes;
    store(row[vectors - 1], to + before, columns - before);
}

template <std::size_t vectors, std::size_t rows>
void add_terms(const ProductTile& tile) {
    Vector sums[rows][vectors];
    for (std::size_t i = 0; i < rows; ++i)
        if (tile.start != nullptr)
            load_row<vectors>(tile.start, vectors * lanes, sums[i]);
        else
            load_row<vectors>(tile.result + i * tile.result_stride, tile.columns, sums[i]);
    const float* right = tile.right;
    for (std::size_t outer = 0; outer < tile.terms.outer.count; ++outer) {
        const float* left = tile.left + outer * tile.terms.outer.stride;
        for (std::size_t inner = 0; inner < tile.terms.inner.count; ++inner) {
            Vector row[vectors];
            load_row<vectors>(right, vectors * lanes, row);
            for (std::size_t i = 0; i < rows; ++i) {
                const float number = left[i * tile.row_stride];
                for (std::size_t v = 0; v < vectors; ++v) sums[i][v] += number * row[v];
            }
            left += tile.terms.inner.stride;
            right += tile.right_stride;
        }
    }
    for (std::size_t i = 0; i < rows; ++i)
        store_row<vectors>(sums[i], tile.columns, tile.result + i * tile.result_stride);
}

template <std::size_t vectors, std::size_t rows>
constexpr void enter(TileLoops& loops) {
    loops.add[vectors - 1][rows - 1] = add_terms<vectors, rows>;
    if constexpr (rows < fitting_rows(vectors)) enter<vectors, rows + 1>(loops);
}

constexpr TileLoops tile_loops() {
    TileLoops loops{{fitting_rows(1), fitting_rows(2), fitting_rows(3)}, {}};
    enter<1, 1>(loops);
    enter<2, 1>(loops);
    enter<3, 1>(loops);
    return loops;
}

}  // namespace
}  // namespace ako
