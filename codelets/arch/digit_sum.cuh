#pragma once
// Sums of one thread over many summands of its own.
#include "codelets/arch/cuda_sum.cuh"

namespace quarkstar::cuda {

/// The digits of one thread's summands of a sum, exact for 2^32 summands. Adding the magic number of a digit, 1.5 * 2^52 times its unit,
/// rounds to that unit, and the bits of such sums are integers that count units: they are added as they are, and the magic number's own
/// are taken out at the end, once for each summand. Source: BinnedSum, whose digits do not depend on where the window began.
class DigitSum {
 public:
  /// The first digit of x with its magic number.
  __device__ __forceinline__ double first_digit(double x) const { return fma(x, scale(), magic(0)); }
  /// Not zero where the first digit is that of an x that is too large for the window, or no number. 2^31 in the magic number makes all
  /// others at least 0, so that their upper halves are one number; 0 itself, to which what is just too large is rounded, counts as too
  /// large, and widen() decides.
  static __device__ __forceinline__ unsigned overflow(double first_digit) {
    return static_cast<unsigned>(__double2hiint(first_digit) ^ __double2hiint(magic(0))) | (__double2loint(first_digit) == 0 ? 1u : 0u);
  }
  /// Makes room for x where it is, after so many summands. False: x was no number, and is zero.
  __device__ bool widen(double& x, unsigned summands) {
    if (!(fabs(x) <= 1.7976931348623157e308)) {
      x = 0;
      return false;
    }
    runtime::BinnedSum sum = value(summands);
    sum.raise(runtime::window_of(x));
    scale_high_ = (1023 - runtime::BinnedSum::limb_bits * sum.window) << 20;
    site::unroll<3>([&](auto i) { digits_[i] = static_cast<Bits>(sum.limb[i]) + summands * bits_of(magic(i)); });
    return true;
  }
  /// Of an x that is not beyond the window, with its first digit.
  __device__ __forceinline__ void add(double x, double first_digit) {
    double rest = fma(x, scale(), magic(0) - first_digit);
    digits_[0] += bits_of(first_digit);
    const double second_digit = rest + magic(1);
    rest -= second_digit - magic(1);
    digits_[1] += bits_of(second_digit);
    digits_[2] += bits_of(rest + magic(2));
  }
  /// The sum of so many summands.
  __device__ __forceinline__ runtime::BinnedSum value(unsigned summands) const {
    runtime::BinnedSum sum = runtime::BinnedSum::zero();
    sum.window = (1023 - (scale_high_ >> 20)) / runtime::BinnedSum::limb_bits;
    site::unroll<3>([&](auto i) { sum.limb[i] = static_cast<std::int64_t>(digits_[i] - summands * bits_of(magic(i))); });
    return sum;
  }

 private:
  static constexpr __device__ double magic(int digit) {
    return digit == 0 ? 6755399441055744.0 + 2147483648.0 : digit == 1 ? 1572864.0 : 0.0003662109375;
  }
  using Bits = unsigned long long;  // whose sums wrap
  static __device__ __forceinline__ Bits bits_of(double x) { return static_cast<Bits>(__double_as_longlong(x)); }
  __device__ __forceinline__ double scale() const { return __hiloint2double(scale_high_, 0); }

  Bits digits_[3] = {};
  int scale_high_ = (1023 - runtime::BinnedSum::limb_bits * runtime::BinnedSum::lowest_window) << 20;  ///< upper half of 2^(-32 window)
};

/// Adds what a thread has to a table.
__device__ __forceinline__ void add_to_table(SumTable& table, const runtime::BinnedSum& sum) {
  SumTable::Place& place = table.place[(blockIdx.x + threadIdx.x / arch::warp_threads) % SumTable::places];
  unsigned long long seen = sum.poisoned != 0 ? SumTable::poison : 0;
  if (sum.window != runtime::BinnedSum::lowest_window) seen |= SumTable::bit_of(sum.window);  // else there may have been zeros alone
  site::unroll<3>([&](auto i) {
    if (sum.limb[i] == 0) return;
    seen |= SumTable::bit_of(sum.window);
    atomicAdd(&place.limb_of(sum.window, i), static_cast<unsigned long long>(sum.limb[i]));
  });
  if (seen != 0) atomicOr(&place.seen, seen);
}

/// Adds x[i] to sum[i], each of which has so many summands before; bit i of poisoned: one of them was no number.
template <int N>
__device__ __forceinline__ void add_to_digits(DigitSum (&sum)[N], double (&x)[N], unsigned summands, unsigned& poisoned) {
  double digit[N];
  unsigned beyond = 0;
  site::unroll<N>([&](auto i) {
    digit[i] = sum[i].first_digit(x[i]);
    beyond |= DigitSum::overflow(digit[i]);
  });
  if (beyond != 0)
    site::unroll<N>([&](auto i) {
      if (DigitSum::overflow(digit[i]) == 0) return;
      if (!sum[i].widen(x[i], summands)) poisoned |= 1u << i;
      digit[i] = sum[i].first_digit(x[i]);
    });
  site::unroll<N>([&](auto i) { sum[i].add(x[i], digit[i]); });
}

}  // namespace quarkstar::cuda
