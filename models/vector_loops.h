// The innermost loops, compiled for several widths of vectors: the program takes the widest that
// its processor has. The files vector_loops_* use nothing of the standard library, for the linker
// keeps one copy of an inline function and could take it for processors of another kind. Constant;
// any thread.
#pragma once

#include <cstddef>

#include "models/normalised_image.h"
#include "models/pooled_image.h"
#include "models/product_tile.h"

namespace ako {

struct VectorLoops {
    std::size_t lanes;  ///< floats of a vector
    TileLoops tiles;
    PoolLoops pool;
    NormLoops norm;
};

extern const VectorLoops narrow_loops;  ///< of any processor
#if defined(__x86_64__)
extern const VectorLoops avx2_loops;
extern const VectorLoops avx512_loops;
#endif

/// The loops that this processor can run, from the widest (`place` 0) down; null: no more.
const VectorLoops* usable_loops(std::size_t place);

/// The widest.
const VectorLoops& vector_loops();

}  // namespace ako
