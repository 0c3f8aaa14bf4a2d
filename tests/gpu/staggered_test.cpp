// The GPU's staggered Dslash and solves, bit for bit against the CPU's.
#include "codelets/actions/staggered/action.hpp"
#include "tests/battery/staggered_solver_support.hpp"
#include "tests/gpu/support.hpp"

#include <algorithm>

namespace staggered_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 14142;
constexpr double scale = -1 / 24.;
constexpr Precision precisions[] = {Precision::double_, Precision::single, Precision::half};

using Outcome = battery::StaggeredOutcome;

Outcome solve(const runtime::SessionOptions& options, const Coord& blocks, const SolverSettings& settings,
              const smear::StaggeredLinks& links, std::span<const HostField> sources, std::span<const double> masses) {
  runtime::Session session(options);
  Solver solver(runtime::Decomposition(links.fat.extents, blocks, session.block_owners()), staggered::Action(links), settings);
  return battery::solve_together(solver, sources, masses);
}

}  // namespace

TEST_CASE("staggered Dslash on a GPU has the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu staggered");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const reference::StaggeredLinks links = battery::random_links(lattice, seed, scale);
  const std::vector<HostField> chi = battery::random_vectors(lattice, 32, seed + 10);
  for (const Precision precision : precisions)
    for (const int long_reals : {0, 18, 14, 13, 9}) {
      const smear::StaggeredLinks host = battery::with_phases(links, long_reals == 0 ? 0 : scale);
      std::vector<HostField> expected;
      {
        runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
        expected = battery::DslashHarness({lattice, {1, 1, 1, 1}, precision, long_reals}, host).apply(chi);
      }
      runtime::Session gpu({.cuda_workers = 1});
      for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{2, 2, 1, 2}})
        for (const int most_lanes : {16, 8, 1})
          for (const std::size_t n : {1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32}) {
            const battery::DslashCase c{lattice, blocks, precision, long_reals, most_lanes};
            INFO(c.text() << " vectors " << n);
            const std::vector<HostField> result = battery::DslashHarness(c, host).apply({chi.data(), n});
            for (std::size_t v = 0; v < n; ++v) CHECK(battery::same_bits(result[v], expected[v]));
          }
    }
}

TEST_CASE("staggered residual histories on GPUs have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu staggered solver");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 16};
  reference::StaggeredLinks smooth{reference::near_unit_gauge(lattice, seed, 0.3), reference::near_unit_gauge(lattice, seed + 1, 0.3)};
  for (double& real : smooth.naik.data) real *= scale;
  const smear::StaggeredLinks links = battery::with_phases(smooth, scale);
  const int gpus = static_cast<int>(runtime::gpus().size());
  for (const std::string solver : {"cg", "blockcg", "multishift"})
    for (const Precision precision : precisions) {
      SolverSettings settings;
      settings.solver = solver;
      settings.precision = precision;
      settings.keep_history = true;
      settings.tune = false;  // takes longer than these solves
      const bool shifted = solver == "multishift";
      std::vector<HostField> sources = battery::random_vectors(lattice, 4, seed + 2);
      if (shifted) std::fill(sources.begin(), sources.end(), sources[0]);
      const std::vector<double> masses = solver == "blockcg" ? std::vector<double>(4, 0.2) : std::vector<double>{0.1, 0.2, 0.3, 0.5};
      const Outcome expected = solve({.cpu_workers = 1, .cuda_workers = 0}, {1, 1, 1, 1}, settings, links, sources, masses);
      for (int count = 1; count <= gpus; count *= 2)
        for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{1, 1, 2, 2}})
          for (const std::string policy : {"static", "dmdas", "halo-first", "lws"}) {
            if (policy != "static" && volume(blocks) == 1) continue;
            INFO(solver << " " << name_of(precision) << " gpus " << count << " blocks " << blocks[2] << blocks[3] << " " << policy);
            const int cpus = policy == "lws" ? 2 : 0;  // two that look into the GPUs' queues; else as many as there are
            const runtime::SessionOptions options{.cpu_workers = cpus, .cuda_workers = count, .policy = policy};
            const Outcome outcome = solve(options, blocks, settings, links, sources, masses);
            for (std::size_t v = 0; v < sources.size(); ++v) {
              CHECK(outcome.results[v].converged());
              CHECK(outcome.results[v].residual_history == expected.results[v].residual_history);
              CHECK(battery::same_bits(outcome.solutions[v], expected.solutions[v]));
            }
          }
    }
}

TEST_CASE("staggered CG on a GPU: any number of right-hand sides has the bits of as many single solves on the CPU") {
  QUARKSTAR_NEEDS_GPU("gpu staggered right-hand sides");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  constexpr std::size_t most = most_vectors;
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(lattice, seed + 20), battery::naik_weight);
  const std::vector<HostField> sources = battery::random_vectors(lattice, most, seed + 22);
  std::vector<double> masses;  // unlike, so that right-hand sides stop at different iterations
  for (std::size_t v = 0; v < most; ++v) masses.push_back(0.1 + 0.05 * static_cast<double>(11 * v % most));
  for (const Precision precision : precisions)
    for (const int long_reals : {18, 13}) {
      SolverSettings settings = battery::staggered_settings("cg", precision, long_reals);
      settings.tune = false;
      std::vector<Outcome> alone;
      {
        runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
        Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), staggered::Action(links), settings);
        for (std::size_t v = 0; v < most; ++v) alone.push_back(battery::solve_together(solver, {&sources[v], 1}, {&masses[v], 1}));
      }
      runtime::Session gpu({.cuda_workers = 1});
      for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 2}}) {
        Solver solver(runtime::Decomposition(lattice, blocks, gpu.block_owners()), staggered::Action(links), settings);
        for (const std::size_t n : {1, 2, 3, 4, 5, 8, 12, 16, 32}) {
          const Outcome together = battery::solve_together(solver, std::span(sources).first(n), std::span(masses).first(n));
          for (std::size_t v = 0; v < n; ++v) {
            INFO(name_of(precision) << " long links " << long_reals << " blocks " << blocks[2] << blocks[3] << " vectors " << n
                                    << ", number " << v);
            CHECK(together.results[v].converged());
            battery::check_same_bits(together, v, alone[v], 0);
          }
        }
      }
    }
}

TEST_CASE(
    "staggered block CG with up to 32 right-hand sides on a GPU has the CPU's bits, also where they depend on each "
    "other") {
  QUARKSTAR_NEEDS_GPU("gpu staggered block CG");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed + 30);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  std::vector<HostField> sources = battery::random_vectors(lattice, most_vectors, seed + 32);
  const std::vector<double> masses(sources.size(), 0.1);
  sources[3] = sources[0];
  sources[17] = sources[1];
  for (std::size_t i = 0; i < sources[9].data.size(); ++i) sources[9].data[i] = sources[1].data[i] + sources[2].data[i];
  for (const Precision precision : precisions) {
    SolverSettings settings = battery::staggered_settings("blockcg", precision);
    settings.tune = false;
    for (const std::size_t n : {5, 12, 32}) {
      const auto solve_on = [&](const runtime::SessionOptions& options, const Coord& blocks) {
        return solve(options, blocks, settings, links, std::span(sources).first(n), std::span(masses).first(n));
      };
      const Outcome expected = solve_on({.cpu_workers = 1, .cuda_workers = 0}, {1, 1, 1, 1});
      for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}}) {
        const Outcome outcome = solve_on({.cuda_workers = 1}, blocks);
        for (std::size_t v = 0; v < n; ++v) {
          INFO(name_of(precision) << " blocks " << blocks[3] << " vectors " << n << ", number " << v);
          CHECK(outcome.results[v].converged());
          CHECK(battery::true_residual(reference_links, masses[v], sources[v], outcome.solutions[v]) < 1.01e-10);
          battery::check_same_bits(outcome, v, expected, v);
        }
      }
    }
  }
}

TEST_CASE("staggered multi-shift CG with refinement on a GPU has the CPU's bits for every long-link format") {
  QUARKSTAR_NEEDS_GPU("gpu staggered multi-shift");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed + 40);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  const std::vector<double> masses{0.2, 0.05, 0.5, 0.1, 1.0};
  const std::vector<HostField> sources(masses.size(), battery::random_vectors(lattice, 1, seed + 42)[0]);
  for (const Precision precision : precisions)
    for (const int long_reals : {18, 14, 13, 9}) {
      SolverSettings settings = battery::staggered_settings("multishift", precision, long_reals);
      settings.tune = false;
      const Outcome expected = solve({.cpu_workers = 1, .cuda_workers = 0}, {1, 1, 1, 1}, settings, links, sources, masses);
      for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}}) {
        const Outcome outcome = solve({.cuda_workers = 1}, blocks, settings, links, sources, masses);
        for (std::size_t s = 0; s < masses.size(); ++s) {
          INFO(name_of(precision) << " long links " << long_reals << " blocks " << blocks[3] << " mass " << masses[s]);
          CHECK(outcome.results[s].converged());
          CHECK(battery::true_residual(reference_links, masses[s], sources[s], outcome.solutions[s]) < 1.01e-10);
          battery::check_same_bits(outcome, s, expected, s);
        }
      }
    }
}

TEST_CASE("staggered iterations whose kernels overlap on a GPU have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu staggered overlap");
  MESSAGE("seed " << seed);
  const Coord lattice{16, 16, 16, 32};  // 2^16 sites a parity: enough for overlapping launches of the Dslash
  reference::StaggeredLinks smooth{reference::near_unit_gauge(lattice, seed + 3, 0.3), reference::near_unit_gauge(lattice, seed + 4, 0.3)};
  for (double& real : smooth.naik.data) real *= scale;
  const smear::StaggeredLinks links = battery::with_phases(smooth, scale);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 8, seed + 5);
  const std::vector<double> masses(8, 0.1);
  SolverSettings settings;
  settings.solver = "cg";
  settings.keep_history = true;
  settings.tune = false;
  settings.max_iterations = 48;  // batches that are run, captured and replayed, and reliable updates
  for (const Precision precision : precisions)
    for (const int long_reals : {18, 13})
      for (const std::size_t n : {1, 4, 8}) {
        INFO(name_of(precision) << " long links " << long_reals << " vectors " << n);
        settings.precision = precision;
        settings.link_reals = long_reals;
        const std::span<const HostField> some(sources.data(), n);
        const std::span<const double> their(masses.data(), n);
        const Outcome expected = solve({.cuda_workers = 0}, {1, 1, 1, 1}, settings, links, some, their);
        const Outcome outcome = solve({.cuda_workers = 1}, {1, 1, 1, 1}, settings, links, some, their);
        for (std::size_t v = 0; v < n; ++v) {
          CHECK(outcome.results[v].residual_history.size() >= 16);
          CHECK(outcome.results[v].residual_history == expected.results[v].residual_history);
          CHECK(battery::same_bits(outcome.solutions[v], expected.solutions[v]));
        }
      }
}

}  // namespace staggered_test
