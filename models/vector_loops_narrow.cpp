// The loops for any processor.
#include "models/norm_loops.h"
#include "models/pool_loops.h"
#include "models/product_loops.h"
#include "models/vector_loops.h"

namespace ako {

constexpr VectorLoops narrow_loops{lanes, tile_loops(), pool_loops(), norm_loops()};

}  // namespace ako
