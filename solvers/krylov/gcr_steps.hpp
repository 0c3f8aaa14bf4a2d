#pragma once
// The scalar steps of gcr.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::gcr_steps {

using runtime::ComplexScalar;

/// Largest KrylovLimits::restart.
inline constexpr int most_directions = 32;

/// A p_j = q_j + sum_{i<j} upper(i, j) q_i with orthogonal q; the residual loses its part along each q as that comes, the solution gets
/// sum y_j p_j when the directions are given up, upper y = alpha. Arrays over directions are behind the state, the vectors of each number
/// side by side.
struct State : KrylovState {
  static constexpr bool has_tail = true;
  std::int32_t restart = 0;                ///< KrylovLimits::restart
  std::int32_t products_a_step = 0;        ///< directions whose products one Project step takes
  std::int32_t kept[most_vectors]{};       ///< directions that the solution does not contain yet
  std::int32_t projected[most_vectors]{};  ///< of them, those whose products are known for the direction in the making
  std::int64_t added = 0;                  ///< behind the last step: directions that have been added to the solution (Rest)
  ComplexScalar alpha[most_vectors];       ///< of the latest one

  /// Behind the state.
  static constexpr std::size_t tail_bytes(int restart, int vectors) {
    return sizeof(ComplexScalar) * static_cast<std::size_t>(restart * (restart + 4) * vectors);
  }
  /// Bytes from the state's beginning to the row of a tail array for direction i: of alphas, y, |q_i|^2, and the column of `upper` in the
  /// making.
  enum Array { alphas, solution, length2, along };
  std::int64_t offset_of_row(Array array, int i) const {
    return static_cast<std::int64_t>(sizeof(State) + sizeof(ComplexScalar) * static_cast<std::size_t>((array * restart + i) * vectors));
  }
  QUARKSTAR_HD ComplexScalar& at(Array array, int i, int v) { return tail()[(array * restart + i) * vectors + v]; }
  QUARKSTAR_HD ComplexScalar& upper(int i, int j, int v) { return tail()[((4 + i) * restart + j) * vectors + v]; }

  /// y of the first `count` directions, by back substitution; of the next one 0, for directions are added two by two. It follows from all
  /// that the tail holds of them, so the trail has it.
  QUARKSTAR_HD void find_solution(int v, int count) {
    if (count < restart) at(solution, count, v) = {};
    for (int i = count - 1; i >= 0; --i) {
      ComplexScalar sum = at(alphas, i, v);
      for (int j = i + 1; j < count; ++j) {
        const ComplexScalar product = times(upper(i, j, v), at(solution, j, v));
        sum.re -= product.re;
        sum.im -= product.im;
      }
      at(solution, i, v) = sum;
      note(v, sum);
    }
  }
  /// Stops with what the directions kept give.
  QUARKSTAR_HD void end(int v, StopReason reason, int after) {
    find_solution(v, kept[v]);
    stop(v, reason, after);
  }
  /// A direction is complete: both steps that end one. A pause comes when the last before a restart has been added.
  QUARKSTAR_HD void keep(int v) {
    note(v, alpha[v]);  // as it is after its use
    kept[v] += 1;
    if (pending[v] != StopReason::running && !is_pause(v, pending[v])) end(v, pending[v], 0);
  }

 private:
  QUARKSTAR_HD ComplexScalar* tail() { return reinterpret_cast<ComplexScalar*>(this + 1); }
};

struct Begin : KrylovStep {
  static constexpr const char* name = "gcr.begin";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) { s.check_start(v, sums[v]); }
};

struct Project : KrylovStep {  // <q_i, A p> / |q_i|^2, from the products with the next few q_i kept
  static constexpr const char* name = "gcr.project";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    const int first = s.projected[v], n = s.vectors;
    const int end = first + s.products_a_step < s.kept[v] ? first + s.products_a_step : s.kept[v];
    for (int i = first; i < end; ++i) {
      const double* product = sums + 2 * (i - first) * n + v;
      const double length2 = s.at(State::length2, i, v).re;
      s.at(State::along, i, v) = {product[0] / length2, product[n] / length2};
      s.upper(i, s.kept[v], v) = s.at(State::along, i, v);
    }
    s.projected[v] = end;
  }
};

struct Alpha : KrylovLastStep {  // alpha = <q, r> / |q|^2, from |q|^2 and <r, q>; what r loses is known before it has lost it
  static constexpr const char* name = "gcr.alpha";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    // A direction whose image is zero or nothing new; one that is orthogonal to r, from which the next would be the same again.
    constexpr double largest = 1.7976931348623157e308, nothing = 0x1p-100;
    const double q2 = sums[v], dot_re = sums[s.vectors + v], dot_im = sums[2 * s.vectors + v];
    const double re = dot_re < 0 ? -dot_re : dot_re, im = dot_im < 0 ? -dot_im : dot_im;
    for (int i = 0; i < s.kept[v]; ++i) s.note(v, s.at(State::along, i, v));  // as they are after their use
    s.projected[v] = 0;
    if (!(q2 <= largest && re <= largest && im <= largest)) return s.end(v, StopReason::not_finite, 1);  // NaN too
    if (q2 == 0) return s.end(v, StopReason::zero_denominator, 1);
    s.alpha[v] = divide(s, v, {dot_re, -dot_im}, {q2, 0});
    const double lost = s.alpha[v].re * dot_re - s.alpha[v].im * dot_im;
    if (!(lost > nothing * s.norm2[v])) return s.end(v, lost >= 0 ? StopReason::zero_denominator : StopReason::not_finite, 1);
    s.at(State::alphas, s.kept[v], v) = s.alpha[v];
    s.at(State::length2, s.kept[v], v) = {q2, 0};
    s.pending[v] = s.verdict(v, lost < s.norm2[v] ? s.norm2[v] - lost : 0);
  }
};

struct Keep : KrylovStep {  // r is what Alpha said
  static constexpr const char* name = "gcr.keep";
  static QUARKSTAR_HD void run(State& s, int v, const double*) { s.keep(v); }
};

struct Close : KrylovStep {  // the same after the last direction before a restart, with |r|^2 itself: what differences have lost does not
                             // pile up
  static constexpr const char* name = "gcr.close";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.norm2[v] = sums[v];
    if (!(sums[v] <= 1.7976931348623157e308)) s.pending[v] = StopReason::not_finite;
    else if (s.pending[v] == StopReason::converged && sums[v] > s.target[v])
      s.pending[v] = s.status.step >= s.stop_at[v] ? StopReason::iteration_limit : StopReason::running;
    s.keep(v);
    if (s.stopped[v] != 0) return;
    s.find_solution(v, s.kept[v]);
    s.kept[v] = 0;
    s.watch(v, sums[v]);
  }
};

/// Behind the last step: the vectors whose solution still lacks directions run, for the task that adds the next two.
struct Rest {
  static constexpr const char* name = "gcr.rest";
  static QUARKSTAR_HD void run(State& s, const VectorStatus*, const Obedience&) {
    bool any_lacks = false;
    for (int v = 0; v < s.vectors; ++v) {
      const bool lacks = s.kept[v] > s.added;
      any_lacks = any_lacks || lacks;
      if (!lacks) s.kept[v] = 0;
      if (lacks || s.stopped[v] == 0) s.stopped[v] = lacks ? 0 : static_cast<std::int32_t>(StopReason::converged);
    }
    s.added = any_lacks ? s.added + 2 : 0;
    s.status.stop = any_lacks ? 0 : static_cast<std::int32_t>(StopReason::converged);
  }
};

struct Refreshed : KrylovRefreshStep {
  static constexpr const char* name = "gcr.refreshed";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) { s.refreshed(v, sums[v]); }
};

}  // namespace quarkstar::gcr_steps
