#pragma once
// Many BinnedSum additions at once: one running sum per lane. Same result as adding one by one.
#include "codelets/arch/arch.hpp"
#include "codelets/arch/unroll.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <cstdint>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// The digits of summands, added up in doubles, exactly, for up to 2^20 additions per lane.
template <int N>
class LaneDigits {
 public:
  static constexpr double limit = 4294967296.0;  // 2^32, one limb
  static bool outside(double y) { return !(y < limit / 2 && y > -limit / 2); }
  bool full() const { return pending_ == most_pending; }

  /// y: summands over their windows, none of them outside().
  inline __attribute__((always_inline)) void add(const double (&y)[N]) {
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

  /// Adds summands, times scale_of(l) for lane l. Where one is outside or the digits are full, move(summands, scaled)
  /// finds other scales first, and scales them.
  template <class T, class ScaleOf, class Move>
  inline __attribute__((always_inline)) void add_scaled(const Pack<T, N>& summand, ScaleOf&& scale_of, Move&& move) {
    alignas(64) T lanes[N];
    summand.store(lanes);
    alignas(64) double y[N];
    bool any_outside = false;
    for (int l = 0; l < N; ++l) {
      y[l] = static_cast<double>(lanes[l]) * scale_of(l);
      any_outside |= outside(y[l]);
    }
    if (__builtin_expect(any_outside || full(), 0)) move(lanes, y);
    add(y);
  }

  /// Moves what lane l has into the limbs of sum_of(l), which has its window.
  template <class SumOf>
  inline __attribute__((always_inline)) void flush(SumOf&& sum_of) {
    for (int i = 0; i < 3; ++i)
      for (int l = 0; l < N; ++l)
        if (runtime::BinnedSum& sum = sum_of(l); sum.window != runtime::BinnedSum::empty_window)
          sum.limb[i] += static_cast<std::int64_t>(digits_[i][l]);
    for (auto& limb : digits_)
      for (double& digit : limb) digit = 0;
    pending_ = 0;
  }

 private:
  static constexpr int most_pending = 1 << 20;
  alignas(64) double digits_[3][N]{};
  int pending_ = 0;
};

/// Raises the window of a sum, flushed before, for a summand that may be too large for it, NaN or infinite.
inline void make_room(runtime::BinnedSum& sum, double x) {
  if (x == 0) return;
  if (!(x <= 1.7976931348623157e308 && x >= -1.7976931348623157e308)) sum.poisoned = 1;
  else if (const int window = runtime::window_of(x); window > sum.window) sum.raise(window);
}

/// Whether summands can be split in the sum's window.
inline bool has_window(const runtime::BinnedSum& sum) { return sum.window != runtime::BinnedSum::empty_window && !sum.poisoned; }

/// All lanes belong to one sum.
template <int N>
class LaneSum {
 public:
  template <class T>
  inline __attribute__((always_inline)) void add(const Pack<T, N>& summand) {
    digits_.add_scaled(
        summand, [this](int) QUARKSTAR_INLINE_LAMBDA { return scale_; },
        [this](const T(&lanes)[N], double(&y)[N]) QUARKSTAR_INLINE_LAMBDA { move_window(lanes, y); });
  }

  /// Everything added so far.
  inline __attribute__((always_inline)) runtime::BinnedSum total() {
    flush();
    return sum_;
  }

 private:
  /// Slow path: the window follows a larger summand, zeros before the first non-zero summand, overflow of the digits.
  template <class T>
  __attribute__((noinline)) void move_window(const T (&lanes)[N], double (&y)[N]) {
    flush();
    for (int l = 0; l < N; ++l) make_room(sum_, static_cast<double>(lanes[l]));
    const bool usable = has_window(sum_);
    const double scale = usable ? runtime::power_of_window(-sum_.window) : 0.0;
    for (int l = 0; l < N; ++l) y[l] = usable ? static_cast<double>(lanes[l]) * scale : 0.0;
    // Without a window yet every non-zero summand must come here: infinity times it is out of any limit.
    scale_ = usable ? scale : __builtin_inf();
  }

  inline __attribute__((always_inline)) void flush() {
    digits_.flush([this](int) -> runtime::BinnedSum& { return sum_; });
  }

  LaneDigits<N> digits_;
  double scale_ = __builtin_inf();
  runtime::BinnedSum sum_ = runtime::BinnedSum::zero();
};

/// Each lane has a sum of its own.
template <int N>
class SumOfEachLane {
 public:
  /// left_out: nullptr, or for each lane non-zero where nobody needs its sum, which stays zero.
  explicit SumOfEachLane(const std::int32_t* left_out) {
    for (int l = 0; l < N; ++l) {
      sums_[l] = runtime::BinnedSum::zero();
      wanted_[l] = left_out == nullptr || left_out[l] == 0;
      scale_[l] = wanted_[l] ? __builtin_inf() : 0;
    }
  }

  template <class T>
  inline __attribute__((always_inline)) void add(const Pack<T, N>& summand) {
    digits_.add_scaled(
        summand, [this](int l) QUARKSTAR_INLINE_LAMBDA { return scale_[l]; },
        [this](const T(&lanes)[N], double(&y)[N]) QUARKSTAR_INLINE_LAMBDA { move_windows(lanes, y); });
  }

  /// Merges the sum of lane l into sums[l].
  void merge_into(runtime::BinnedSum* sums) {
    flush();
    for (int l = 0; l < N; ++l)
      if (wanted_[l]) sums[l].merge(sums_[l]);
  }

 private:
  /// As LaneSum::move_window(); what a lane that is left out holds may be anything.
  template <class T>
  __attribute__((noinline)) void move_windows(const T (&lanes)[N], double (&y)[N]) {
    flush();
    for (int l = 0; l < N; ++l) {
      const double x = static_cast<double>(lanes[l]);
      if (wanted_[l]) make_room(sums_[l], x);
      const bool usable = has_window(sums_[l]);
      const double scale = usable ? runtime::power_of_window(-sums_[l].window) : 0.0;
      y[l] = usable ? x * scale : 0.0;
      scale_[l] = usable || !wanted_[l] ? scale : __builtin_inf();
    }
  }

  void flush() {
    digits_.flush([this](int l) -> runtime::BinnedSum& { return sums_[l]; });
  }

  LaneDigits<N> digits_;
  alignas(64) double scale_[N];
  bool wanted_[N];
  runtime::BinnedSum sums_[N];
};

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
