// Whole solves on GPUs: the residual history and the solution have the CPU's bits.
#include "codelets/actions/clover/action.hpp"
#include "runtime/system/switch_variable.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/together_support.hpp"
#include "tests/gpu/support.hpp"
#include "tests/unit/environment_testing.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace solver_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 27182;

struct Problem {
  Coord lattice{8, 8, 8, 16};
  HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));

  battery::SolveOutcome solve(const battery::SolveCase& c) const {
    return battery::solve_once(c, gauge, {0.125, {}, antiperiodic_in_time}, source);
  }
};

}  // namespace

TEST_CASE("residual histories on GPUs have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu solver");
  MESSAGE("seed " << seed);
  const Problem problem;
  const int gpus = static_cast<int>(runtime::gpus().size());
  for (const std::string& solver : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const int reals : {18, 12, 8}) {
        battery::SolveCase c;
        c.settings.solver = solver;
        c.settings.precision = precision;
        c.settings.link_reals = reals;
        const battery::SolveOutcome expected = problem.solve(c);
        REQUIRE(expected.result.converged());
        for (int count = 1; count <= gpus; count *= 2)
          for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{1, 1, 2, 2}})
            for (const std::string policy : {"static", "dmdas", "lws"}) {
              INFO(solver << " " << name_of(precision) << " links " << reals << " gpus " << count << " blocks " << blocks[2] << blocks[3]
                          << " " << policy);
              battery::SolveCase on_gpu = c;
              on_gpu.gpus = count;
              on_gpu.blocks = blocks;
              on_gpu.policy = policy;
              if (policy == "lws") on_gpu.workers = 2;  // which look into the GPUs' queues
              battery::check_same_bits(problem.solve(on_gpu), expected);
            }
      }
}

TEST_CASE("Wilson and clover solves on a GPU: several right-hand sides have the bits of as many single solves on the CPU") {
  QUARKSTAR_NEEDS_GPU("gpu Wilson right-hand sides");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 20, 0.4);
  const wilson::Action wilson_action(gauge, {0.12, {}, antiperiodic_in_time});
  const clover::Action clover_action(gauge, {0.12, {}, antiperiodic_in_time}, {.csw = 1.1});
  constexpr std::size_t most = 16;
  std::vector<HostField> sources;
  std::vector<double> kappas;  // unlike, so that right-hand sides stop at different iterations
  for (std::size_t v = 0; v < most; ++v) {
    sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + 21 + v)));
    kappas.push_back(0.1 + 0.002 * static_cast<double>(5 * v % most));
  }
  const std::vector<double> same(most, 0.12);  // clover has one
  const auto compare = [&](const Action& action, std::span<const double> masses, const std::string& solver) {
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      SolverSettings settings = battery::settings_of(solver, precision);
      if (&action == &clover_action) settings.link_reals = 12;  // it has no kernels for links of 8
      std::vector<battery::TogetherOutcome> alone;
      {
        runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
        Solver single(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), action, settings);
        for (std::size_t v = 0; v < most; ++v) alone.push_back(battery::solve_together(single, {&sources[v], 1}, masses.subspan(v, 1)));
      }
      runtime::Session gpu({.cuda_workers = 1});
      for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 2}}) {
        const std::pair<int, std::size_t> layouts[] = {{1, 3}, {1, 12}, {8, 8}, {8, 16}, {12, 12}, {16, 16}};
        for (const auto& [in_lanes, n] : layouts) {
          if (in_lanes > 1 && precision == Precision::half) continue;
          Solver together(runtime::Decomposition(lattice, blocks, gpu.block_owners()), action, settings, {.vectors_in_lanes = in_lanes});
          const battery::TogetherOutcome outcome = battery::solve_together(together, std::span(sources).first(n), masses.first(n));
          for (std::size_t v = 0; v < n; ++v) {
            INFO(solver << " " << name_of(precision) << " blocks " << blocks[2] << blocks[3] << " vectors " << n << ", in lanes "
                        << in_lanes << ", number " << v);
            CHECK(outcome.results[v].converged());
            battery::check_same_bits(outcome, v, alone[v], 0);
          }
        }
      }
    }
  };
  for (const std::string& solver : solver_names(false)) compare(wilson_action, kappas, solver);
  compare(clover_action, same, "bicgstab");
}

TEST_CASE("reliable updates as conditional parts of GPU graphs change no bit") {
  QUARKSTAR_NEEDS_GPU("gpu conditional refreshes");
  MESSAGE("seed " << seed);
  const Problem problem;
  int refreshes = 0;
  for (const std::string& solver : solver_names(false))
    for (const Precision precision : {Precision::single, Precision::half}) {
      INFO(solver << " " << name_of(precision));
      battery::SolveCase c;
      c.settings.solver = solver;
      c.settings.precision = precision;
      c.settings.check_every = 4;  // many replays
      c.gpus = 1;
      const battery::SolveOutcome expected = problem.solve(c);
      const testing::Environment off(runtime::graph_conditions_switch, "off");  // empty kernels instead
      const battery::SolveOutcome outcome = problem.solve(c);
      refreshes += outcome.result.refreshes;
      CHECK(outcome.result.refreshes == expected.result.refreshes);
      battery::check_same_bits(outcome, expected);
    }
  CHECK(refreshes > 0);
}

TEST_CASE("launches without overlap, and GPUs that wait by events, change no bit") {
  QUARKSTAR_NEEDS_GPU("gpu switches");
  MESSAGE("seed " << seed);
  const Problem problem;
  const int gpus = std::min(2, static_cast<int>(runtime::gpus().size()));
  if (gpus < 2) std::printf("SKIPPED %s between GPUs: one GPU\n", runtime::gpu_flags_switch);
  for (const Precision precision : {Precision::double_, Precision::half}) {
    battery::SolveCase c;
    c.settings.precision = precision;
    const battery::SolveOutcome expected = problem.solve(c);
    REQUIRE(expected.result.converged());
    c.gpus = gpus;
    c.blocks = {1, 1, 1, gpus};
    for (const char* variable : {runtime::overlap_switch, runtime::gpu_flags_switch}) {
      INFO(variable << " " << name_of(precision) << " gpus " << gpus);
      const testing::Environment off(variable, "off");
      battery::check_same_bits(problem.solve(c), expected);
    }
  }
}

}  // namespace solver_test
