// The flops that a solve reports, counted along what was submitted, against those that the CPU's tasks report themselves.
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/staggered_support.hpp"

namespace work_ledger_test {

using namespace quarkstar;

namespace {
constexpr std::uint64_t seed = 14142;
}

TEST_CASE("a solve counts the work that was done, wherever the graph stopped") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  struct End {
    double tolerance;
    int most;
  };
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const std::string& solver : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const Updates updates : {Updates::reliable, Updates::correction})
        for (const int check_every : {1, 3, 16})
          for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}})
            for (const End end : {End{1e-9, 1000}, End{1e-9, 5}, End{0.9, 1000}}) {
              INFO(solver << " " << name_of(precision) << (updates == Updates::reliable ? " reliable " : " correction ") << check_every
                          << " blocks " << blocks[3] << " tolerance " << end.tolerance << " most " << end.most);
              SolverSettings settings;
              settings.solver = solver;
              settings.precision = precision;
              settings.updates = updates;
              settings.check_every = check_every;
              settings.tolerance = end.tolerance;
              settings.max_iterations = end.most;
              Solver wilson(runtime::Decomposition(lattice, blocks, 1), wilson::Action(gauge, {0.12, {}, antiperiodic_in_time}), settings);
              session.wait_all();
              const runtime::Totals before = session.events().totals();
              HostField solution(spinor_components, lattice);
              const SolveResult result = wilson.solve(source, solution);
              const runtime::Totals after = session.events().totals();
              // Before the solve: the norm of its source, which brings that to where it works, and zeros as the guess.
              const double reals = static_cast<double>(volume(lattice)) * 24;
              CHECK(result.flops == doctest::Approx(after.flops - before.flops - 2 * reals).epsilon(1e-12));
              CHECK(result.bytes == doctest::Approx(after.bytes - before.bytes - 2 * reals * sizeof(double)).epsilon(1e-12));
              const int others = 8 * blocks[3];  // these and the transfers of source and solution, both parities
              CHECK(result.tasks == static_cast<double>(after.submitted - before.submitted - others));
              if (blocks[3] == 1 && result.iterations > 2 && check_every > 1)
                CHECK(result.tasks < static_cast<double>(result.kernels));  // batches are fused
              CHECK(result.kernels == after.executed - before.executed - others);
            }
}

TEST_CASE("with steps of a solver inside, what these submit in vain is counted too, and little") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const std::string& inner : solver_names(false)) {
    INFO(inner);
    SolverSettings settings;
    settings.solver = "gcr";
    settings.inner = InnerSolver{inner, 6};
    Solver wilson(runtime::Decomposition(lattice, {1, 1, 1, 2}, 1), wilson::Action(gauge, {0.12, {}, antiperiodic_in_time}), settings);
    session.wait_all();
    const runtime::Totals before = session.events().totals();
    HostField solution(spinor_components, lattice);
    const SolveResult result = wilson.solve(source, solution);
    const double done = session.events().totals().flops - before.flops;
    CHECK(result.converged());
    CHECK(result.flops >= done);
    CHECK(result.flops < 1.03 * done);
  }
}

TEST_CASE("a staggered solve counts the work that was done, wherever the graph stopped") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  constexpr double scale = -1 / 24.;
  reference::StaggeredLinks links{reference::near_unit_gauge(lattice, seed, 0.3), reference::near_unit_gauge(lattice, seed + 1, 0.3)};
  for (double& real : links.fat.data) real *= 9. / 8;
  for (double& real : links.naik.data) real *= scale;
  const smear::StaggeredLinks host = battery::with_phases(links, scale);
  const std::vector<HostField> random = battery::random_vectors(lattice, 3, seed + 2);
  struct End {
    double tolerance;
    int most;
  };
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const std::string& solver : solver_names(true))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const Updates updates : {Updates::reliable, Updates::correction})
        for (const int check_every : {1, 16})
          for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}})
            for (const End end : {End{1e-9, 1000}, End{1e-9, 5}}) {
              if (updates == Updates::correction && (solver != "cg" || precision == Precision::double_)) continue;
              INFO(solver << " " << name_of(precision) << (updates == Updates::reliable ? " reliable " : " correction ") << check_every
                          << " blocks " << blocks[3] << " most " << end.most);
              SolverSettings settings;
              settings.solver = solver;
              settings.precision = precision;
              settings.updates = updates;
              settings.check_every = check_every;
              settings.tolerance = end.tolerance;
              settings.max_iterations = end.most;
              Solver staggered(runtime::Decomposition(lattice, blocks, 1), staggered::Action(host), settings);
              const bool shifted = solver == "multishift";
              const std::vector<double> masses = shifted ? std::vector<double>{0.2, 0.3, 0.5} : std::vector<double>{0.2, 0.2, 0.2};
              const std::vector<HostField> sources = shifted ? std::vector<HostField>(3, random[0]) : random;
              std::vector<HostField> solutions(3, HostField(colour_components, lattice));
              session.wait_all();
              const runtime::Totals before = session.events().totals();
              const std::vector<SolveResult> results = staggered.solve(sources, masses, solutions);
              const runtime::Totals after = session.events().totals();
              // Before the solve: norms of its sources, which bring these to where it works, and zeros as guesses.
              const double reals = 3. * static_cast<double>(volume(lattice)) * 6;
              CHECK(3 * results[0].flops == doctest::Approx(after.flops - before.flops - 2 * reals).epsilon(1e-12));
              CHECK(3 * results[0].bytes == doctest::Approx(after.bytes - before.bytes - 2 * reals * sizeof(double)).epsilon(1e-12));
              const int others = 8 * blocks[3];  // these and the transfers of sources and solutions, both parities
              CHECK(3 * results[0].tasks == doctest::Approx(static_cast<double>(after.submitted - before.submitted - others)));
              CHECK(results[0].kernels == (after.executed - before.executed - others) / 3);
            }
}

}  // namespace work_ledger_test
