#include "models/blas.h"

#include <cblas.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "ako/assert.h"

#if defined(__x86_64__)
// Exported by OpenBLAS builds that choose kernels at run time, though not declared in its headers;
// weak, so that a build without them links as well. `init` reads OPENBLAS_CORETYPE.
extern "C" {
__attribute__((weak)) void gotoblas_dynamic_quit();
__attribute__((weak)) void gotoblas_dynamic_init();
}
#endif

namespace ako {

namespace {

blasint blas_int(std::size_t value) {
    AKO_ASSERT(value <= INT_MAX, "matrix extent " + std::to_string(value));
    return static_cast<blasint>(value);
}

}  // namespace

void set_blas_threads(unsigned count) {
    openblas_set_num_threads(static_cast<int>(std::clamp(count, 1u, 1024u)));
}

std::string blas_kernels() { return openblas_get_corename(); }

void select_blas_kernels() {
#if defined(__x86_64__)
    if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr) return;
    if (std::string_view(openblas_get_corename()) != "Prescott") return;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
    constexpr const char* variable = "OPENBLAS_CORETYPE";
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread of ours is there yet
    if (std::getenv(variable) != nullptr) return;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    setenv(variable, avx512 ? "SkylakeX" : "Haswell", 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv(variable);
    // NOLINTEND(concurrency-mt-unsafe)
#endif
}

void multiply(const Matrix& a, const Matrix& b, float* result, Product product,
              std::size_t result_stride) {
    const std::size_t rows = a.transposed ? a.columns : a.rows;
    const std::size_t inner = a.transposed ? a.rows : a.columns;
    const std::size_t columns = b.transposed ? b.rows : b.columns;
    AKO_ASSERT(inner == (b.transposed ? b.columns : b.rows),
               "product of matrices with inner extents " + std::to_string(inner) + " and " +
                   std::to_string(b.transposed ? b.columns : b.rows));
    cblas_sgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
                b.transposed ? CblasTrans : CblasNoTrans, blas_int(rows), blas_int(columns),
                blas_int(inner), 1.0f, a.data, blas_int(a.stride), b.data, blas_int(b.stride),
                product == Product::accumulate ? 1.0f : 0.0f, result,
                blas_int(result_stride == 0 ? columns : result_stride));
}

}  // namespace ako
