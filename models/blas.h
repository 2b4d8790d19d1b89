// Matrix products by OpenBLAS; its headers are included nowhere else. One thread at a time, before
// and after as during a product: OpenBLAS forks and joins its own threads beneath the call.
#pragma once

#include <cstddef>
#include <string>

namespace ako {

/// How many threads a matrix product uses, for the whole process; at least 1. See workers.h.
void set_blas_threads(unsigned count);

/// OpenBLAS before 0.3.25 takes every Intel CPU newer than itself for a Prescott of 2004 and uses
/// no AVX, which costs a factor of three to four (OpenBLAS issue 4267). Where that has happened on
/// a CPU with AVX2 this picks the right kernels, unless the user has set OPENBLAS_CORETYPE. To be
/// called before other threads start; calling it again does nothing. `make_network` does.
void select_blas_kernels();

/// The kernels in use, as OpenBLAS names them: "Haswell", "SkylakeX", "Zen".
std::string blas_kernels();

/// A row-major matrix. `rows` and `columns` are those of the stored matrix; `transposed` makes a
/// product read it as [columns x rows].
struct Matrix {
    const float* data = nullptr;
    std::size_t rows = 0;
    std::size_t columns = 0;
    bool transposed = false;
    std::size_t stride = columns;  ///< from a row to the next, in elements

    Matrix transpose() const { return {data, rows, columns, !transposed, stride}; }
    /// So many columns of the stored matrix.
    Matrix columns_from(std::size_t first, std::size_t count) const {
        return {data + first, rows, count, transposed, stride};
    }
};

enum class Product { overwrite, accumulate };

/// result = a b, or result += a b; `result` is row-major and overlaps neither. Its rows lie without
/// gaps, or `result_stride` elements apart.
void multiply(const Matrix& a, const Matrix& b, float* result, Product product,
              std::size_t result_stride = 0);

}  // namespace ako
