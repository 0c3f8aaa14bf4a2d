#pragma once
// Reading a SumTable out.
#include "runtime/gpu/sum_table.hpp"

namespace quarkstar::runtime {

/// What the place of this thread has seen.
__device__ __forceinline__ unsigned long long seen_in(const SumTable& table) { return __ldcg(&table.place[threadIdx.x % 32].seen); }

/// The sum of a table, which is empty afterwards. To be called by all threads of a warp with the same table and their seen_in(), which may
/// be read long before; each has the result. Every thread reads and clears one place, and of that only what summands have touched.
__device__ inline BinnedSum take_sum(SumTable& table, unsigned long long seen) {
  constexpr unsigned all = 0xffffffffu;
  static_assert(SumTable::places == 32);
  SumTable::Place& place = table.place[threadIdx.x % 32];
  const unsigned low = __reduce_or_sync(all, static_cast<unsigned>(seen)), high = __reduce_or_sync(all, static_cast<unsigned>(seen >> 32));
  const unsigned long long anywhere = static_cast<unsigned long long>(high) << 32 | low, windows = anywhere & ~SumTable::poison;
  BinnedSum sum = BinnedSum::zero();
  sum.poisoned = windows != anywhere ? 1 : 0;
  if (windows != 0) {
    sum.window = 63 - __clzll(static_cast<long long>(windows)) + BinnedSum::lowest_window;
    unsigned long long digits[3];
    for (int i = 0; i < 3; ++i) digits[i] = __ldcg(&place.limb_of(sum.window, i));
    for (int half = 16; half > 0; half /= 2)
      for (unsigned long long& of_limb : digits) of_limb += __shfl_xor_sync(all, of_limb, half);
    for (int i = 0; i < 3; ++i) sum.limb[i] = static_cast<std::int64_t>(digits[i]);
  }
  for (unsigned long long left = seen & ~SumTable::poison; left != 0; left &= left - 1) {
    const int window = __ffsll(static_cast<long long>(left)) - 1 + BinnedSum::lowest_window;
    for (int i = 0; i < 3; ++i) place.limb_of(window, i) = 0;
  }
  if (seen != 0) place.seen = 0;
  return sum;
}

}  // namespace quarkstar::runtime
