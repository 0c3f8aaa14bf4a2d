// Solves that are in flight together have the bits and the counts of solves one after another.
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "codelets/gauge/smear/hisq.hpp"
#include "runtime/graph/turns.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/staggered_support.hpp"

namespace in_flight_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 29979;

struct Column {
  SolveResult result;
  HostField solution;
};

/// Every source in one session, `in_flight` at a time.
std::vector<Column> solve_all(const battery::SolveCase& c, const HostGauge& gauge, const std::vector<HostField>& sources, int in_flight) {
  runtime::Session session({.cpu_workers = c.workers, .threads_per_worker = c.threads, .cuda_workers = 0, .policy = c.policy});
  SolverSettings settings = c.settings;
  settings.keep_history = true;
  Solver solver(runtime::Decomposition(gauge.extents, c.blocks, session.block_owners()),
                wilson::Action(gauge, {0.125, {}, antiperiodic_in_time}), settings);
  std::vector<Column> columns(sources.size(), {{}, HostField(spinor_components, gauge.extents)});
  runtime::Turns::run(static_cast<int>(sources.size()), in_flight, [&](int number) {
    Column& column = columns[static_cast<std::size_t>(number)];
    column.result = solver.solve(sources[static_cast<std::size_t>(number)], column.solution);
  });
  return columns;
}

}  // namespace

TEST_CASE("Wilson columns in flight together: same bits, same work") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  std::vector<HostField> sources;
  for (int i = 0; i < 4; ++i)
    sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + 1 + static_cast<std::uint64_t>(i))));
  sources.emplace_back(spinor_components, lattice);  // zero: done at once
  const char* policies[] = {"static", "eager", "dmdas"};
  std::size_t turn = 0;  // policies take turns
  for (const std::string& solver : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::half}) {
      battery::SolveCase c;
      c.settings.solver = solver;
      c.settings.precision = precision;
      c.settings.check_every = 8;
      if (solver == "gcr") c.settings.schwarz = SchwarzSettings{{4, 4, 2, 4}, 2};
      c.blocks = {1, 1, 2, 2};
      const std::vector<Column> expected = solve_all(c, gauge, sources, 1);
      for (const int workers : {1, 2})
        for (const int in_flight : {2, 5}) {
          battery::SolveCase other = c;
          other.policy = policies[turn++ % std::size(policies)];
          other.workers = workers;
          other.threads = 1;
          INFO(solver << " " << name_of(precision) << " " << other.policy << " workers " << workers << " in flight " << in_flight);
          const std::vector<Column> columns = solve_all(other, gauge, sources, in_flight);
          for (std::size_t i = 0; i < columns.size(); ++i) {
            CHECK(columns[i].result.converged());
            CHECK(columns[i].result.residual_history == expected[i].result.residual_history);
            CHECK(battery::same_bits(columns[i].solution, expected[i].solution));
            CHECK(columns[i].result.flops == doctest::Approx(expected[i].result.flops).epsilon(1e-12));
            CHECK(columns[i].result.kernels == expected[i].result.kernels);
          }
        }
    }
}

TEST_CASE("a solve on one worker gives no task to another") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 4};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 20, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 21));
  std::vector<SolverSettings> all;
  for (const std::string& name : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single}) {
      SolverSettings settings;
      settings.solver = name;
      settings.precision = precision;
      if (name == "gcr" && precision == Precision::double_) settings.schwarz = SchwarzSettings{{4, 4, 2, 4}, 2};
      all.push_back(settings);
    }
  for (const SolverSettings& settings : all) {
    INFO(settings.solver << " " << name_of(settings.precision));
    runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
    Solver solver(runtime::Decomposition::uncut(lattice, 1), wilson::Action(gauge, {0.12, {}, antiperiodic_in_time}), settings);
    HostField solution(spinor_components, lattice);
    CHECK(solver.solve(source, solution).converged());
    session.wait_all();
    CHECK(session.events().lifetime(1).executed > 0);
    CHECK(session.events().lifetime(0).executed == 0);
  }
}

TEST_CASE("staggered groups in flight together: same bits") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  constexpr double scale = -1 / 24.;
  reference::StaggeredLinks links{reference::near_unit_gauge(lattice, seed + 10, 0.3), reference::near_unit_gauge(lattice, seed + 11, 0.3)};
  for (double& real : links.fat.data) real *= 9. / 8;
  for (double& real : links.naik.data) real *= scale;
  const smear::StaggeredLinks host = battery::with_phases(links, scale);
  const std::vector<HostField> random = battery::random_vectors(lattice, 6, seed + 12);
  const auto solve_all = [&](const SolverSettings& settings, const char* policy, int in_flight) {
    runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = policy});
    Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 2}, 2), staggered::Action(host), settings);
    std::vector<HostField> solutions(random.size(), HostField(colour_components, lattice));
    runtime::Turns::run(3, in_flight, [&](int group) {
      const std::size_t first = 2 * static_cast<std::size_t>(group);
      const bool shifted = settings.solver == "multishift";
      const std::vector<HostField> sources{random[first], random[shifted ? first : first + 1]};
      const std::vector<double> masses{0.2, shifted ? 0.4 : 0.2};
      for (const SolveResult& result : solver.solve(sources, masses, std::span(solutions).subspan(first, 2))) CHECK(result.converged());
    });
    return solutions;
  };
  for (const std::string& name : solver_names(true))
    for (const Precision precision : {Precision::double_, Precision::single}) {
      SolverSettings settings;
      settings.solver = name;
      settings.precision = precision;
      settings.check_every = 8;
      const std::vector<HostField> expected = solve_all(settings, "static", 1);
      for (const char* policy : {"static", "eager"})
        for (const int in_flight : {2, 3}) {
          INFO(name << " " << name_of(precision) << " " << policy << " in flight " << in_flight);
          const std::vector<HostField> solutions = solve_all(settings, policy, in_flight);
          for (std::size_t i = 0; i < solutions.size(); ++i) CHECK(solutions[i].data == expected[i].data);
        }
    }
}

TEST_CASE("links of several epsilons are made while others are solved for: same bits") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 20, 0.3);
  const std::vector<HostField> source = battery::random_vectors(lattice, 1, seed + 21);
  const std::vector<double> masses{0.3, 0.5, 0.8};
  const auto solve_all = [&](int in_flight) {
    runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = "eager"});
    const runtime::Decomposition decomposition(lattice, {1, 1, 1, 2}, 2);
    const smear::HisqLinks hisq(decomposition, gauge, antiperiodic_in_time);
    std::vector<HostField> solutions(masses.size(), HostField(colour_components, lattice));
    runtime::Turns::run(3, in_flight, [&](int number) {
      const auto m = static_cast<std::size_t>(number);
      SolverSettings settings;
      settings.solver = "cg";
      Solver solver(decomposition, staggered::Action(hisq.links(smear::naik_epsilon_of_mass(masses[m]))), settings);
      for (const SolveResult& result : solver.solve(source, std::span(masses).subspan(m, 1), std::span(solutions).subspan(m, 1)))
        CHECK(result.converged());
    });
    return solutions;
  };
  const std::vector<HostField> expected = solve_all(1), solutions = solve_all(3);
  for (std::size_t m = 0; m < masses.size(); ++m) CHECK(solutions[m].data == expected[m].data);
}

}  // namespace in_flight_test
