// Restarted generalised conjugate residuals, GCR(k) (Eisenstat, Elman and Schultz 1983), flexible: every direction may
// come from another preconditioner. The directions themselves are kept, not combined, and the solution is put together
// when they are given up (M. Luescher, hep-lat/0310048), so that an iteration reads each kept vector twice.
#include "codelets/field/blas.hpp"
#include "solvers/krylov/gcr_steps.hpp"

#include <cstddef>
#include <vector>

namespace quarkstar {
namespace {

using namespace gcr_steps;

/// Element i of an array in the state.
runtime::Coefficient element(runtime::ComplexScalar (State::*array)[most_directions], int i) {
  const State probe{};
  const auto offset = reinterpret_cast<const char*>(&(probe.*array)[i]) - reinterpret_cast<const char*>(&probe);
  return {1, 0, static_cast<std::int32_t>(offset)};
}

/// to += sum c_i vectors_i.
void add_all(const SpinorField& to, const std::vector<SpinorField>& vectors, const std::vector<runtime::Coefficient>& c,
             const runtime::Guard& guard) {
  std::size_t i = 0;
  for (; i + 2 <= c.size(); i += 2) blas::submit<blas::AddScaledPair>({&to, &vectors[i], &vectors[i + 1]}, {c[i], c[i + 1]}, guard);
  if (i < c.size()) blas::submit<blas::AddScaled>({&to, &vectors[i]}, {c[i]}, guard);
}

/// <vectors_i, x> for the first `count`.
void dot_all(const SpinorField& x, const std::vector<SpinorField>& vectors, std::size_t count, const runtime::Guard& guard,
             const runtime::PartialSums& sums) {
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) blas::submit<blas::DotPair>({&x, &vectors[i], &vectors[i + 1]}, {}, guard, &sums, static_cast<int>(2 * i));
  if (i < count) blas::submit<blas::Dot>({&x, &vectors[i]}, {}, guard, &sums, static_cast<int>(2 * i));
}

}  // namespace

KrylovResult generalised_conjugate_residual(LinearOperator& a, const SpinorField& x, const SpinorField& r, const KrylovLimits& limits,
                                            const KrylovProgress& progress) {
  const auto directions = static_cast<std::size_t>(limits.restart);
  std::vector<SpinorField> p, q;
  for (std::size_t i = 0; i < directions; ++i) {
    p.emplace_back(a.lattice(), a.parity());
    q.emplace_back(a.lattice(), a.parity());
  }
  runtime::GraphState<State> state(initial_state<State>(limits), recorded_iterations(limits));
  const int blocks = static_cast<int>(a.lattice()->local_blocks().size());
  runtime::PartialSums sums(blocks), products(blocks, 2 * limits.restart);
  const runtime::Handle* s = &state.handle();
  const auto alpha = state.coefficient(&State::alpha);
  std::vector<runtime::Coefficient> minus_along, y;
  for (int i = 0; i < limits.restart; ++i) {
    minus_along.push_back(-element(&State::along, i));
    y.push_back(element(&State::y, i));
  }

  blas::submit<blas::Fill>({&x}, {{{0, 0}}});
  for (const SpinorField& kept : p) blas::submit<blas::Fill>({&kept}, {{{0, 0}}});  // what a task may keep must be there
  blas::submit<blas::Norm>({&r}, {}, nullptr, &sums);
  runtime::submit_scalar<Begin>(state, &sums, 1);

  std::size_t j = 0;
  // Directions of the last round outlive the tasks that a stop leaves undone.
  const runtime::Guard keeping(s, runtime::When::running, true);
  const KrylovResult result = run_iterations(
      state, limits, progress,
      [&](bool last) {
        if (limits.precondition) limits.precondition(p[j], r, keeping);  // p = K r
        else blas::submit<blas::Scale>({&p[j], &r}, {{{1, 0}}}, keeping);
        if (j == 0) {
          a.apply(q[j], p[j], {.norm = true, .y = &r}, false, s);  // q = A p,  |q|^2, <r, q>
        } else {
          a.apply(q[j], p[j], {}, false, s);
          dot_all(q[j], q, j, s, products);  // <q_i, q>
          runtime::submit_scalar<Project>(state, &products, static_cast<int>(2 * j));
          add_all(q[j], q, {minus_along.begin(), minus_along.begin() + static_cast<std::ptrdiff_t>(j)}, s);
          blas::submit<blas::NormDot>({&q[j], &r}, {}, s, &sums);  // |q|^2, <r, q>
        }
        runtime::submit_scalar<Alpha>(state, j == 0 ? &a.sums() : &sums, 3);  // alpha = <q, r> / |q|^2
        if (!last) {
          blas::submit<blas::AddScaled>({&r, &q[j]}, {-alpha}, s);  // r -= alpha q
          runtime::submit_scalar<Keep>(state);
          ++j;
          return;
        }
        blas::submit<blas::AddScaledNorm>({&r, &q[j]}, {-alpha}, s, &sums);
        runtime::submit_scalar<Close>(state, &sums, 1);
        add_all(x, p, y, s);
        if (limits.refresh.submit) {
          const runtime::Guard due(s, runtime::When::refreshing);
          limits.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
          blas::submit<blas::Norm>({&r}, {}, due, &sums);
          runtime::submit_scalar<Refreshed>(state, &sums, 1);
        }
        j = 0;
      },
      limits.restart);

  // Once stopped the state stays as it is: what it had found by then is what the solution lacks.
  const State end = runtime::look(state);
  std::vector<runtime::Coefficient> rest;
  for (int i = 0; i < end.kept; ++i) rest.push_back({end.y[i].re, end.y[i].im});
  add_all(x, p, rest, {});
  return result;
}

}  // namespace quarkstar
