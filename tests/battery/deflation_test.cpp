// Deflated solves: fewer iterations, true residuals, the same bits for every cut and number of right-hand sides, in every precision.
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/system/error.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/eigen_support.hpp"
#include "tests/battery/staggered_solver_support.hpp"

#include <algorithm>
#include <string>

namespace deflation_test {

using namespace quarkstar;
using battery::StaggeredOutcome;

namespace {

constexpr std::uint64_t seed = 20261202;
constexpr Precision precisions[] = {Precision::double_, Precision::single, Precision::half};

struct Modes {
  EigenResult result;
  std::vector<HostField> vectors;
  int parity;
  double mass;
};

Modes modes_of(const runtime::Decomposition& decomposition, const Action& action, int count) {
  const EigenSettings settings{.modes = count, .tolerance = 1e-9};
  battery::HermitianOperator a(decomposition, action, settings.block);
  BlockLanczos lanczos(*a, settings);
  EigenResult result = lanczos.solve();
  REQUIRE(result.converged);
  MESSAGE(count << " modes from " << result.values.front() << " to " << result.values.back() << ": " << result.state.restarts
                << " restarts, degree " << result.state.degree << ", " << result.state.applications * settings.block << " applications");
  return {std::move(result), battery::extracted(lanczos, count), (*a).parity(), a.mass()};
}

void deflate(Solver& solver, const Modes& modes, Precision stored = Precision::double_, ModesMemory where = ModesMemory::device) {
  solver.set_projector(battery::projector_of(modes.result, modes.vectors, modes.parity, solver.lattice(), stored, where), modes.mass);
}

/// Near-zero modes of smooth links: one for each taste and colour, which a light quark's solve has to find.
constexpr Coord lattice{8, 8, 8, 8};
constexpr int modes = 24;

int most_iterations(const StaggeredOutcome& outcome) {
  int most = 0;
  for (const SolveResult& result : outcome.results) most = std::max(most, result.iterations);
  return most;
}

}  // namespace

TEST_CASE("staggered: deflated solves take at most a quarter of the iterations, in every precision and by every solver") {
  MESSAGE("seed " << seed);
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed, 0.1);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  const staggered::Action action(links);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 2), cut(lattice, {1, 1, 1, 2}, 2);
  const Modes known = modes_of(whole, action, modes);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 3, seed + 5);
  const std::vector<double> masses(3, 0.002);
  for (const char* solver : {"cg", "blockcg"})
    for (const Precision precision : precisions) {
      const bool shares = std::string_view(solver) == "blockcg";
      if (shares && precision == Precision::half) {  // it would not converge for so light a quark
        Solver refusing(whole, action, battery::staggered_settings(solver, precision));
        CHECK_THROWS_WITH_AS(deflate(refusing, known), doctest::Contains("blockcg in half precision loses known modes"), Error);
        continue;
      }
      INFO(std::string(solver) << " " << name_of(precision));
      const SolverSettings settings = battery::staggered_settings(solver, precision);
      Solver plain(whole, action, settings), deflated(whole, action, settings), on_two(cut, action, settings);
      deflate(deflated, known);
      deflate(on_two, known);
      const StaggeredOutcome before = battery::solve_together(plain, sources, masses),
                             outcome = battery::solve_together(deflated, sources, masses),
                             other = battery::solve_together(on_two, sources, masses);
      MESSAGE(std::string(solver) << " " << name_of(precision) << ": " << most_iterations(before) << " iterations, deflated "
                                  << most_iterations(outcome));
      const int saving = shares ? 3 : 4;  // a shared space finds low modes sooner
      CHECK(saving * most_iterations(outcome) <= most_iterations(before));
      for (std::size_t v = 0; v < sources.size(); ++v) {
        CHECK(outcome.results[v].converged());
        CHECK(battery::true_residual(reference_links, masses[v], sources[v], outcome.solutions[v]) < 1.01e-10);
        battery::check_same_bits(other, v, outcome, v);
        if (shares) continue;
        const StaggeredOutcome alone = battery::solve_together(deflated, {&sources[v], 1}, {&masses[v], 1});
        battery::check_same_bits(alone, 0, outcome, v);
      }
      if (shares) continue;
      for (const Precision stored : {Precision::single, Precision::half}) {  // vectors that are held in less memory
        INFO("modes in " << std::string(name_of(stored)));
        deflate(deflated, known, stored);
        deflate(on_two, known, stored);
        const StaggeredOutcome narrow = battery::solve_together(deflated, sources, masses),
                               narrow_on_two = battery::solve_together(on_two, sources, masses);
        MESSAGE(std::string(solver) << " " << name_of(precision) << ", modes in " << name_of(stored) << ": " << most_iterations(narrow)
                                    << " iterations");
        CHECK(most_iterations(narrow) <= 1.2 * most_iterations(outcome));
        for (std::size_t v = 0; v < sources.size(); ++v) {
          CHECK(narrow.results[v].converged());
          CHECK(battery::true_residual(reference_links, masses[v], sources[v], narrow.solutions[v]) < 1.01e-10);
          battery::check_same_bits(narrow_on_two, v, narrow, v);
        }
      }
    }
}

TEST_CASE("staggered: one file of modes serves all masses, together and in one Krylov space") {
  MESSAGE("seed " << seed);
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed, 0.1);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  const staggered::Action action(links);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  const Modes known = modes_of(whole, action, modes);
  const std::vector<double> masses{0.05, 0.002, 0.2};
  const std::vector<HostField> sources(masses.size(), battery::random_vectors(lattice, 1, seed + 9)[0]);
  for (const char* solver : {"cg", "multishift"})
    for (const Precision precision : {Precision::double_, Precision::single}) {
      INFO(std::string(solver) << " " << name_of(precision));
      const SolverSettings settings = battery::staggered_settings(solver, precision);
      Solver plain(whole, action, settings), deflated(whole, action, settings);
      deflate(deflated, known);
      const StaggeredOutcome before = battery::solve_together(plain, sources, masses),
                             outcome = battery::solve_together(deflated, sources, masses);
      MESSAGE(std::string(solver) << " " << name_of(precision) << ": " << most_iterations(before) << " iterations, deflated "
                                  << most_iterations(outcome));
      CHECK(4 * most_iterations(outcome) <= most_iterations(before));
      for (std::size_t v = 0; v < masses.size(); ++v) {
        CHECK(outcome.results[v].converged());
        CHECK(battery::true_residual(reference_links, masses[v], sources[v], outcome.solutions[v]) < 1.01e-10);
      }
    }
}

TEST_CASE("Wilson: modes of Mh^+ Mh deflate every solver, and no other kappa") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed + 20, 0.1);
  const WilsonParameters parameters{.kappa = 0.1275};
  const wilson::Action action(gauge, parameters);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(extents, {1, 1, 1, 1}, 1);
  const Modes known = modes_of(whole, action, 24);
  const HostField source = battery::to_host(reference::random_field(extents, 4, seed + 21));
  for (const char* solver : {"cgnr", "bicgstab", "gcr"})
    for (const Precision precision : precisions) {
      INFO(std::string(solver) << " " << name_of(precision));
      SolverSettings settings = battery::settings_of(solver, precision);
      Solver plain(whole, action, settings), deflated(whole, action, settings);
      deflate(deflated, known);
      HostField before(spinor_components, extents), after(spinor_components, extents);
      const SolveResult without = plain.solve(source, before), with = deflated.solve(source, after);
      MESSAGE(std::string(solver) << " " << name_of(precision) << ": " << without.iterations << " iterations, deflated "
                                  << with.iterations);
      CHECK(with.converged());
      const reference::Field b = battery::to_reference(source);
      CHECK(std::sqrt(reference::norm2(b - reference::wilson(gauge, parameters.kappa, battery::to_reference(after))) /
                      reference::norm2(b)) < 1.01e-10);
      if (std::string_view(solver) == "cgnr" && precision == Precision::double_) CHECK(2 * with.iterations <= without.iterations);
      if (std::string_view(solver) != "cgnr") CHECK(2 * with.iterations <= without.iterations);
      CHECK_THROWS_WITH(deflated.solve(source, 0.12, after),
                        doctest::Contains("deflate: eigenvectors of the operator with mass (or kappa) 0.1275 do not serve 0.12"));
    }
}

TEST_CASE("deflated solves have the same bits under every policy, cut or whole, wherever the modes are") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 8, 8};
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(extents, seed + 30, 0.1), battery::naik_weight);
  const staggered::Action action(links);
  const std::vector<HostField> sources = battery::random_vectors(extents, 3, seed + 31);
  const std::vector<double> masses(3, 0.01);
  Modes known;
  {
    const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
    known = modes_of(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), action, 24);
  }
  for (const Precision precision : precisions) {
    const auto solve = [&](const Coord& blocks, int owners, ModesMemory where) {
      Solver solver(runtime::Decomposition(extents, blocks, owners), action, battery::staggered_settings("cg", precision));
      deflate(solver, known, precision, where);
      return battery::solve_together(solver, sources, masses);
    };
    StaggeredOutcome expected;
    {
      const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
      expected = solve({1, 1, 1, 1}, 1, ModesMemory::device);
    }
    const Coord blocks{1, 1, 2, 2};
    for (const std::string& policy : runtime::policy_names()) {
      const runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = policy});
      for (const ModesMemory where : {ModesMemory::device, ModesMemory::streamed, ModesMemory::on_cpus}) {
        INFO(name_of(precision) << ", " << policy << ", modes " << describe(where));
        const StaggeredOutcome outcome = solve(blocks, 2, where);
        for (std::size_t v = 0; v < sources.size(); ++v) {
          CHECK(outcome.results[v].converged());
          battery::check_same_bits(outcome, v, expected, v);
        }
      }
    }
  }
}

}  // namespace deflation_test
