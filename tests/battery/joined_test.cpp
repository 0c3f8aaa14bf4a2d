// Batches of several owners as one task for each stretch between two exchanges: the bits and the work of the same batches task by task.
#include "codelets/actions/staggered/action.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/staggered_support.hpp"

namespace joined_test {

using namespace quarkstar;

namespace {
constexpr std::uint64_t seed = 17320;
}

TEST_CASE("joined tasks: the same residual histories, solutions and work, in fewer tasks") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 4, 12};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  const WilsonParameters parameters{0.12, {}, antiperiodic_in_time};
  struct Case {
    const char* solver;
    Precision precision;
    int check_every, workers;
    Coord blocks;
  };
  for (const Case& one : {Case{"bicgstab", Precision::double_, 16, 3, {1, 1, 1, 3}}, Case{"bicgstab", Precision::half, 16, 2, {2, 1, 1, 2}},
                          Case{"bicgstab", Precision::single, 1, 2, {1, 1, 1, 3}}, Case{"cgnr", Precision::single, 16, 2, {1, 1, 1, 3}},
                          Case{"cgnr", Precision::double_, 5, 2, {1, 1, 1, 2}}}) {
    INFO(one.solver << " " << name_of(one.precision) << " a look every " << one.check_every << " workers " << one.workers);
    battery::SolveCase c;
    c.settings.solver = one.solver;
    c.settings.precision = one.precision;
    c.settings.check_every = one.check_every;
    c.settings.tolerance = 1e-9;
    c.threads = 1;
    const battery::SolveOutcome alone = battery::solve_once(c, gauge, parameters, source);
    REQUIRE(alone.result.converged());
    c.workers = one.workers;
    c.blocks = one.blocks;
    const battery::SolveOutcome apart = battery::solve_once(c, gauge, parameters, source);
    c.join = true;
    const battery::SolveOutcome joined = battery::solve_once(c, gauge, parameters, source);
    for (const battery::SolveOutcome* outcome : {&apart, &joined}) battery::check_same_bits(*outcome, alone);
    CHECK(joined.result.flops == doctest::Approx(apart.result.flops).epsilon(1e-12));
    if (one.check_every > 1) CHECK(joined.result.tasks < 0.9 * apart.result.tasks);
  }
}

TEST_CASE("joined tasks of one iteration: eleven an owner") {
  // Of BiCGStab on two owners: per owner 15 parts and 3 scalar steps become four interiors, four that end with a boundary (two of them with
  // the next pack) and three that begin with a scalar step; what differs is at the ends of a batch.
  const Coord lattice{8, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  constexpr int iterations = 8, workers = 2;
  const auto tasks_of = [&](bool join, int most) {
    battery::SolveCase c;
    c.blocks = {1, 1, 1, workers};
    c.workers = workers;
    c.threads = 1;
    c.join = join;
    c.settings.check_every = iterations;
    c.settings.tolerance = 1e-14;
    c.settings.max_iterations = most;
    const battery::SolveOutcome outcome = battery::solve_once(c, gauge, {0.2, {}, antiperiodic_in_time}, source);
    REQUIRE(outcome.result.iterations == most);
    return outcome.result.tasks;
  };
  const auto an_iteration = [&](bool join) { return (tasks_of(join, 2 * iterations) - tasks_of(join, iterations)) / iterations; };
  CHECK(an_iteration(false) == doctest::Approx(15 * workers + 3).epsilon(0.01));
  CHECK(an_iteration(true) <= 11 * workers + 1);
  CHECK(an_iteration(true) >= 11 * workers - 1);
}

TEST_CASE("joined tasks: staggered solves") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  constexpr double scale = -1 / 24.;
  reference::StaggeredLinks links{reference::near_unit_gauge(lattice, seed, 0.3), reference::near_unit_gauge(lattice, seed + 1, 0.3)};
  for (double& real : links.fat.data) real *= 9. / 8;
  for (double& real : links.naik.data) real *= scale;
  const smear::StaggeredLinks host = battery::with_phases(links, scale);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 2, seed + 2);
  for (const std::string& name : {std::string("cg"), std::string("blockcg")}) {
    std::vector<std::vector<double>> histories[2];
    for (const bool join : {false, true}) {
      runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .join_on_cpus = join});
      SolverSettings settings;
      settings.solver = name;
      settings.tolerance = 1e-9;
      settings.keep_history = true;
      Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 2}, 2), staggered::Action(host), settings);
      std::vector<HostField> solutions(2, HostField(colour_components, lattice));
      const std::vector<double> masses{0.2, 0.2};
      for (const SolveResult& result : solver.solve(sources, masses, solutions)) {
        CHECK(result.converged());
        histories[join].push_back(result.residual_history);
      }
    }
    INFO(name);
    CHECK(histories[0] == histories[1]);
  }
}

}  // namespace joined_test
