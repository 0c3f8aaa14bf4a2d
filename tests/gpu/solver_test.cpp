// Whole solves on GPUs: the residual history and the solution have the CPU's bits.
#include "runtime/system/switch_variable.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/gpu/support.hpp"
#include "tests/unit/environment_testing.hpp"

#include <algorithm>
#include <cstdio>

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
  for (const std::string solver : {"bicgstab", "cgnr", "gcr"})
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
            for (const std::string policy : {"static", "dmdas"}) {
              INFO(solver << " " << name_of(precision) << " links " << reals << " gpus " << count << " blocks " << blocks[2] << blocks[3]
                          << " " << policy);
              battery::SolveCase on_gpu = c;
              on_gpu.gpus = count;
              on_gpu.blocks = blocks;
              on_gpu.policy = policy;
              battery::check_same_bits(problem.solve(on_gpu), expected);
            }
      }
}

TEST_CASE("reliable updates as conditional parts of GPU graphs change no bit") {
  QUARKSTAR_NEEDS_GPU("gpu conditional refreshes");
  MESSAGE("seed " << seed);
  const Problem problem;
  int refreshes = 0;
  for (const std::string solver : {"bicgstab", "cgnr", "gcr"})
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
