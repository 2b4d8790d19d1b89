#include "models/vector_loops.h"

namespace ako {

const VectorLoops* usable_loops(std::size_t place) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && place-- == 0) return &avx512_loops;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && place-- == 0)
        return &avx2_loops;
#endif
    return place == 0 ? &narrow_loops : nullptr;
}

const VectorLoops& vector_loops() {
    static const VectorLoops& widest = *usable_loops(0);
    return widest;
}

}  // namespace ako
