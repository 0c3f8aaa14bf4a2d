// The flops that a solve reports, counted along what was submitted, against those that the CPU's tasks report themselves.
#include "tests/battery/solver_support.hpp"

using namespace quarkstar;

namespace {
constexpr std::uint64_t seed = 14142;
}

TEST_CASE("a solve counts the work that was done, wherever the graph stopped") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostSpinor source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  struct End {
    double tolerance;
    int most;
  };
  for (const char* solver : {"bicgstab", "cgnr"})
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const Updates updates : {Updates::reliable, Updates::correction})
        for (const int check_every : {1, 3, 16})
          for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}})
            for (const End end : {End{1e-9, 1000}, End{1e-9, 5}, End{0.9, 1000}}) {
              INFO(solver << " " << name_of(precision) << (updates == Updates::reliable ? " reliable " : " correction ") << check_every
                          << " blocks " << blocks[3] << " tolerance " << end.tolerance << " most " << end.most);
              runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
              SolverSettings settings;
              settings.solver = solver;
              settings.precision = precision;
              settings.updates = updates;
              settings.check_every = check_every;
              settings.tolerance = end.tolerance;
              settings.max_iterations = end.most;
              WilsonSolver wilson(runtime::Decomposition(lattice, blocks, 1), gauge, {0.12, {}, antiperiodic_in_time}, settings);
              session.wait_all();
              const runtime::Totals before = session.events().totals();
              HostSpinor solution(lattice);
              const SolveResult result = wilson.solve(source, solution);
              const runtime::Totals after = session.events().totals();
              CHECK(result.flops == doctest::Approx(after.flops - before.flops).epsilon(1e-12));
              CHECK(result.bytes == doctest::Approx(after.bytes - before.bytes).epsilon(1e-12));
              const int transfers = 6 * (blocks[3]);  // source, guess and solution, both parities: no part of the solve
              CHECK(result.tasks == after.executed - before.executed - transfers);
            }
}
