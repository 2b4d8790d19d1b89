// Vectors of as many floats as the file that includes this one may be compiled for, and whole or
// partial loads and stores of them. For the loops of vector_loops.h alone. Functions, any thread.
#pragma once

#include <cstddef>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace ako {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t lanes = 16, registers = 32;
#elif defined(__AVX2__)
constexpr std::size_t lanes = 8, registers = 16;
#else
constexpr std::size_t lanes = 4, registers = 16;
#endif

typedef float Vector __attribute__((vector_size(lanes * sizeof(float))));
typedef int Bits __attribute__((vector_size(lanes * sizeof(float))));
/// The same where no more is known of its place than of a float's.
typedef float Unaligned
    __attribute__((vector_size(lanes * sizeof(float)), aligned(alignof(float)), may_alias));

inline Vector load(const float* from) { return *reinterpret_cast<const Unaligned*>(from); }
inline void store(const Vector& vector, float* to) { *reinterpret_cast<Unaligned*>(to) = vector; }

/// The first `count` floats of a vector, at most all; the others are 0.
inline Vector load(const float* from, std::size_t count) {
    if (count == lanes) return load(from);
#if defined(__AVX512F__)
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
#else
    Vector part{};
    __builtin_memcpy(&part, from, count * sizeof(float));
    return part;
#endif
}

inline void store(const Vector& vector, float* to, std::size_t count) {
    if (count == lanes) return store(vector, to);
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), vector);
#else
    __builtin_memcpy(to, &vector, count * sizeof(float));
#endif
}

}  // namespace
}  // namespace ako
