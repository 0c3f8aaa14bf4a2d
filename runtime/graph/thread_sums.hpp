#pragma once
#include "runtime/graph/binned_sum.hpp"

#include <vector>

namespace quarkstar::runtime {

/// Sums of the threads of one task, each on cache lines of its own, merged when the task ends.
class ThreadSums {
 public:
  static constexpr int most = 4;  ///< sums, unless told otherwise
  explicit ThreadSums(int threads, int sums = most)
      : threads_(threads), lines_((static_cast<std::size_t>(sums) * sizeof(BinnedSum) + sizeof(Line) - 1) / sizeof(Line)) {
    memory_.resize(static_cast<std::size_t>(threads) * lines_);
    for (int thread = 0; thread < threads; ++thread)
      for (int s = 0; s < sums; ++s) of(thread)[s] = BinnedSum::zero();
  }
  /// No sum may be read through it where there are none.
  BinnedSum* of(int thread) { return reinterpret_cast<BinnedSum*>(memory_.data() + static_cast<std::size_t>(thread) * lines_); }

  /// out[s] = sum over threads, for the first `count` sums.
  void merge_into(BinnedSum* out, int count) {
    for (int s = 0; s < count; ++s) {
      out[s] = BinnedSum::zero();
      for (int thread = 0; thread < threads_; ++thread) out[s].merge(of(thread)[s]);
    }
  }

 private:
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  int threads_;
  std::size_t lines_;
  std::vector<Line> memory_;
};

}  // namespace quarkstar::runtime
