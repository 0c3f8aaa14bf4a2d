#pragma once
// Copies to shared memory while a block of threads computes, and a barrier there that tells when they have arrived.
#include <cuda_runtime.h>

#include <cstdint>

namespace quarkstar::cuda {

/// Loads from shared memory.
struct SharedLoads {
  template <class Bits>
  static __device__ __forceinline__ Bits bits(const Bits* p) {
    return *p;
  }
};

/// Starts a copy of 16 bytes from global to shared memory, and waits for all that this thread has started.
__device__ __forceinline__ void start_copy(uint4* to, const uint4* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))), "l"(from)
               : "memory");
}
__device__ __forceinline__ void wait_for_own_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// One barrier of copies that come again and again: in each phase a block's copying threads start theirs, and all threads wait for them. By
/// the bulk copies of compute capability 9.0, else by copies of 16 bytes.
class Arrival {
 public:
  /// Whether one copy can be of any length; else one thread's are slow.
#if __CUDA_ARCH__ >= 900
  static constexpr bool bulk = true;
#else
  static constexpr bool bulk = false;
#endif
  /// By one thread, before others use it. copying: threads that call done() in each phase.
  __device__ __forceinline__ void init(unsigned copying) {
    const unsigned arrivals = bulk ? 1 : copying;
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address(&barrier_)), "r"(arrivals) : "memory");
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  /// Once in each phase, by one of the copying threads: how many bytes come.
  __device__ __forceinline__ void expect([[maybe_unused]] std::uint32_t bytes) {
    if constexpr (bulk) asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(&barrier_)), "r"(bytes) : "memory");
  }
  /// Starts a copy to shared memory; addresses and `bytes` are multiples of 16.
  __device__ __forceinline__ void copy(void* to, const void* from, std::uint32_t bytes) {
    if constexpr (bulk) {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(to)), "l"(from),
                   "r"(bytes), "r"(address(&barrier_))
                   : "memory");
    } else {
      for (std::uint32_t i = 0; i < bytes; i += 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(to) + i), "l"(static_cast<const char*>(from) + i)
                     : "memory");
    }
  }
  /// By each copying thread, behind its last copy of a phase.
  __device__ __forceinline__ void done() {
    if constexpr (!bulk) asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address(&barrier_)) : "memory");
  }
  /// For the end of a phase, of the given parity.
  __device__ __forceinline__ void wait(std::uint32_t parity) const {
    if constexpr (bulk)
      asm volatile("{\n.reg .pred there;\nagain_%=:\nmbarrier.try_wait.parity.shared.b64 there, [%0], %1;\n@!there bra again_%=;\n}" ::"r"(
                       address(&barrier_)),
                   "r"(parity)
                   : "memory");
    else
      asm volatile("{\n.reg .pred there;\nagain_%=:\nmbarrier.test_wait.parity.shared.b64 there, [%0], %1;\n@!there bra again_%=;\n}" ::"r"(
                       address(&barrier_)),
                   "r"(parity)
                   : "memory");
  }

 private:
  static __device__ __forceinline__ std::uint32_t address(const void* p) { return static_cast<std::uint32_t>(__cvta_generic_to_shared(p)); }
  std::uint64_t barrier_;
};

}  // namespace quarkstar::cuda
