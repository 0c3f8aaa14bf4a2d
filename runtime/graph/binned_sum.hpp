#pragma once
// Sums that no order changes: the result depends on the summands alone, whatever the schedule, cut or device.
#include "runtime/gpu/host_device.hpp"

#include <cstdint>

namespace quarkstar::runtime {

/// A sum of doubles held as three integers ("limbs") of 32 bits with 31 bits of head room, aligned to a window that follows
/// the largest summand:
///   sum = sum_i limb[i] 2^(32 (window - i)),  window = max over summands of the least w with |x| < 2^(32 w + 31), at most 31.
/// Every summand is rounded once, to a multiple of 2^(32 (window - 2)); adding limbs is exact integer arithmetic, so any
/// order and any tree of merges gives the same limbs. A summand split at window w + 1 has the digits 0, d0, d1 where at w it
/// had d0, d1, d2, because |x| 2^(-32 (w + 1)) < 1/2 rounds to 0: moving the window is the same as having started there.
/// Accuracy: each summand to 2^-64 of the largest one. Capacity: 2^32 - 1 summands (sum_capacity.hpp). NaN or infinity poisons it.
/// Source: the idea of binned summation is Demmel and Nguyen's (ReproBLAS); the fixed window of integers is ours.
struct BinnedSum {
  static constexpr int limb_bits = 32;
  static constexpr int lowest_window = -31;  // 2^(32*31) is the largest scale that a double holds
  static constexpr int highest_window = 31;  // never left, so summands of 2^1023 and more may have a longer first digit
  static constexpr int empty_window = -1000;

  std::int64_t limb[3];
  std::int32_t window;
  std::int32_t poisoned;

  static QUARKSTAR_HD BinnedSum zero() { return BinnedSum{{0, 0, 0}, empty_window, 0}; }

  /// Moves the window up to `target`, dropping what falls out below.
  QUARKSTAR_HD void raise(int target) {
    if (target <= window) return;
    const int shift = window == empty_window ? 3 : target - window;
    const std::int64_t a = limb[0], b = limb[1];
    limb[0] = 0;
    limb[1] = shift == 1 ? a : 0;
    limb[2] = shift == 1 ? b : shift == 2 ? a : 0;
    window = target;
  }

  QUARKSTAR_HD void merge(BinnedSum other) {
    poisoned |= other.poisoned;
    if (other.window == empty_window) return;
    raise(other.window);
    other.raise(window);
    for (int i = 0; i < 3; ++i) limb[i] += other.limb[i];
  }
};

/// 2^(32 k) for |k| <= 31, exactly.
QUARKSTAR_HD double power_of_window(int k) {
  const std::uint64_t bits = static_cast<std::uint64_t>(1023 + BinnedSum::limb_bits * k) << 52;
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// Window of one finite, non-zero summand.
QUARKSTAR_HD int window_of(double x) {
  std::uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const int above = static_cast<int>((bits >> 52) & 0x7ff) - 1022;  // |x| < 2^above
  const int window = above >= 0 ? above / BinnedSum::limb_bits : -((-above + BinnedSum::limb_bits - 1) / BinnedSum::limb_bits);
  if (window > BinnedSum::highest_window) return BinnedSum::highest_window;
  return window < BinnedSum::lowest_window ? BinnedSum::lowest_window : window;
}

/// Nearest integer (ties to even) of |y| < 2^51, as a double.
QUARKSTAR_HD double nearest_integer(double y) {
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  return (y + magic) - magic;
}

/// Adds one summand. The straightforward form; kernels use a vectorised one with the same result.
QUARKSTAR_HD void add(BinnedSum& sum, double x) {
  if (x == 0) return;
  const double magnitude = x < 0 ? -x : x;
  if (!(magnitude <= 1.7976931348623157e308)) {
    sum.poisoned = 1;
    return;
  }
  sum.raise(window_of(x));
  double y = x * power_of_window(-sum.window);
  for (int i = 0; i < 3; ++i) {
    const double digit = nearest_integer(y);
    sum.limb[i] += static_cast<std::int64_t>(digit);
    y = (y - digit) * 4294967296.0;
  }
}

/// The sum, rounded to nearest once. NaN when poisoned.
QUARKSTAR_HD double value_of(const BinnedSum& sum) {
  if (sum.poisoned) {
    const std::uint64_t bits = 0x7ff8000000000000ull;
    double nan;
    __builtin_memcpy(&nan, &bits, sizeof nan);
    return nan;
  }
  if (sum.window == BinnedSum::empty_window) return 0;
  const __int128 total = (static_cast<__int128>(sum.limb[0]) << 64) + (static_cast<__int128>(sum.limb[1]) << 32) + sum.limb[2];
  // Two factors, because 2^(32 (window - 2)) alone may leave the range of a double.
  return static_cast<double>(total) * power_of_window(-2) * power_of_window(sum.window);
}

}  // namespace quarkstar::runtime
