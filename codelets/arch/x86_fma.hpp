#pragma once
// Fused multiply-add and streaming stores of the x86 vector widths up to 32 bytes.
#include <immintrin.h>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

typedef float float1 __attribute__((vector_size(4)));
typedef double double1 __attribute__((vector_size(8)));
inline __attribute__((always_inline)) float1 fused_multiply_add(float1 a, float1 b, float1 c) {
  return float1{__builtin_fmaf(a[0], b[0], c[0])};
}
inline __attribute__((always_inline)) double1 fused_multiply_add(double1 a, double1 b, double1 c) {
  return double1{__builtin_fma(a[0], b[0], c[0])};
}
inline __attribute__((always_inline)) __m256 fused_multiply_add(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
inline __attribute__((always_inline)) __m256d fused_multiply_add(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
inline __attribute__((always_inline)) void nontemporal_store(float* p, float1 v) { *p = v[0]; }
inline __attribute__((always_inline)) void nontemporal_store(double* p, double1 v) { *p = v[0]; }
inline __attribute__((always_inline)) void nontemporal_store(float* p, __m256 v) { _mm256_stream_ps(p, v); }
inline __attribute__((always_inline)) void nontemporal_store(double* p, __m256d v) { _mm256_stream_pd(p, v); }
inline constexpr bool has_nontemporal_stores = true;
/// Makes nontemporal stores visible to other threads before what follows.
inline __attribute__((always_inline)) void finish_nontemporal_stores() { _mm_sfence(); }
// Of pack.hpp's hold_in_register() for 32-byte registers.
inline __attribute__((always_inline)) void hold_in_register(__m256& x) { asm("" : "+v"(x)); }
inline __attribute__((always_inline)) void hold_in_register(__m256d& x) { asm("" : "+v"(x)); }

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
