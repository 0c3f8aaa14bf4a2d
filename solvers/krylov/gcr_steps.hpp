#pragma once
// The scalar steps of gcr.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::gcr_steps {

using runtime::ComplexScalar;

/// Largest KrylovLimits::restart.
inline constexpr int most_directions = 32;

/// A p_j = q_j + sum_{i<j} upper[i][j] q_i with orthogonal q; the residual loses its part along each q as that comes, the solution gets
/// sum y_j p_j when the directions are given up, upper y = alpha.
struct State : KrylovState {
  std::int32_t kept = 0;                 ///< directions that the solution does not contain yet
  ComplexScalar alpha;                   ///< of the latest one
  ComplexScalar along[most_directions];  ///< the column of `upper` in the making
  ComplexScalar alphas[most_directions];
  double length2[most_directions] = {};  ///< |q_j|^2
  ComplexScalar upper[most_directions][most_directions];
  ComplexScalar y[most_directions];  ///< of the directions that were kept when they were given up, or when the graph stopped

  /// y of the first `count` directions, by back substitution.
  QUARKSTAR_HD void find_solution(int count) {
    for (int i = count - 1; i >= 0; --i) {
      ComplexScalar sum = alphas[i];
      for (int j = i + 1; j < count; ++j) {
        const ComplexScalar product = times(upper[i][j], y[j]);
        sum.re -= product.re;
        sum.im -= product.im;
      }
      y[i] = sum;
    }
  }
  /// Stops with what the first `count` directions give.
  QUARKSTAR_HD void end(StopReason reason, int count) {
    find_solution(count);
    stop(reason);
  }
  /// A direction is complete: both steps that end one.
  QUARKSTAR_HD void keep() {
    kept += 1;
    if (pending != StopReason::running) end(pending, kept);
  }
};

struct Begin {
  static constexpr const char* name = "gcr.begin";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) { s.check_start(sums[0]); }
};

struct Project {  // <q_i, A p> / |q_i|^2, from the products with all q_i kept
  static constexpr const char* name = "gcr.project";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    for (int i = 0; i < s.kept; ++i) {
      s.along[i] = {sums[2 * i] / s.length2[i], sums[2 * i + 1] / s.length2[i]};
      s.upper[i][s.kept] = s.along[i];
    }
  }
};

struct Alpha {  // alpha = <q, r> / |q|^2, from |q|^2 and <r, q>; what r loses is known before it has lost it
  static constexpr const char* name = "gcr.alpha";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = true;
  static QUARKSTAR_HD double record(const State& s) { return s.norm2; }
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    // A direction whose image is zero or nothing new; one that is orthogonal to r, from which the next would be the same again.
    constexpr double largest = 1.7976931348623157e308, nothing = 0x1p-100;
    const double re = sums[1] < 0 ? -sums[1] : sums[1], im = sums[2] < 0 ? -sums[2] : sums[2];
    if (!(sums[0] <= largest && re <= largest && im <= largest)) return s.end(StopReason::not_finite, s.kept);  // NaN too
    if (sums[0] == 0) return s.end(StopReason::zero_denominator, s.kept);
    s.alpha = divide(s, {sums[1], -sums[2]}, {sums[0], 0});
    const double lost = s.alpha.re * sums[1] - s.alpha.im * sums[2];
    if (!(lost > nothing * s.norm2)) return s.end(lost >= 0 ? StopReason::zero_denominator : StopReason::not_finite, s.kept);
    s.alphas[s.kept] = s.alpha;
    s.length2[s.kept] = sums[0];
    s.pending = s.verdict(lost < s.norm2 ? s.norm2 - lost : 0);
  }
};

struct Keep {  // r is what Alpha said
  static constexpr const char* name = "gcr.keep";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double*) { s.keep(); }
};

struct Close {  // the same after the last direction before a restart, with |r|^2 itself: what differences have lost does not pile up
  static constexpr const char* name = "gcr.close";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.norm2 = sums[0];
    if (!(sums[0] <= 1.7976931348623157e308)) s.pending = StopReason::not_finite;
    else if (s.pending == StopReason::converged && sums[0] > s.target)
      s.pending = s.status.step >= s.most_iterations ? StopReason::iteration_limit : StopReason::running;
    s.keep();
    if (s.status.stop != 0) return;
    s.find_solution(s.kept);
    s.kept = 0;
    s.watch(sums[0]);
  }
};

struct Refreshed {
  static constexpr const char* name = "gcr.refreshed";
  static constexpr bool on_cuda = true, refreshing = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) { s.refreshed(sums[0]); }
};

}  // namespace quarkstar::gcr_steps
