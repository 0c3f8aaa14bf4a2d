// Block CG: what it saves, and right-hand sides that depend on each other.
#include "codelets/actions/staggered/action.hpp"
#include "tests/battery/staggered_solver_support.hpp"

#include <algorithm>

namespace staggered_block_cg_test {

using namespace quarkstar;
using battery::StaggeredOutcome;

namespace {

constexpr std::uint64_t seed = 20261128;
constexpr Precision precisions[] = {Precision::double_, Precision::single, Precision::half};

/// n vectors of which the first half is random and each of the others a copy of one of those or the sum of two.
std::vector<HostField> dependent_vectors(const Coord& lattice, std::size_t n, std::uint64_t first_seed) {
  std::vector<HostField> vectors = battery::random_vectors(lattice, static_cast<int>((n + 1) / 2), first_seed);
  for (std::size_t u = 0; vectors.size() < n; ++u) {
    vectors.push_back(vectors[u]);
    if (u % 2 == 0) continue;
    for (std::size_t i = 0; i < vectors[u].data.size(); ++i) vectors.back().data[i] += vectors[u - 1].data[i];
  }
  return vectors;
}

}  // namespace

TEST_CASE("staggered block CG takes fewer applications than CG, and the fewer the more right-hand sides it has") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 8, 8, 8};
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 8, seed + 2);
  const std::vector<double> masses(8, 0.1);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  for (const Precision precision : precisions) {
    Solver conjugate(whole, staggered::Action(links), battery::staggered_settings("cg", precision)),
        block(whole, staggered::Action(links), battery::staggered_settings("blockcg", precision));
    const StaggeredOutcome each = battery::solve_together(conjugate, sources, masses);
    int before = 0;
    for (const std::size_t n : {1, 2, 4, 8}) {
      if (n < 8 && precision != Precision::double_) continue;
      const StaggeredOutcome outcome = battery::solve_together(block, std::span(sources).first(n), std::span(masses).first(n));
      int applications = 0, of_cg = 0;  // each to all n vectors
      for (std::size_t v = 0; v < n; ++v) {
        INFO(name_of(precision) << " vectors " << n << ", number " << v);
        CHECK(outcome.results[v].converged());
        CHECK(battery::true_residual(reference_links, masses[v], sources[v], outcome.solutions[v]) < 1.01e-10);
        applications = std::max(applications, outcome.results[v].iterations);
        of_cg = std::max(of_cg, each.results[v].iterations);
      }
      MESSAGE(name_of(precision) << ", " << n << " right-hand sides: " << applications << " applications of block CG, " << of_cg
                                 << " of CG");
      if (n == 8 && precision == Precision::double_) CHECK(10 * applications < 9 * of_cg);
      if (before > 0) CHECK(applications < before);
      before = applications;
    }
  }
}

TEST_CASE("staggered block CG survives right-hand sides that depend on each other, 2 to 32 of them") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed + 10);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1), cut(lattice, {1, 1, 1, 2}, 1);
  for (const Precision precision : precisions) {
    const SolverSettings settings = battery::staggered_settings("blockcg", precision);
    Solver solver(whole, staggered::Action(links), settings), on_two(cut, staggered::Action(links), settings);
    for (const std::size_t n : {2, 3, 4, 5, 8, 12, 16, 32}) {
      const std::vector<HostField> sources = dependent_vectors(lattice, n, seed + 12);
      const std::vector<double> masses(n, 0.5);
      const StaggeredOutcome outcome = battery::solve_together(solver, sources, masses);
      for (std::size_t v = 0; v < n; ++v) {
        INFO(name_of(precision) << " vectors " << n << ", number " << v);
        CHECK(outcome.results[v].converged());
        CHECK(battery::true_residual(reference_links, masses[v], sources[v], outcome.solutions[v]) < 1.01e-10);
      }
      if (n != 5 && n != 16) continue;
      const StaggeredOutcome other = battery::solve_together(on_two, sources, masses);
      for (std::size_t v = 0; v < n; ++v) {
        INFO(name_of(precision) << " in two blocks, vectors " << n << ", number " << v);
        battery::check_same_bits(other, v, outcome, v);
      }
    }
  }
}

TEST_CASE("staggered block CG: 32 copies of one right-hand side are one, and zeros stay zeros") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  constexpr std::size_t n = most_vectors;
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed + 20);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  std::vector<HostField> sources(n, battery::random_vectors(lattice, 1, seed + 22)[0]);
  std::fill(sources[9].data.begin(), sources[9].data.end(), 0.0);
  const std::vector<double> masses(n, 0.5);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const Precision precision : precisions) {
    Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), staggered::Action(links),
                  battery::staggered_settings("blockcg", precision));
    const StaggeredOutcome outcome = battery::solve_together(solver, sources, masses);
    for (std::size_t v = 0; v < n; ++v) {
      INFO(name_of(precision) << " number " << v);
      CHECK(outcome.results[v].converged());
      if (v == 9)
        CHECK(std::all_of(outcome.solutions[v].data.begin(), outcome.solutions[v].data.end(), [](const auto& z) { return z == 0.0; }));
      else CHECK(battery::true_residual(reference_links, masses[v], sources[v], outcome.solutions[v]) < 1.01e-10);
    }
  }
}

}  // namespace staggered_block_cg_test
