// The estimate of a solve's memory against what the runtime then allocates.
#include "runtime/memory.hpp"
#include "solvers/footprint.hpp"
#include "tests/battery/solver_support.hpp"

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 16180;

double estimate(const runtime::Decomposition& decomposition, const SolverSettings& settings) {
  double total = 0;
  for (const Footprint& block : wilson_footprint(decomposition, settings)) total += block.total();
  return total;
}

}  // namespace

// The estimate holds for any number of passes with or without reliable updates; a single pass lacks one field of one parity (the even part
// of the correction comes after the Krylov solver's vectors have gone), corrections without refreshes another (the outer system's image).
TEST_CASE("a solve allocates what its footprint says, and no more") {
  MESSAGE("seed " << seed);
  const Coord lattice{16, 8, 8, 16};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.2);
  const HostSpinor source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  const WilsonParameters parameters{0.11, {}, antiperiodic_in_time};
  for (const char* solver : {"bicgstab", "cgnr"})
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const int reals : {18, 12})
        for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 2}}) {
          INFO(solver << " " << name_of(precision) << " links " << reals << " blocks " << blocks[2] << blocks[3]);
          SolverSettings settings;
          settings.solver = solver;
          settings.precision = precision;
          settings.link_reals = reals;
          settings.updates = Updates::correction;
          settings.tolerance = 1e-9;
          settings.max_iterations = 500;
          runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
          const runtime::Decomposition decomposition(lattice, blocks, 1);
          const std::size_t before = runtime::host_memory_use().now;
          runtime::restart_peak();
          {
            WilsonSolver wilson(decomposition, gauge, parameters, settings);
            HostSpinor solution(lattice);
            CHECK(wilson.solve(source, solution).converged());
          }
          const auto taken = static_cast<double>(runtime::host_memory_use().peak - before);
          const double estimated = estimate(decomposition, settings);
          const double field = static_cast<double>(volume(lattice)) / 2 * 24 * sizeof(double);
          CHECK(estimated > 0.995 * taken);
          CHECK(estimated < 1.005 * (taken + field));
        }
}

TEST_CASE("footprints follow the formulas of the layout") {
  SolverSettings settings;
  const runtime::Decomposition whole({8, 8, 8, 8}, {1, 1, 1, 1}, 1);
  const double sites = 4096;
  const Footprint all = wilson_footprint(whole, settings).front();
  CHECK(all.links == sites * 8 * 18 * 8);
  CHECK(all.spinors == 14 * sites / 2 * 24 * 8);
  CHECK(all.faces == 0);
  settings.precision = Precision::half;
  settings.link_reals = 12;
  const Footprint half = wilson_footprint(whole, settings).front();
  CHECK(half.links == sites * 8 * (18 * 8 + 12 * 2));
  CHECK(half.spinors == sites / 2 * (12 * 192 + 7 * 52));
  // Unequal parts: bytes in proportion to sites, the same faces.
  const runtime::Decomposition cut({8, 8, 8, 16}, std::array<std::vector<int>, 4>{{{8}, {8}, {8}, {12, 4}}}, {0, 1});
  const std::vector<Footprint> parts = wilson_footprint(cut, settings);
  CHECK(parts[0].links == 3 * parts[1].links);
  CHECK(parts[0].spinors == 3 * parts[1].spinors);
  CHECK(parts[0].faces == parts[1].faces);
  settings.solver = "magic";
  CHECK_THROWS_AS(wilson_footprint(whole, settings), Error);
}
