#pragma once
// Sums of scalar steps between GPUs of several hosts: the host stands in for all other devices.
#include "runtime/gpu/counted_exchange.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace quarkstar::runtime::mpi {

/// The host's end of a SumExchange (runtime/gpu/sum_exchange.hpp) of two devices: 0 is the GPU, 1 this thread. In exchange n (from 1) the
/// GPU writes its sums, the thread gives them to whoever adds those of all ranks, and answers with the sum of all *other* ranks, so that
/// the GPU's kernel does what it does with a second GPU. What others have is total - mine, limb by limb in the window of the total, which
/// is exact. How many sums there are the last word of the place says (counts_sums()).
class HostExchange {
 public:
  static constexpr int devices = 2, most_sums = detail::most_sums_on_cuda + 1;

  /// Words of memory that the GPU reaches, zero at first: what it writes, then what it reads.
  static std::size_t words();
  /// What the GPU's kernels need to know, but for its counter, late words and patience. memory: the same for the GPU.
  static SumExchange for_gpu(GpuFlag* memory);

  /// give(number, mine, count): to be added to those of all ranks; numbers begin at 0. answer() comes later.
  explicit HostExchange(GpuFlag* memory) : memory_(memory) {}
  /// Takes the next sums where they are all there, and gives them away; whether there were any.
  bool take(const std::function<void(std::int64_t number, const BinnedSum* mine, BinnedSum* total, int count)>& give);
  /// The total of the sums that were taken last has come.
  void answer();

 private:
  GpuFlag* memory_;
  GpuFlag taken_ = 0;
  int count_ = 0;
  BinnedSum mine_[most_sums], total_[most_sums];
};

/// The sum of what `total` has beside `mine`, which is a part of it.
BinnedSum difference(const BinnedSum& total, BinnedSum mine);

}  // namespace quarkstar::runtime::mpi
