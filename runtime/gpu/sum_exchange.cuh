#pragma once
// What the block of a scalar step does in an exchange.
#include "runtime/gpu/counted_exchange.hpp"
#include "runtime/gpu/gpu_flags.cuh"
#include "runtime/gpu/sum_exchange.hpp"

namespace quarkstar::runtime {

/// The low half of a word once its other half is that of `number`; what its writer had fenced is visible afterwards.
__device__ inline unsigned await_word(const GpuFlag* place, GpuFlag number, DeviceWait wait) {
  FlagWord word(*const_cast<GpuFlag*>(place));
  for (;;) {
    const GpuFlag seen = word.load(cuda::memory_order_acquire);
    if (seen >> 32 == (number & 0xffffffffu)) {
      wait.end();
      return static_cast<unsigned>(seen);
    }
    wait.again();
  }
}

/// The two halves of an exchange, by all threads of one block with at least `sums` threads; 1 <= sums <= e.most_sums.
class BlockExchange {
 public:
  /// First, after waiting for the predecessors of the kernel: those threads that will send make what these did visible
  /// to other devices. They are the last of the block, so that this goes beside other threads' work.
  __device__ BlockExchange(const SumExchange& e, int sums)
      : e_(e), sums_(sums), words_(sums * SumExchange::words_a_sum), number_(*e.count + 1) {
    if (sender() < words_ * (e.devices - 1)) __threadfence_system();
  }

  /// total[s], in shared memory and seen by all threads, <- the sum of all devices' total[s], merged by thread s, s <
  /// sums. There must have been a barrier since the constructor.
  __device__ void merge_all(BinnedSum* total) const {
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x), others = e_.devices - 1;
    const std::size_t turn = number_ % 2 * e_.turn_words();
    const auto* own = reinterpret_cast<const unsigned*>(total);
    for (int i = sender(); i < others * words_; i += threads) {
      GpuFlag* place = e_.to[other(i / words_)] + turn;
      FlagWord(place[i % words_]).store(number_ << 32 | own[i % words_], cuda::memory_order_relaxed);
    }
    if (counts_sums(e_) && sender() < others)
      FlagWord(e_.to[other(sender())][turn + e_.place_words() - 1])
          .store(number_ << 32 | static_cast<unsigned>(sums_), cuda::memory_order_relaxed);
    constexpr int room = 256;
    __shared__ BinnedSum received[room];
    auto* received_words = reinterpret_cast<unsigned*>(received);
    const int at_once = room / sums_;
    for (int first = 0; first < others; first += at_once) {
      const int count = min(at_once, others - first);
      for (int i = thread; i < count * words_; i += threads) {
        const int device = other(first + i / words_);
        const GpuFlag* place = e_.from + turn + static_cast<std::size_t>(device) * e_.place_words();
        // Threads that wait for the same device share its word of lateness: its words come together.
        const DeviceWait wait(e_.late == nullptr ? nullptr : e_.late + device, e_.patience_ns);
        received_words[i] = await_word(place + i % words_, number_, wait);
      }
      __syncthreads();
      for (int from = 0; thread < sums_ && from < count; ++from) total[thread].merge(received[from * sums_ + thread]);
      __syncthreads();
    }
    if (thread == 0) *e_.count = number_;
  }

 private:
  /// Number of this thread among those that send, from the end of the block.
  __device__ int sender() const { return static_cast<int>(blockDim.x - 1 - threadIdx.x); }
  /// The i-th device but this one.
  __device__ int other(int i) const { return i < e_.self ? i : i + 1; }

  const SumExchange& e_;
  int sums_, words_;
  GpuFlag number_;
};

}  // namespace quarkstar::runtime
