#pragma once
// CUDA: one lane a thread, and the ways in which a thread reads memory.
#include <cuda_runtime.h>

#include "codelets/site/lane.hpp"
#include "codelets/site/storage.hpp"

namespace quarkstar::cuda {

using site::Lane;

/// Through the read-only cache: data that several threads read.
struct CachedLoads {
  template <class V, class T>
  static __device__ __forceinline__ V real(const T* p) {
    return {__ldg(p)};
  }
  template <class V>
  static __device__ __forceinline__ site::Complex<V> pair(const Half* p) {
    return V::from_word(__ldg(&p->word));
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
};

}  // namespace quarkstar::cuda
