// Whole staggered solves: true residuals by the reference, and the same bits whatever runs them.
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/staggered/links.hpp"
#include "runtime/system/team.hpp"
#include "tests/battery/staggered_solver_support.hpp"

#include <cmath>
#include <iterator>

namespace staggered_solver_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261125;
using battery::true_residual;
using Outcome = battery::StaggeredOutcome;

/// One way to run a solve.
struct Run {
  Coord blocks{1, 1, 1, 1};
  std::string policy = "static";
  int workers = 1, threads = 2;
  SolverSettings settings;
  int vectors_in_lanes = 1, lane_bytes = 64;
};

Outcome solve(const Run& run, const smear::StaggeredLinks& links, std::span<const HostField> sources, std::span<const double> masses) {
  runtime::Session session({.cpu_workers = run.workers,
                            .threads_per_worker = run.threads,
                            .cuda_workers = 0,
                            .policy = run.policy,
                            .lane_bytes = run.lane_bytes});
  Solver solver(runtime::Decomposition(links.fat.extents, run.blocks, session.block_owners()), staggered::Action(links), run.settings,
                {.vectors_in_lanes = run.vectors_in_lanes});
  return battery::solve_together(solver, sources, masses);
}

const Coord lattice{8, 8, 8, 8};

}  // namespace

TEST_CASE("staggered solves reach their tolerance by the reference's operator") {
  MESSAGE("seed " << seed);
  const reference::StaggeredLinks links = battery::smooth_links(lattice, seed);
  const smear::StaggeredLinks host = battery::with_phases(links, battery::naik_weight);
  std::vector<HostField> sources = battery::random_vectors(lattice, 3, seed + 2);
  for (const std::string& solver : solver_names(true))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const int long_reals : {18, 14, 13, 9}) {
        if (long_reals != 18 && solver != "cg") continue;
        INFO(solver << " " << name_of(precision) << " long links " << long_reals);
        const bool shifted = solver == "multishift";
        const std::vector<double> masses = shifted ? std::vector<double>{0.1, 0.2, 0.5} : std::vector<double>{0.2, 0.2, 0.2};
        const std::vector<HostField> b = shifted ? std::vector<HostField>(3, sources[0]) : sources;
        const Outcome outcome = solve({.settings = battery::staggered_settings(solver, precision, long_reals)}, host, b, masses);
        for (std::size_t v = 0; v < 3; ++v) {
          CHECK(outcome.results[v].converged());
          CHECK(outcome.results[v].iterations > 0);
          CHECK(true_residual(links, masses[v], b[v], outcome.solutions[v]) < 1.01e-10);
          CHECK(outcome.results[v].true_residual ==
                doctest::Approx(true_residual(links, masses[v], b[v], outcome.solutions[v])).epsilon(1e-3));
        }
      }
}

// Long links of 9 reals lose half of their digits near the unit matrix: a residual taken with them would be another operator's.
TEST_CASE("staggered: the true residual is that of the links themselves, whatever form the iteration has of them") {
  MESSAGE("seed " << seed);
  constexpr double roughness = 1e-8;
  const reference::StaggeredLinks links = battery::smooth_links(lattice, seed + 8, roughness);
  const smear::StaggeredLinks host = battery::with_phases(links, battery::naik_weight);
  const runtime::Team one({0});
  CHECK(staggered::form_error(host, 9, one) > 1e-9);
  CHECK(staggered::form_error(host, 13, one) < 1e-13);
  const std::vector<HostField> random = battery::random_vectors(lattice, 2, seed + 9);
  for (const std::string& solver : solver_names(true))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      for (const int long_reals : {13, 9}) {
        INFO(solver << " " << name_of(precision) << " long links " << long_reals);
        const bool shifted = solver == "multishift";
        const std::vector<double> masses = shifted ? std::vector<double>{0.1, 0.3} : std::vector<double>{0.2, 0.2};
        const std::vector<HostField> b = shifted ? std::vector<HostField>(2, random[0]) : random;
        Run run{.settings = battery::staggered_settings(solver, precision, long_reals)};
        run.settings.tolerance = 1e-12;
        const Outcome outcome = solve(run, host, b, masses);
        for (std::size_t v = 0; v < 2; ++v) {
          const double residual = true_residual(links, masses[v], b[v], outcome.solutions[v]);
          CHECK(outcome.results[v].converged());
          CHECK(residual < 1.01e-12);
          CHECK(outcome.results[v].true_residual == doctest::Approx(residual).epsilon(0.02));
        }
      }
}

TEST_CASE("staggered residual histories have the same bits for every cut, policy, number of workers, architecture and right-hand sides") {
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(lattice, seed), battery::naik_weight);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 8, seed + 3);
  const std::vector<double> masses{0.2, 0.5, 0.3, 0.2, 0.3, 0.2, 0.7, 0.4};  // so that they end at different times
  const char* policies[] = {"static", "dmdas", "lws"};
  std::size_t turn = 0;  // policies take turns: in three precisions each cut and number of workers meets all of them
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    Run run{.settings = battery::staggered_settings("cg", precision)};
    run.settings.tolerance = 1e-5;  // enough for refreshes in low precision
    std::vector<Outcome> alone;
    for (std::size_t v = 0; v < sources.size(); ++v) alone.push_back(solve(run, links, {&sources[v], 1}, {&masses[v], 1}));
    const auto check = [&] {
      INFO(name_of(precision) << " blocks " << run.blocks[0] << run.blocks[1] << run.blocks[2] << run.blocks[3] << " " << run.policy
                              << " workers " << run.workers << " " << arch::name_of(arch::current()) << " vectors in lanes "
                              << run.vectors_in_lanes << " lanes of " << run.lane_bytes << " bytes");
      const std::size_t n = run.vectors_in_lanes > 1 ? 8 : 4;
      const Outcome outcome = solve(run, links, std::span(sources).first(n), std::span(masses).first(n));
      for (std::size_t v = 0; v < n; ++v) battery::check_same_bits(outcome, v, alone[v], 0);
    };
    battery::for_architectures([&] {
      for (const auto& [vectors_in_lanes, lane_bytes] : {std::pair{1, 64}, {1, 32}, {8, 64}}) {
        run.vectors_in_lanes = vectors_in_lanes;
        run.lane_bytes = lane_bytes;
        check();
      }
    });
    for (const Coord& blocks : {Coord{1, 1, 1, 2}, Coord{2, 2, 1, 1}})
      for (const int workers : {1, 2}) {
        run.blocks = blocks;
        run.policy = policies[turn++ % std::size(policies)];
        run.workers = workers;
        run.threads = workers == 1 ? 2 : 1;
        run.vectors_in_lanes = run.policy == "static" ? 1 : 8;
        check();
      }
  }
}

TEST_CASE("staggered: neither other right-hand sides nor the batches change a bit, wherever a vector stops") {
  MESSAGE("seed " << seed);
  // In low precision a refresh may be due when a vector stops: the tolerances are close enough to hit every place.
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links({4, 4, 4, 8}, seed), battery::naik_weight);
  const std::vector<HostField> sources = battery::random_vectors(links.fat.extents, 3, seed + 20);
  const std::vector<double> masses{0.5, 0.6, 0.8};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition decomposition(links.fat.extents, {1, 1, 1, 1}, 1);
  for (const Precision precision : {Precision::single, Precision::half})
    for (int step = 0; step < 12; ++step) {
      SolverSettings settings = battery::staggered_settings("cg", precision);
      settings.tolerance = std::pow(10.0, -6 - 0.25 * step);
      Solver first(decomposition, staggered::Action(links), settings);
      settings.check_every = step % 2 == 0 ? 5 : 64;
      Solver second(decomposition, staggered::Action(links), settings);
      std::vector<HostField> together(3, HostField(colour_components, links.fat.extents));
      const std::vector<SolveResult> results = first.solve(sources, masses, together);
      for (std::size_t v = 0; v < sources.size(); ++v) {
        INFO(name_of(precision) << " tolerance " << settings.tolerance << " vector " << v);
        std::vector<HostField> alone(1, HostField(colour_components, links.fat.extents));
        const SolveResult result = second.solve({&sources[v], 1}, {&masses[v], 1}, alone)[0];
        CHECK(result.converged());
        CHECK(result.iterations == results[v].iterations);
        CHECK(result.restarts == results[v].restarts);
        CHECK(result.residual_history == results[v].residual_history);
        CHECK(battery::same_bits(alone[0], together[v]));
      }
    }
}

TEST_CASE("staggered: a zero source, a guess that is the answer, and an iteration limit") {
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(lattice, seed), battery::naik_weight);
  std::vector<HostField> sources = battery::random_vectors(lattice, 2, seed + 4);
  std::fill(sources[1].data.begin(), sources[1].data.end(), 0.0);
  const std::vector<double> masses{0.2, 0.2};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  Solver solver(whole, staggered::Action(links), battery::staggered_settings("cg"));
  std::vector<HostField> solutions(2, HostField(colour_components, lattice));
  auto results = solver.solve(sources, masses, solutions);
  CHECK(results[0].converged());
  CHECK(results[1].converged());
  CHECK(results[1].iterations == 0);
  for (const auto& z : solutions[1].data) CHECK(z == std::complex<double>(0));
  const std::vector<HostField> first = solutions;
  results = solver.solve(sources, masses, solutions);
  CHECK(results[0].iterations == 0);
  CHECK(battery::same_bits(first[0], solutions[0]));
  SolverSettings settings = battery::staggered_settings("cg");
  settings.max_iterations = 5;
  Solver impatient(whole, staggered::Action(links), settings);
  solutions.assign(2, HostField(colour_components, lattice));
  results = impatient.solve(sources, masses, solutions);
  CHECK(results[0].reason == StopReason::iteration_limit);
  CHECK(results[0].iterations == 5);
  CHECK(results[1].converged());
}

TEST_CASE("staggered: a solve goes on from a copy of its iterate") {
  MESSAGE("seed " << seed);
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  const std::vector<HostField> random = battery::random_vectors(lattice, 3, seed + 6);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition cut(lattice, {1, 1, 1, 2}, 1);
  for (const std::string& name : solver_names(true))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      INFO(name << " " << name_of(precision));
      const bool shifted = name == "multishift";
      const std::vector<HostField> sources = shifted ? std::vector<HostField>(3, random[0]) : random;
      // One right-hand side is done long before the others, and stays as it is.
      const std::vector<double> masses = name == "blockcg" ? std::vector<double>(3, 0.05) : std::vector<double>{0.05, 2.0, 0.1};
      SolverSettings settings = battery::staggered_settings(name, precision);
      settings.check_every = 4;
      Solver solver(cut, staggered::Action(links), settings);
      struct Copy {
        std::vector<HostField> solutions;
        std::vector<int> iterations;
      };
      std::vector<Copy> copies;
      const Snapshots snapshots{[](int iterations) { return iterations >= 12; },
                                [&](std::span<const HostField> solutions, std::span<const int> iterations) {
                                  copies.push_back({{solutions.begin(), solutions.end()}, {iterations.begin(), iterations.end()}});
                                }};
      std::vector<HostField> whole(3, HostField(colour_components, lattice));
      const std::vector<SolveResult> results = solver.solve(sources, masses, whole, {}, snapshots);
      if (!shifted || precision == Precision::double_) {
        std::vector<HostField> plain(3, HostField(colour_components, lattice));
        const std::vector<SolveResult> unobserved = solver.solve(sources, masses, plain);
        for (std::size_t v = 0; v < 3; ++v) {
          CHECK(unobserved[v].residual_history == results[v].residual_history);
          CHECK(battery::same_bits(plain[v], whole[v]));
        }
      }
      const bool restarts_only = name == "blockcg" && precision != Precision::double_;
      if (shifted && copies.empty()) continue;  // nothing was left to refine
      REQUIRE_FALSE(copies.empty());
      const Copy& last = copies.back();
      for (std::size_t v = 0; v < 3; ++v) {
        CHECK(last.iterations[v] <= results[v].iterations);
        const double start = true_residual(reference_links, masses[v], sources[v], last.solutions[v]);
        CHECK(start < (restarts_only ? 1.01 : 0.1));
      }
      std::vector<HostField> again = last.solutions;
      const std::vector<SolveResult> rest = solver.solve(sources, masses, again);
      for (std::size_t v = 0; v < 3; ++v) {
        CHECK(rest[v].converged());
        CHECK(true_residual(reference_links, masses[v], sources[v], again[v]) < 1.01e-10);
        if (!restarts_only && !shifted) CHECK(rest[v].iterations < results[v].iterations);
      }
    }
}

TEST_CASE("staggered: with vectors in lanes copies of the iterate, and what is made of them, have the same bits") {
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(lattice, seed), battery::naik_weight);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 8, seed + 11);
  const std::vector<double> masses{0.05, 2.0, 0.1, 0.1, 0.2, 0.05, 0.3, 1.0};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition cut(lattice, {1, 1, 1, 2}, 1);
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    SolverSettings settings = battery::staggered_settings("cg", precision);
    settings.check_every = 4;
    Solver of_sites(cut, staggered::Action(links), settings), in_lanes(cut, staggered::Action(links), settings, {.vectors_in_lanes = 8});
    std::vector<HostField> copies[2];  // the first of each layout
    for (const bool lanes : {false, true}) {
      std::vector<HostField>& copy = copies[lanes ? 1 : 0];
      const Snapshots snapshots{
          [&copy](int iterations) { return iterations >= 12 && copy.empty(); },
          [&copy](std::span<const HostField> solutions, std::span<const int>) { copy.assign(solutions.begin(), solutions.end()); }};
      std::vector<HostField> solutions(8, HostField(colour_components, lattice));
      (lanes ? in_lanes : of_sites).solve(sources, masses, solutions, {}, snapshots);
      REQUIRE(copy.size() == 8);
    }
    Outcome first{{}, copies[0]}, second{{}, copies[1]};
    first.results = of_sites.solve(sources, masses, first.solutions);
    second.results = in_lanes.solve(sources, masses, second.solutions);
    for (std::size_t v = 0; v < 8; ++v) {
      INFO(name_of(precision) << " number " << v);
      CHECK(battery::same_bits(copies[0][v], copies[1][v]));
      battery::check_same_bits(second, v, first, v);
    }
  }
}

TEST_CASE("staggered: an interrupted Krylov space of several masses leaves the guess; other guesses are refined") {
  MESSAGE("seed " << seed);
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  const std::vector<HostField> random = battery::random_vectors(lattice, 2, seed + 7), sources(2, random[0]);
  const std::vector<double> masses{0.05, 0.2};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  SolverSettings settings = battery::staggered_settings("multishift");
  settings.check_every = 4;
  Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), staggered::Action(links), settings);
  std::vector<HostField> solutions(2, HostField(colour_components, lattice));
  for (const SolveResult& result : solver.solve(sources, masses, solutions, [](int iterations, double) { return iterations < 8; }))
    CHECK(result.reason == StopReason::interrupted);
  for (const HostField& solution : solutions)
    for (const auto& z : solution.data) REQUIRE(z == std::complex<double>(0));
  solutions = {random[1], HostField(colour_components, lattice)};
  for (const SolveResult& result : solver.solve(sources, masses, solutions)) CHECK(result.converged());
  for (std::size_t v = 0; v < 2; ++v) CHECK(true_residual(reference_links, masses[v], sources[v], solutions[v]) < 1.01e-10);
}

}  // namespace staggered_solver_test
