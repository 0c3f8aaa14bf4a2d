// A periodic configuration repeated twice in every direction, with a repeated source, has the repeated solution: on one process, and under
// mpirun on ranks whose edges go between the copies. Bit for bit, because the sum of 16 equal parts is 16 times one of them, exactly.
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "runtime/mpi/job.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/staggered_support.hpp"

#include <algorithm>

namespace tiling_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261122;
constexpr Coord lattice{4, 4, 4, 4}, twice{2, 2, 2, 2}, tiled{8, 8, 8, 8};

/// Loose: bits are compared from the first iteration on, and eight ranks that share two cores are slow.
constexpr double tolerance = 1e-2;

runtime::SessionOptions one_thread() { return {.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0}; }

/// The large lattice over the ranks of this job, or in blocks; no part is thinner than three sites, the longest hop.
runtime::Decomposition shared() {
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  const int owners = runtime::Session::current().block_owners();
  if (!job.is_distributed()) return {tiled, {1, 1, 2, 2}, owners};
  const int size = job.size();
  const Coord grid = size % 8 == 0 ? Coord{1, 2, 2, size / 4} : size % 4 == 0 ? Coord{1, 1, 2, size / 2} : Coord{1, 1, 1, size};
  return {tiled, runtime::RankGrid{grid, job.rank(), {}}, {1, 1, 1, 1}, owners};
}

/// The sites of a part of the large lattice, from the field that it repeats.
HostField repeated(const HostField& field, const Box& part) {
  HostField result(field.components, part);
  for (std::int64_t i = 0; i < volume(part.extents); ++i) {
    Coord site = site_of(part, i);
    for (int mu = 0; mu < 4; ++mu) site[mu] %= lattice[mu];
    std::copy_n(field.data.begin() + lexicographic(site, lattice) * field.components, field.components,
                result.data.begin() + i * field.components);
  }
  return result;
}

}  // namespace

TEST_CASE("tiling a periodic configuration and its source gives the tiled solution, Wilson") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4), large = reference::tile(gauge, twice);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  const WilsonParameters parameters{0.11, {}, periodic};
  const runtime::Session session(one_thread());
  for (const char* name : {"bicgstab", "cgnr"}) {
    INFO(name);
    SolverSettings settings;
    settings.solver = name;
    settings.tolerance = tolerance;
    settings.keep_history = true;
    HostField solution(spinor_components, lattice);
    const SolveResult result =
        Solver(runtime::Decomposition::uncut(lattice, 0), wilson::Action(gauge, parameters), settings).solve(source, solution);
    REQUIRE(result.converged());
    const runtime::Decomposition decomposition = shared();
    const Box part = decomposition.part();
    HostField tiled_solution(spinor_components, part);
    const SolveResult tiled_result =
        Solver(decomposition, wilson::Action(large, parameters), settings).solve(repeated(source, part), tiled_solution);
    CHECK(tiled_result.converged());
    CHECK(tiled_result.residual_history == result.residual_history);
    CHECK(tiled_result.true_residual == result.true_residual);
    CHECK(tiled_solution.data == repeated(solution, part).data);
  }
}

TEST_CASE("tiling a periodic configuration and its sources gives the tiled solutions, staggered with three hops") {
  MESSAGE("seed " << seed);
  constexpr double scale = -1 / 24.;
  reference::StaggeredLinks smooth{reference::near_unit_gauge(lattice, seed + 2, 0.3), reference::near_unit_gauge(lattice, seed + 3, 0.3)};
  for (double& real : smooth.naik.data) real *= scale;
  const smear::StaggeredLinks links = battery::with_phases(smooth, scale);
  smear::StaggeredLinks large = links;
  large.fat = reference::tile(links.fat, twice);
  large.long_links = reference::tile(links.long_links, twice);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 3, seed + 4);
  const std::vector<double> masses{0.2, 0.5, 0.3};
  SolverSettings settings;
  settings.solver = "cg";
  settings.tolerance = tolerance;
  settings.keep_history = true;
  const runtime::Session session(one_thread());
  std::vector<HostField> solutions(sources.size(), HostField(colour_components, lattice));
  const std::vector<SolveResult> results =
      Solver(runtime::Decomposition::uncut(lattice, 0), staggered::Action(links), settings).solve(sources, masses, solutions);
  const runtime::Decomposition decomposition = shared();
  const Box part = decomposition.part();
  std::vector<HostField> tiled_sources, tiled_solutions(sources.size(), HostField(colour_components, part));
  for (const HostField& source : sources) tiled_sources.push_back(repeated(source, part));
  const std::vector<SolveResult> tiled_results =
      Solver(decomposition, staggered::Action(large), settings).solve(tiled_sources, masses, tiled_solutions);
  for (std::size_t v = 0; v < sources.size(); ++v) {
    CAPTURE(v);
    CHECK(results[v].converged());
    CHECK(tiled_results[v].converged());
    CHECK(tiled_results[v].residual_history == results[v].residual_history);
    CHECK(tiled_results[v].true_residual == results[v].true_residual);
    CHECK(tiled_solutions[v].data == repeated(solutions[v], part).data);
  }
}

}  // namespace tiling_test
