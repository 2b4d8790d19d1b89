// The loops for processors with AVX2 and FMA.
#include "models/norm_loops.h"
#include "models/pool_loops.h"
#include "models/product_loops.h"
#include "models/vector_loops.h"

namespace ako {

#if defined(__x86_64__)
constexpr VectorLoops avx2_loops{lanes, tile_loops(), pool_loops(), norm_loops()};
#endif

}  // namespace ako
