#pragma once
// CUDA: one lane a thread. The same interface as Pack, so that the site bodies see no difference.
#include <cuda_runtime.h>

#include <cstdint>

#include "runtime/binned_sum.hpp"
#include "runtime/host_device.hpp"

namespace quarkstar::cuda {

/// One real of a thread's lane. Contraction is off (-fmad=false): products and sums round separately unless fma() is written.
template <class T>
struct Lane {
  T v;
  friend QUARKSTAR_HD Lane operator+(Lane a, Lane b) { return {a.v + b.v}; }
  friend QUARKSTAR_HD Lane operator-(Lane a, Lane b) { return {a.v - b.v}; }
  friend QUARKSTAR_HD Lane operator*(Lane a, Lane b) { return {a.v * b.v}; }
  friend QUARKSTAR_HD Lane operator-(Lane a) { return {-a.v}; }
};

__device__ __forceinline__ Lane<float> fma(Lane<float> a, Lane<float> b, Lane<float> c) { return {__fmaf_rn(a.v, b.v, c.v)}; }
__device__ __forceinline__ Lane<double> fma(Lane<double> a, Lane<double> b, Lane<double> c) { return {__fma_rn(a.v, b.v, c.v)}; }
template <class T>
__device__ __forceinline__ Lane<T> fnma(Lane<T> a, Lane<T> b, Lane<T> c) {
  return fma(-a, b, c);
}

}  // namespace quarkstar::cuda
