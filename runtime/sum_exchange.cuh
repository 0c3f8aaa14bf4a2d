#pragma once
// What the block of a scalar step does in an exchange.
#include "runtime/gpu_flags.cuh"
#include "runtime/sum_exchange.hpp"

namespace quarkstar::runtime {

/// The low half of a word once its other half is `epoch`; what its writer had fenced is visible afterwards. Traps after
/// a minute.
__device__ inline unsigned await_word(const GpuFlag* place, unsigned epoch) {
  constexpr unsigned long long patience_ns = 60'000'000'000;
  FlagWord word(*const_cast<GpuFlag*>(place));
  const unsigned long long start = nanoseconds();
  for (;;) {
    const GpuFlag seen = word.load(cuda::memory_order_acquire);
    if (static_cast<unsigned>(seen >> 32) == epoch) return static_cast<unsigned>(seen);
    if (nanoseconds() - start > patience_ns) __trap();
  }
}

/// The two halves of an exchange, by all threads of one block with at least `sums` threads; 1 <= sums <= e.most_sums.
class BlockExchange {
 public:
  /// First, after waiting for the predecessors of the kernel: those threads that will send make what these did visible
  /// to other devices. They are the last of the block, so that this goes beside other threads' work.
  __device__ BlockExchange(const SumExchange& e, int sums)
      : e_(e), sums_(sums), words_(sums * SumExchange::words_a_sum), epoch_(static_cast<unsigned>(*e.epoch)) {
    if (sender() < words_ * (e.devices - 1)) __threadfence_system();
  }

  /// total[s], in shared memory and seen by all threads, <- the sum of all devices' total[s], merged by thread s, s <
  /// sums.
  __device__ void merge_all(BinnedSum* total) const {
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x), others = e_.devices - 1;
    const auto* own = reinterpret_cast<const unsigned*>(total);
    for (int i = sender(); i < others * words_; i += threads) {
      const GpuFlag word = static_cast<GpuFlag>(epoch_) << 32 | own[i % words_];
      FlagWord(e_.to[other(i / words_)][i % words_]).store(word, cuda::memory_order_relaxed);
    }
    constexpr int room = 256;
    __shared__ BinnedSum received[room];
    auto* received_words = reinterpret_cast<unsigned*>(received);
    const int at_once = room / sums_;
    for (int first = 0; first < others; first += at_once) {
      const int count = min(at_once, others - first);
      for (int i = thread; i < count * words_; i += threads) {
        const auto place =
            static_cast<std::size_t>(other(first + i / words_)) * e_.most_sums * SumExchange::words_a_sum;
        received_words[i] = await_word(e_.from + place + i % words_, epoch_);
      }
      __syncthreads();
      for (int from = 0; thread < sums_ && from < count; ++from) total[thread].merge(received[from * sums_ + thread]);
      __syncthreads();
    }
  }

 private:
  /// Number of this thread among those that send, from the end of the block.
  __device__ int sender() const { return static_cast<int>(blockDim.x - 1 - threadIdx.x); }
  /// The i-th device but this one.
  __device__ int other(int i) const { return i < e_.self ? i : i + 1; }

  const SumExchange& e_;
  int sums_, words_;
  unsigned epoch_;
};

}  // namespace quarkstar::runtime
