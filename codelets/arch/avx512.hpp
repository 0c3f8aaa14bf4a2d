#pragma once
// AVX-512 (F, DQ, BW, VL): 64-byte registers, the width of a lane group.
#include "codelets/arch/x86_fma.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

template <class T>
inline constexpr int native_lanes = 64 / sizeof(T);
inline constexpr int vector_registers = 32;
inline constexpr int layout_bytes = 64;

inline __attribute__((always_inline)) __m512 fused_multiply_add(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
inline __attribute__((always_inline)) __m512d fused_multiply_add(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
inline __attribute__((always_inline)) void hold_in_register(__m512& x) { asm("" : "+v"(x)); }
inline __attribute__((always_inline)) void hold_in_register(__m512d& x) { asm("" : "+v"(x)); }
inline __attribute__((always_inline)) void nontemporal_store(float* p, __m512 v) { _mm512_stream_ps(p, v); }
inline __attribute__((always_inline)) void nontemporal_store(double* p, __m512d v) { _mm512_stream_pd(p, v); }

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
#include "codelets/arch/pack.hpp"
