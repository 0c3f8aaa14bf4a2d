#pragma once
#include <vector>

#include "runtime/binned_sum.hpp"

namespace quarkstar::runtime {

/// Sums of the threads of one task, each on cache lines of its own, merged when the task ends.
class ThreadSums {
 public:
  static constexpr int most = 4;
  explicit ThreadSums(int threads) : sums_(static_cast<std::size_t>(threads)) {
    for (Line& line : sums_)
      for (BinnedSum& sum : line.sums) sum = BinnedSum::zero();
  }
  BinnedSum* of(int thread) { return sums_[static_cast<std::size_t>(thread)].sums; }

  /// out[s] = sum over threads, for the first `count` sums.
  void merge_into(BinnedSum* out, int count) const {
    for (int s = 0; s < count; ++s) {
      out[s] = BinnedSum::zero();
      for (const Line& line : sums_) out[s].merge(line.sums[s]);
    }
  }

 private:
  struct alignas(64) Line {
    BinnedSum sums[most];
  };
  std::vector<Line> sums_;
};

}  // namespace quarkstar::runtime
