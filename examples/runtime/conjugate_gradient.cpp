// Conjugate gradient for the Poisson equation on a square, on quarkstar::runtime alone: scalars that live on the graph.
//
//   conjugate_gradient [POLICY] [STRIPS]
//
//   4 x(i, j) - x(i+1, j) - x(i-1, j) - x(i, j+1) - x(i, j-1) = b(i, j),   x = 0 outside of n x n points
//
// Vectors are cut into strips of rows. alpha, beta and the decision to stop are taken by small tasks, so that nothing waits for them: the
// main thread submits iterations ahead of the answer, and those behind the last one do nothing. Sums do not depend on their order
// (runtime/graph/binned_sum.hpp), so the iteration has the same bits for any number of strips and under any policy. Source: Saad, Iterative
// Methods for Sparse Linear Systems, algorithm 6.18. The result is compared with the exact one, in the basis of sines.
#include "runtime/graph/array.hpp"
#include "runtime/graph/scalar.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/graph/typed_codelet.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace quarkstar::runtime;

namespace {

constexpr int n = 60, most_iterations = 1000, iterations_a_batch = 16;
constexpr double tolerance = 1e-12;

/// The numbers of the iteration. Its status comes first: tasks that read a state do nothing once its `stop` is set.
struct State {
  GraphStatus status;
  double rho = 0, alpha = 0, beta = 0, target = 0;  ///< |r|^2; coefficients; |r|^2 to end at
};
struct Start {
  static constexpr const char* name = "cg.start";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) {
    s.rho = sums[0];
    s.target = tolerance * tolerance * sums[0];
  }
};
struct Alpha {
  static constexpr const char* name = "cg.alpha";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) { s.alpha = s.rho / sums[0]; }
};
struct Beta {
  static constexpr const char* name = "cg.beta";
  static constexpr bool ends_iteration = true;
  static void run(State& s, const double* sums) {
    s.beta = sums[0] / s.rho;
    s.rho = sums[0];
    if (s.rho <= s.target) s.status.stop = 1;
  }
  static double record(const State& s) { return s.rho; }
};

/// sum_i a_i b_i over the threads of a task.
template <class Body>
void rows_with_sum(Call& call, std::int64_t rows, BinnedSum* sum, Body&& body) {
  ThreadSums sums(call.team().threads(), 1);
  call.team().for_range(rows, [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t j = begin; j < end; ++j) body(j, *sums.of(thread));
  });
  sums.merge_into(sum, 1);
}

/// y = A p, <p, y>. neighbours: the strips below and above, as far as there are any; below: whether there is one below.
const TypedCodelet multiply("cg.multiply", CodeletKind::stencil,
                            [](Call& call, In<State> state, In<double, 2> p, const std::vector<In<double, 2>>& neighbours, Out<double, 2> y,
                               Out<BinnedSum> sum, int below) {
                              if (state->status.stop != 0) return call.skip();
                              const std::int64_t rows = p.extents[1];
                              rows_with_sum(call, rows, sum.data, [&](std::int64_t j, BinnedSum& total) {
                                const auto at = [&](std::int64_t i, std::int64_t row) {
                                  if (i < 0 || i == n) return 0.0;
                                  if (row >= 0 && row < rows) return p(i, row);
                                  if (row < 0) return below != 0 ? neighbours.front()(i, neighbours.front().extents[1] - 1) : 0.0;
                                  return static_cast<int>(neighbours.size()) > below ? neighbours.back()(i, 0) : 0.0;
                                };
                                for (std::int64_t i = 0; i < n; ++i) {
                                  y(i, j) = 4 * p(i, j) - at(i + 1, j) - at(i - 1, j) - at(i, j + 1) - at(i, j - 1);
                                  add(total, p(i, j) * y(i, j));
                                }
                              });
                            });

/// x += alpha p, r -= alpha y, |r|^2.
const TypedCodelet update("cg.update", CodeletKind::vector,
                          [](Call& call, In<State> state, In<double, 2> p, In<double, 2> y, InOut<double, 2> x, InOut<double, 2> r,
                             Out<BinnedSum> sum) {
                            if (state->status.stop != 0) return call.skip();
                            rows_with_sum(call, p.extents[1], sum.data, [&](std::int64_t j, BinnedSum& total) {
                              for (std::int64_t i = 0; i < n; ++i) {
                                x(i, j) += state->alpha * p(i, j);
                                r(i, j) -= state->alpha * y(i, j);
                                add(total, r(i, j) * r(i, j));
                              }
                            });
                          });

/// p = r + beta p.
const TypedCodelet turn("cg.turn", CodeletKind::vector, [](Call& call, In<State> state, In<double, 2> r, InOut<double, 2> p) {
  if (state->status.stop != 0) return call.skip();
  call.team().for_range(p.size(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) p[i] = r[i] + state->beta * p[i];
  });
});

/// x = 0, r = p = b, |b|^2.
const TypedCodelet begin("cg.begin", CodeletKind::vector,
                         [](Call& call, In<double, 2> b, Out<double, 2> x, Out<double, 2> r, Out<double, 2> p, Out<BinnedSum> sum) {
                           rows_with_sum(call, b.extents[1], sum.data, [&](std::int64_t j, BinnedSum& total) {
                             for (std::int64_t i = 0; i < n; ++i) {
                               x(i, j) = 0;
                               r(i, j) = p(i, j) = b(i, j);
                               add(total, b(i, j) * b(i, j));
                             }
                           });
                         });

double right_hand_side(int i, int j) { return i == n / 3 && j == n / 2 ? 1 : i * 0.01 - j * 0.02; }

/// The exact solution: A is diagonal in the basis of sines, with eigenvalues 4 - 2 cos(pi k / (n + 1)) - 2 cos(pi l / (n + 1)).
std::vector<double> exact_solution() {
  const auto sine = [](int i, int k) { return std::sqrt(2.0 / (n + 1)) * std::sin(M_PI * (i + 1) * (k + 1) / (n + 1)); };
  const auto transform = [&](const std::vector<double>& in) {  // sum_ij sine(i, k) sine(j, l) in(i, j), its own inverse
    std::vector<double> half(n * n), out(n * n);
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) half[static_cast<std::size_t>(k + n * j)] += sine(i, k) * in[static_cast<std::size_t>(i + n * j)];
    for (int l = 0; l < n; ++l)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) out[static_cast<std::size_t>(k + n * l)] += sine(j, l) * half[static_cast<std::size_t>(k + n * j)];
    return out;
  };
  std::vector<double> b(n * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) b[static_cast<std::size_t>(i + n * j)] = right_hand_side(i, j);
  std::vector<double> coefficients = transform(b);
  for (int l = 0; l < n; ++l)
    for (int k = 0; k < n; ++k)
      coefficients[static_cast<std::size_t>(k + n * l)] /=
          4 - 2 * std::cos(M_PI * (k + 1) / (n + 1)) - 2 * std::cos(M_PI * (l + 1) / (n + 1));
  return transform(coefficients);
}

/// A vector in strips of rows.
using Strips = std::vector<Array<double, 2>>;

int rows_of(int strip, int strips) { return n * (strip + 1) / strips - n * strip / strips; }

Strips make_strips(int strips) {
  Strips made;
  for (int s = 0; s < strips; ++s) made.emplace_back(n, rows_of(s, strips));
  return made;
}

/// Visits each point on the host.
template <class Visit>
void each_point(const Strips& vector, HostAccess access, Visit&& visit) {
  int first = 0;
  for (const Array<double, 2>& strip : vector) {
    const HostArray values(strip, access);
    for (int j = 0; j < strip.extent(1); ++j)
      for (int i = 0; i < n; ++i) visit(values(i, j), i, first + j);
    first += static_cast<int>(strip.extent(1));
  }
}

/// One iteration: three tasks a strip and two steps.
void iterate(GraphState<State>& state, const PartialSums& sums, const Strips& x, const Strips& r, const Strips& p, const Strips& y) {
  const int strips = static_cast<int>(p.size()), workers = static_cast<int>(Session::current().workers().size());
  const auto at = [](const Strips& vector, int s) -> const Array<double, 2>& { return vector[static_cast<std::size_t>(s)]; };
  const auto place = [&](int s) { return Placement{.owner = s * workers / strips, .block = s}; };
  const auto points = [&](int s) { return static_cast<double>(at(p, s).size()); };
  for (int s = 0; s < strips; ++s) {
    std::vector<const Array<double, 2>*> neighbours;
    if (s > 0) neighbours.push_back(&at(p, s - 1));
    if (s + 1 < strips) neighbours.push_back(&at(p, s + 1));
    submit(multiply.on(state.handle(), at(p, s), neighbours, at(y, s), sums.task(s), s > 0 ? 1 : 0), {10 * points(s), 16 * points(s)},
           place(s));
  }
  submit_scalar<Alpha>(state, &sums, 1);
  for (int s = 0; s < strips; ++s)
    submit(update.on(state.handle(), at(p, s), at(y, s), at(x, s), at(r, s), sums.task(s)), {6 * points(s), 48 * points(s)}, place(s));
  submit_scalar<Beta>(state, &sums, 1);
  for (int s = 0; s < strips; ++s) submit(turn.on(state.handle(), at(r, s), at(p, s)), {2 * points(s), 24 * points(s)}, place(s));
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string policy = argc > 1 ? argv[1] : "static";
  const int strips = argc > 2 ? std::stoi(argv[2]) : 4;
  const Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = policy});

  const Strips b = make_strips(strips), x = make_strips(strips), r = make_strips(strips), p = make_strips(strips), y = make_strips(strips);
  each_point(b, HostAccess::overwrite, [](double& value, int i, int j) { value = right_hand_side(i, j); });
  GraphState<State> state(State{}, most_iterations, 0);
  const PartialSums sums(strips, 1);
  for (std::size_t s = 0; s < b.size(); ++s) submit(begin.on(b[s], x[s], r[s], p[s], sums.task(static_cast<int>(s))));
  submit_scalar<Start>(state, &sums, 1);

  State seen;
  publish(state);
  for (int submitted = 0; submitted < most_iterations && seen.status.stop == 0; submitted += iterations_a_batch) {
    for (int i = 0; i < iterations_a_batch; ++i) iterate(state, sums, x, r, p, y);
    seen = look(state);  // of the batch before this one: workers have something to do meanwhile
    publish(state);
  }
  seen = look(state);

  double error = 0, length = 0, middle = 0;
  const std::vector<double> exact = exact_solution();
  each_point(x, HostAccess::read, [&](double& value, int i, int j) {
    const double expected = exact[static_cast<std::size_t>(i + n * j)];
    error += (value - expected) * (value - expected);
    length += expected * expected;
    if (i == n / 2 && j == n / 2) middle = value;
  });
  error = std::sqrt(error / length);
  std::printf("conjugate gradient: %d iterations, |r|^2 = %.17g, differs from the exact solution by %.1e, x in the middle = %.17g\n",
              seen.status.step, seen.rho, error, middle);
  return seen.status.stop == 1 && error < 1e-9 ? 0 : 1;
} catch (const quarkstar::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
