#pragma once
// What GPU tests share: skipping, streams and device memory.
#include "runtime/gpu/cuda.hpp"

#include <cstdio>

#ifdef QUARKSTAR_CUDA
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <vector>
#endif

/// GPU cases end here on a machine without one, and say so.
#define QUARKSTAR_NEEDS_GPU(name)              \
  if (quarkstar::runtime::gpus().empty()) {    \
    std::printf("SKIPPED %s: no GPU\n", name); \
    return;                                    \
  }

#ifdef QUARKSTAR_CUDA
namespace quarkstar::gpu_testing {

/// A stream beside all others.
struct Stream {
  Stream() { REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess); }
  ~Stream() { cudaStreamDestroy(stream); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator runtime::CudaStream() const { return stream; }
  void wait() const { REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess); }
  cudaStream_t stream = nullptr;
};

/// Memory with the bytes of some host objects: of the GPU, or of the host where the GPU can write it.
template <class T>
class OnGpu {
 public:
  explicit OnGpu(const std::vector<T>& host, bool of_host = false) : count_(host.size()), of_host_(of_host) {
    void* memory = nullptr;
    const std::size_t bytes = count_ * sizeof(T);
    REQUIRE((of_host ? cudaHostAlloc(&memory, bytes, cudaHostAllocMapped) : cudaMalloc(&memory, bytes)) == cudaSuccess);
    memory_ = static_cast<T*>(memory);
    set(host);
  }
  ~OnGpu() { of_host_ ? cudaFreeHost(memory_) : cudaFree(memory_); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  T* get() const { return memory_; }
  T* operator+(std::size_t i) const { return memory_ + i; }
  void set(const std::vector<T>& host) const {
    REQUIRE(cudaMemcpy(memory_, host.data(), count_ * sizeof(T), cudaMemcpyDefault) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // it may return before the bytes are there
  }
  std::vector<T> read() const {
    std::vector<T> host(count_);
    REQUIRE(cudaMemcpy(host.data(), memory_, count_ * sizeof(T), cudaMemcpyDefault) == cudaSuccess);
    return host;
  }

 private:
  T* memory_ = nullptr;
  std::size_t count_;
  bool of_host_;
};

/// Zeros.
template <class T>
class Zeroed : public OnGpu<T> {
 public:
  explicit Zeroed(std::size_t count, bool of_host = false) : OnGpu<T>(std::vector<T>(count), of_host) {}
};

}  // namespace quarkstar::gpu_testing
#endif
