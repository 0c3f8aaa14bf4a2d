#pragma once
// Many BinnedSum additions at once: one running sum a lane, merged at the end. Same result as adding one by one.
#include <cstdint>

#include "codelets/arch/arch.hpp"
#include "runtime/binned_sum.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Digits are summed in doubles, exactly, for up to 2^20 additions a lane, then moved to integers.
template <int N>
class LaneSum {
 public:
  template <class T>
  inline __attribute__((always_inline)) void add(const Pack<T, N>& summand) {
    alignas(64) T lanes[N];
    summand.store(lanes);
    alignas(64) double y[N];
    bool outside = false;
    for (int l = 0; l < N; ++l) {
      y[l] = static_cast<double>(lanes[l]) * scale_;
      outside |= !(y[l] < limit / 2 && y[l] > -limit / 2);
    }
    if (__builtin_expect(outside || pending_ == most_pending, 0)) {
      move_window(lanes, y);
    }
    for (int l = 0; l < N; ++l) {
      const double first = runtime::nearest_integer(y[l]);
      const double rest = (y[l] - first) * limit;
      const double second = runtime::nearest_integer(rest);
      digits_[0][l] += first;
      digits_[1][l] += second;
      digits_[2][l] += runtime::nearest_integer((rest - second) * limit);
    }
    ++pending_;
  }

  /// Everything added so far.
  inline __attribute__((always_inline)) runtime::BinnedSum total() {
    flush();
    return sum_;
  }

 private:
  static constexpr double limit = 4294967296.0;  // 2^32, one limb
  static constexpr int most_pending = 1 << 20;

  /// Slow path: the window follows a larger summand, zeros before the first non-zero summand, overflow of the digits.
  template <class T>
  __attribute__((noinline)) void move_window(const T (&lanes)[N], double (&y)[N]) {
    flush();
    for (int l = 0; l < N; ++l) {
      const double x = static_cast<double>(lanes[l]);
      if (x == 0) continue;
      if (!(x <= 1.7976931348623157e308 && x >= -1.7976931348623157e308)) sum_.poisoned = 1;
      else if (const int window = runtime::window_of(x); window > sum_.window) sum_.raise(window);
    }
    const bool usable = sum_.window != runtime::BinnedSum::empty_window && !sum_.poisoned;
    const double scale = usable ? runtime::power_of_window(-sum_.window) : 0.0;
    for (int l = 0; l < N; ++l) y[l] = usable ? static_cast<double>(lanes[l]) * scale : 0.0;
    // Without a window yet every non-zero summand must come here: infinity times it is out of any limit.
    scale_ = usable ? scale : __builtin_inf();
  }

  inline __attribute__((always_inline)) void flush() {
    if (sum_.window != runtime::BinnedSum::empty_window)
      for (int i = 0; i < 3; ++i)
        for (int l = 0; l < N; ++l) sum_.limb[i] += static_cast<std::int64_t>(digits_[i][l]);
    for (auto& limb : digits_)
      for (double& digit : limb) digit = 0;
    pending_ = 0;
  }

  alignas(64) double digits_[3][N]{};
  double scale_ = __builtin_inf();
  int pending_ = 0;
  runtime::BinnedSum sum_ = runtime::BinnedSum::zero();
};

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
