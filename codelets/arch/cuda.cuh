#pragma once
// CUDA: one lane per thread, and the ways in which a thread reads memory.
#include "codelets/arch/lane.hpp"
#include "codelets/field/storage.hpp"

#include <cuda_runtime.h>

#include <cstdint>

namespace quarkstar::cuda {

using site::Lane;

/// Sets of directions, a bit each, with Dslash kernels of their own: most cuts are in time only.
inline constexpr unsigned no_directions = 0, both_times = 0b11000000, all_directions = 0b11111111;

/// Lanes of 64 bytes, the usual, which kernels know at compile time.
template <class F>
inline constexpr int full_lanes = 64 / sizeof(Real<F>);

// Vectors are read coherently, never by ld.global.nc (__ldg): a kernel that starts before the one ahead of it has ended
// (runtime/gpu/cuda_launch.cuh) reads what is written while it is already there.

/// Data that several threads read.
struct CachedLoads {
  template <class V, class T>
  static __device__ __forceinline__ V real(const T* p) {
    return {__ldca(p)};
  }
  template <class V>
  static __device__ __forceinline__ site::Complex<V> pair(const Half* p) {
    return V::from_word(__ldca(&p->word));
  }
  template <class Bits>
  static __device__ __forceinline__ Bits bits(const Bits* p) {
    return __ldca(p);
  }
};

/// Data that is read once and should not push out what is read again.
struct StreamedLoads {
  template <class V, class T>
  static __device__ __forceinline__ V real(const T* p) {
    return {__ldcs(p)};
  }
  template <class V>
  static __device__ __forceinline__ site::Complex<V> pair(const Half* p) {
    return V::from_word(__ldcs(&p->word));
  }
  template <class Bits>
  static __device__ __forceinline__ Bits bits(const Bits* p) {
    return __ldcs(p);
  }
};

/// The same for a kernel whose other data fill the L1 cache: stays out of L1, and is the first to leave L2.
struct PassingLoads {
  template <class V, class T>
  static __device__ __forceinline__ V real(const T* p) {
    return {load(p)};
  }
  template <class V>
  static __device__ __forceinline__ site::Complex<V> pair(const Half* p) {
    return V::from_word(__float_as_uint(load(reinterpret_cast<const float*>(&p->word))));
  }
  static __device__ __forceinline__ unsigned bits(const unsigned* p) { return __float_as_uint(load(reinterpret_cast<const float*>(p))); }
  static __device__ __forceinline__ unsigned long long bits(const unsigned long long* p) {
    return __double_as_longlong(load(reinterpret_cast<const double*>(p)));
  }
  static __device__ __forceinline__ uint2 bits(const uint2* p) {
    uint2 x;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v2.b32 {%0,%1}, [%2], %3;"
                 : "=r"(x.x), "=r"(x.y)
                 : "l"(p), "l"(first_to_leave()));
    return x;
  }
  static __device__ __forceinline__ uint4 bits(const uint4* p) {
    uint4 x;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.b32 {%0,%1,%2,%3}, [%4], %5;"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "l"(p), "l"(first_to_leave()));
    return x;
  }
  static __device__ __forceinline__ ulonglong2 bits(const ulonglong2* p) {
    ulonglong2 x;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v2.b64 {%0,%1}, [%2], %3;"
                 : "=l"(x.x), "=l"(x.y)
                 : "l"(p), "l"(first_to_leave()));
    return x;
  }

 private:
  static __device__ __forceinline__ std::uint64_t first_to_leave() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
  }
  static __device__ __forceinline__ float load(const float* p) {
    float x;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(x) : "l"(p), "l"(first_to_leave()));
    return x;
  }
  static __device__ __forceinline__ double load(const double* p) {
    double x;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(x) : "l"(p), "l"(first_to_leave()));
    return x;
  }
};

}  // namespace quarkstar::cuda
