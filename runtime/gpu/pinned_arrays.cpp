#include "runtime/gpu/pinned_arrays.hpp"

#include <cstdlib>

#ifdef QUARKSTAR_CUDA
#include "runtime/system/memory.hpp"

#include <cuda_runtime_api.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <vector>
#endif

namespace quarkstar::runtime {

#ifdef QUARKSTAR_CUDA

namespace {

struct CopiedArray {
  std::size_t bytes;
  bool is_registered = false, was_refused = false;
  int device = 0;  ///< current where it was registered
};

struct CopiedArrays {
  std::mutex mutex;
  std::map<const void*, CopiedArray> all;
  std::atomic<std::size_t> count = 0;  ///< of them: who frees other arrays need not wait for who registers one
  bool keeps = false;                  ///< KeptArrays is there
  std::vector<void*> kept;             ///< of `all`, which nobody uses
};

/// For ever: arrays may be freed when the program ends.
CopiedArrays& copied_arrays() {
  static CopiedArrays& arrays = *new CopiedArrays;
  return arrays;
}

/// On a thread of its own: the current device is a thread's, and the caller may have none, or a context that is not ours.
cudaError_t unregister(const void* array, int device) {
  cudaError_t error = cudaSuccess;
  std::thread([&] {
    error = cudaSetDevice(device);
    if (error == cudaSuccess) error = cudaHostUnregister(const_cast<void*>(array));
  }).join();
  return error;
}

}  // namespace

void pin_array(const void* array, std::size_t bytes) {
  CopiedArrays& arrays = copied_arrays();
  const std::lock_guard lock(arrays.mutex);
  CopiedArray& copied = arrays.all.try_emplace(array, CopiedArray{bytes}).first->second;
  arrays.count = arrays.all.size();
  if (copied.is_registered || copied.was_refused) return;
  cudaGetDevice(&copied.device);
  copied.is_registered = cudaHostRegister(const_cast<void*>(array), bytes, cudaHostRegisterPortable) == cudaSuccess;
  copied.was_refused = !copied.is_registered;
  if (!copied.was_refused) return;
  (void)cudaGetLastError();  // so that nobody else meets it
  static std::once_flag warned;
  std::call_once(warned,
                 [] { spdlog::warn("links on the host cannot be pinned, so copies to GPUs are slow; allow more with `ulimit -l`"); });
}

namespace {

/// Whether a registered array that is freed should be kept.
bool has_room(const CopiedArrays& arrays, std::size_t bytes) {
  for (const void* const array : arrays.kept) bytes += arrays.all.at(array).bytes;
  return available_host_memory().value_or(0) > 2 * bytes;
}

/// Forgets the array; false where it must stay allocated.
bool forget(CopiedArrays& arrays, std::map<const void*, CopiedArray>::iterator place) {
  const auto& [array, copied] = *place;
  const cudaError_t error = copied.is_registered ? unregister(array, copied.device) : cudaSuccess;
  if (error != cudaSuccess && error != cudaErrorCudartUnloading) {
    // The driver would take what comes to these addresses next for what was there when it was registered.
    spdlog::warn("the driver does not give up {} bytes of pinned memory ({}); they stay allocated", copied.bytes,
                 cudaGetErrorString(error));
    return false;
  }
  arrays.all.erase(place);
  arrays.count = arrays.all.size();
  return true;
}

}  // namespace

void free_array(void* array) noexcept {
  CopiedArrays& arrays = copied_arrays();
  if (arrays.count > 0) {
    const std::lock_guard lock(arrays.mutex);
    if (const auto place = arrays.all.find(array); place != arrays.all.end()) {
      try {
        if (place->second.is_registered && arrays.keeps && has_room(arrays, place->second.bytes)) return arrays.kept.push_back(array);
      } catch (const std::bad_alloc&) {  // then it goes
      }
      if (!forget(arrays, place)) return;
    }
  }
  std::free(array);
}

KeptArrays::KeptArrays() {
  CopiedArrays& arrays = copied_arrays();
  const std::lock_guard lock(arrays.mutex);
  arrays.keeps = true;
}

KeptArrays::~KeptArrays() {
  CopiedArrays& arrays = copied_arrays();
  const std::lock_guard lock(arrays.mutex);
  arrays.keeps = false;
  for (void* const array : arrays.kept)
    if (forget(arrays, arrays.all.find(array))) std::free(array);
  arrays.kept.clear();
}

void* take_kept_array(std::size_t bytes) noexcept {
  CopiedArrays& arrays = copied_arrays();
  if (arrays.count == 0) return nullptr;
  const std::lock_guard lock(arrays.mutex);
  const auto place = std::ranges::find_if(arrays.kept, [&](const void* array) { return arrays.all.at(array).bytes == bytes; });
  if (place == arrays.kept.end()) return nullptr;
  void* const array = *place;
  arrays.kept.erase(place);
  return array;
}

#else

void pin_array(const void*, std::size_t) {}
void free_array(void* array) noexcept { std::free(array); }
KeptArrays::KeptArrays() = default;
KeptArrays::~KeptArrays() = default;
void* take_kept_array(std::size_t) noexcept { return nullptr; }

#endif

}  // namespace quarkstar::runtime
