#include "runtime/gpu/pinned_arrays.hpp"

#ifdef QUARKSTAR_CUDA
#include <cuda_runtime_api.h>

#include <atomic>
#include <map>
#include <mutex>
#endif

namespace quarkstar::runtime {

#ifdef QUARKSTAR_CUDA

namespace {

struct PinnedArrays {
  std::mutex mutex;
  std::map<const void*, bool> known;  ///< whether the driver has taken them
  std::atomic<int> count = 0;         ///< of them: what frees arrays need not wait for who registers others
};

/// For ever: arrays may be freed when the program ends.
PinnedArrays& pinned_arrays() {
  static PinnedArrays& all = *new PinnedArrays;
  return all;
}

}  // namespace

void pin_array(const void* array, std::size_t bytes) {
  PinnedArrays& all = pinned_arrays();
  const std::lock_guard lock(all.mutex);
  const auto [place, is_new] = all.known.try_emplace(array, false);
  if (!is_new) return;
  all.count = static_cast<int>(all.known.size());
  place->second = cudaHostRegister(const_cast<void*>(array), bytes, cudaHostRegisterPortable) == cudaSuccess;
  if (!place->second) cudaGetLastError();  // so that nobody else meets it
}

void unpin_array(const void* array) noexcept {
  PinnedArrays& all = pinned_arrays();
  if (all.count == 0) return;
  const std::lock_guard lock(all.mutex);
  const auto place = all.known.find(array);
  if (place == all.known.end()) return;
  if (place->second && cudaHostUnregister(const_cast<void*>(array)) != cudaSuccess) cudaGetLastError();  // the driver may have ended
  all.known.erase(place);
  all.count = static_cast<int>(all.known.size());
}

#else

void pin_array(const void*, std::size_t) {}
void unpin_array(const void*) noexcept {}

#endif

}  // namespace quarkstar::runtime
