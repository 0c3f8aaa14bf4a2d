#pragma once
// Baseline of any processor: one lane per register. Slow where the processor has no fused multiply-add of its own, because the
// result must still be rounded once; it is the oracle that the vector architectures are compared with.
namespace quarkstar::QUARKSTAR_ARCH_NAME {

template <class T>
inline constexpr int native_lanes = 1;
inline constexpr int vector_registers = 16;
inline constexpr int layout_bytes = 64;

typedef float float1 __attribute__((vector_size(4)));
typedef double double1 __attribute__((vector_size(8)));
inline __attribute__((always_inline)) float1 fused_multiply_add(float1 a, float1 b, float1 c) {
  return float1{__builtin_fmaf(a[0], b[0], c[0])};
}
inline __attribute__((always_inline)) double1 fused_multiply_add(double1 a, double1 b, double1 c) {
  return double1{__builtin_fma(a[0], b[0], c[0])};
}
inline __attribute__((always_inline)) void nontemporal_store(float* p, float1 v) { *p = v[0]; }
inline __attribute__((always_inline)) void nontemporal_store(double* p, double1 v) { *p = v[0]; }
inline constexpr bool has_nontemporal_stores = false;
inline __attribute__((always_inline)) void finish_nontemporal_stores() {}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
#include "codelets/arch/pack.hpp"
