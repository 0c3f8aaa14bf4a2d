#pragma once
// POWER8 and later: VSX, 16-byte registers, 64 of them, with fused multiply-add.
namespace quarkstar::QUARKSTAR_ARCH_NAME {

template <class T>
inline constexpr int native_lanes = 16 / sizeof(T);
inline constexpr int vector_registers = 64;
inline constexpr int layout_bytes = 64;

typedef float float1 __attribute__((vector_size(4)));
typedef double double1 __attribute__((vector_size(8)));
typedef float float4 __attribute__((vector_size(16)));
typedef double double2 __attribute__((vector_size(16)));
inline __attribute__((always_inline)) float1 fused_multiply_add(float1 a, float1 b, float1 c) {
  return float1{__builtin_fmaf(a[0], b[0], c[0])};
}
inline __attribute__((always_inline)) double1 fused_multiply_add(double1 a, double1 b, double1 c) {
  return double1{__builtin_fma(a[0], b[0], c[0])};
}
inline __attribute__((always_inline)) float4 fused_multiply_add(float4 a, float4 b, float4 c) { return __builtin_vsx_xvmaddsp(a, b, c); }
inline __attribute__((always_inline)) double2 fused_multiply_add(double2 a, double2 b, double2 c) {
  return __builtin_vsx_xvmadddp(a, b, c);
}
// There is no store past the cache: a stream of whole lines is what the processor recognises by itself.
inline __attribute__((always_inline)) void nontemporal_store(float* p, float1 v) { *p = v[0]; }
inline __attribute__((always_inline)) void nontemporal_store(double* p, double1 v) { *p = v[0]; }
inline __attribute__((always_inline)) void nontemporal_store(float* p, float4 v) { __builtin_memcpy(p, &v, sizeof v); }
inline __attribute__((always_inline)) void nontemporal_store(double* p, double2 v) { __builtin_memcpy(p, &v, sizeof v); }
inline constexpr bool has_nontemporal_stores = false;
inline __attribute__((always_inline)) void finish_nontemporal_stores() {}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
#include "codelets/arch/pack.hpp"
