// Restarted generalised conjugate residuals, GCR(k) (Eisenstat, Elman and Schultz 1983), flexible: every direction may
// come from another preconditioner. The directions themselves are kept, not combined, and the solution is put together
// when they are given up (M. Luescher, hep-lat/0310048), so that an iteration reads each kept vector twice.
#include "solvers/krylov/gcr_steps.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace quarkstar {
namespace {

using namespace gcr_steps;
using Coefficients = std::vector<blas::Coefficient>;

/// to += sum c_i vectors_i, over as many as there are coefficients.
void add_all(const Field& to, const std::vector<Field>& vectors, const Coefficients& c, const runtime::Guard& guard) {
  std::size_t i = 0;
  for (; i + 2 <= c.size(); i += 2) blas::submit<blas::AddScaledPair>({&to, &vectors[i], &vectors[i + 1]}, {c[i], c[i + 1]}, guard);
  if (i < c.size()) blas::submit<blas::AddScaled>({&to, &vectors[i]}, {c[i]}, guard);
}

/// <vectors_i, x> for i in [begin, end).
void dot_all(const Field& x, const std::vector<Field>& vectors, std::size_t begin, std::size_t end, const runtime::Guard& guard,
             const runtime::PartialSums& sums) {
  const auto place = [&](std::size_t i) { return static_cast<int>(2 * (i - begin)) * x.vectors(); };
  std::size_t i = begin;
  for (; i + 2 <= end; i += 2) blas::submit<blas::DotPair>({&x, &vectors[i], &vectors[i + 1]}, {}, guard, &sums, place(i));
  if (i < end) blas::submit<blas::Dot>({&x, &vectors[i]}, {}, guard, &sums, place(i));
}

/// What the graph has stopped with: the state and its tail.
std::vector<std::byte> bytes_of(const runtime::GraphState<State>& state, std::size_t bytes) {
  const runtime::HostView<std::byte> view(state.handle());
  return {view.get(), view.get() + bytes};
}

}  // namespace

KrylovResults generalised_conjugate_residual(LinearOperator& a, const Field& x, const Field& r, const KrylovLimits& limits,
                                             const KrylovProgress& progress) {
  const int n = a.vectors();
  const auto directions = static_cast<std::size_t>(limits.restart);
  std::vector<Field> p, q;
  for (std::size_t i = 0; i < directions; ++i) {
    p.push_back(a.field());
    q.push_back(a.field());
  }
  State start = initial_state<State>(limits, n);
  start.restart = limits.restart;
  start.products_a_step = std::max(2, runtime::detail::most_sums_on_cuda / (2 * n) / 2 * 2);
  const std::size_t tail_bytes = State::tail_numbers(limits.restart, n) * sizeof(ComplexScalar);
  runtime::GraphState<State> state(start, recorded_numbers(limits, n), tail_bytes);
  const auto at_a_time = static_cast<std::size_t>(start.products_a_step);
  const runtime::PartialSums sums = partial_sums_of(a, 3),
                             products = partial_sums_of(a, 2 * std::min(start.products_a_step, limits.restart));
  const runtime::Guard s(&state.handle());
  const auto alpha = blas::Coefficient::of(&State::alpha);
  Coefficients minus_along, y;
  for (int i = 0; i < limits.restart; ++i) {
    minus_along.push_back(-blas::Coefficient::at(start.offset_of_row(State::along, i), false));
    y.push_back(blas::Coefficient::at(start.offset_of_row(State::solution, i), false));
  }

  blas::submit<blas::Fill>({&x}, {0.0});
  for (const Field& kept : p) blas::submit<blas::Fill>({&kept}, {0.0});  // what a task may keep must be there
  blas::submit<blas::Norm>({&r}, {}, {}, &sums);
  runtime::submit_scalar<Begin>(state, &sums, n);

  std::size_t j = 0;
  // Directions of the last round outlive the tasks that a stop leaves undone.
  const runtime::Guard keeping = s.keeping();
  const KrylovResults results = run_iterations(
      state, limits, progress,
      [&](bool last) {
        if (limits.precondition) limits.precondition(p[j], r, keeping);  // p = K r
        else blas::submit<blas::Scale>({&p[j], &r}, {1.0}, keeping);
        if (j == 0) {
          a.apply(q[j], p[j], {.norm = true, .y = &r}, false, s);  // q = A p,  |q|^2, <r, q>
        } else {
          a.apply(q[j], p[j], {}, false, s);
          for (std::size_t first = 0; first < j; first += at_a_time) {
            const std::size_t end = std::min(first + at_a_time, j);
            dot_all(q[j], q, first, end, s, products);  // <q_i, q>
            runtime::submit_scalar<Project>(state, &products, static_cast<int>(2 * (end - first)) * n);
          }
          add_all(q[j], q, {minus_along.begin(), minus_along.begin() + static_cast<std::ptrdiff_t>(j)}, s);
          blas::submit<blas::NormDot>({&q[j], &r}, {}, s, &sums);  // |q|^2, <r, q>
        }
        runtime::submit_scalar<Alpha>(state, j == 0 ? &a.sums() : &sums, 3 * n);  // alpha = <q, r> / |q|^2
        if (!last) {
          blas::submit<blas::AddScaled>({&r, &q[j]}, {-alpha}, s);  // r -= alpha q
          runtime::submit_scalar<Keep>(state);
          ++j;
          return;
        }
        blas::submit<blas::AddScaledNorm>({&r, &q[j]}, {-alpha}, s, &sums);
        runtime::submit_scalar<Close>(state, &sums, n);
        add_all(x, p, y, s);
        if (limits.refresh.submit) {
          const runtime::Guard due = s.refreshing();
          limits.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
          blas::submit<blas::Norm>({&r}, {}, due, &sums);
          runtime::submit_scalar<Refreshed>(state, &sums, n);
        }
        j = 0;
      },
      limits.restart);

  // Once stopped the state stays as it is: what it had found by then is what the solutions lack, of each vector as many directions as it
  // had kept.
  std::vector<std::byte> bytes = bytes_of(state, sizeof(State) + tail_bytes);
  State& end = *reinterpret_cast<State*>(bytes.data());
  for (const int count : std::set<int>(end.kept, end.kept + n)) {
    VectorStatus of_others{};
    for (int v = 0; v < n; ++v) of_others.stopped[v] = end.kept[v] == count ? 0 : 1;
    const runtime::GraphState<VectorStatus> mask(of_others, 1);
    Coefficients rest(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      for (int v = 0; v < n; ++v) rest[static_cast<std::size_t>(i)].values[v] = end.at(State::solution, i, v);
    add_all(x, p, rest, n > 1 ? runtime::Guard(&mask.handle()) : runtime::Guard());
  }
  return results;
}

}  // namespace quarkstar
