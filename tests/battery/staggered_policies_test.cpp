// Every staggered solver in every precision: the same bits under every policy, for 1 to 8 blocks, and on every
// architecture.
#include "codelets/actions/staggered/action.hpp"
#include "runtime/policy/policy.hpp"
#include "tests/battery/staggered_solver_support.hpp"

#include <optional>

namespace staggered_policies_test {

using namespace quarkstar;
using battery::StaggeredOutcome;

namespace {

constexpr std::uint64_t seed = 20261129;
constexpr std::size_t n = 3;
const Coord lattice{4, 8, 8, 8};
const Coord cuts[] = {{1, 1, 1, 1}, {1, 1, 1, 2}, {1, 1, 2, 2}, {1, 2, 2, 2}};

/// A solver, a precision and what is solved for.
struct Problem {
  SolverSettings settings;
  std::vector<HostField> sources;
  std::vector<double> masses;
  StaggeredOutcome expected{};  ///< one block, one worker

  StaggeredOutcome solve(const Coord& blocks, int owners, const smear::StaggeredLinks& links) const {
    Solver solver(runtime::Decomposition(lattice, blocks, owners), staggered::Action(links), settings);
    return battery::solve_together(solver, sources, masses);
  }
};

std::vector<Problem> all_problems() {
  const std::vector<HostField> random = battery::random_vectors(lattice, n, seed + 2);
  std::vector<Problem> problems;
  for (const std::string& solver : solver_names(true))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      const int long_reals = precision == Precision::double_ ? 18 : precision == Precision::single ? 13 : 9;
      Problem problem{battery::staggered_settings(solver, precision, long_reals), random, {0.8, 1.8, 1.2}};
      problem.settings.tolerance = 1e-6;
      if (solver == "multishift") problem.sources.assign(n, random[0]);
      if (solver == "blockcg") problem.masses.assign(n, 0.8);
      problems.push_back(std::move(problem));
    }
  return problems;
}

}  // namespace

TEST_CASE("staggered solves: the same bits under every policy, for 1 to 8 blocks, and on every architecture") {
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(lattice, seed), battery::naik_weight);
  std::vector<Problem> problems = all_problems();
  const auto check = [&](const Problem& problem, const Coord& blocks, int owners) {
    INFO(problem.settings.solver << " " << name_of(problem.settings.precision) << " blocks " << blocks[1] << blocks[2] << blocks[3]
                                 << " owners " << owners << " " << arch::name_of(arch::current()));
    const StaggeredOutcome outcome = problem.solve(blocks, owners, links);
    for (std::size_t v = 0; v < n; ++v) battery::check_same_bits(outcome, v, problem.expected, v);
  };
  {
    const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
    for (Problem& problem : problems) {
      problem.expected = problem.solve({1, 1, 1, 1}, 1, links);
      for (const SolveResult& result : problem.expected.results) REQUIRE(result.converged());
    }
    battery::for_architectures([&] {
      for (const Problem& problem : problems) check(problem, {1, 1, 1, 2}, 1);
    });
  }
  // Every cut under every policy; the problems take turns, so that each meets each cut and, in some cut, each policy.
  std::size_t turn = 0;
  for (const std::string& policy : runtime::policy_names()) {
    INFO("policy " << policy);
    ++turn;
    // A session for each solver: StarPU's heteroprio has room for 100 kinds of tasks in one.
    std::optional<runtime::Session> session;
    for (std::size_t p = 0; p < problems.size(); ++p) {
      if (p == 0 || problems[p].settings.solver != problems[p - 1].settings.solver) {
        session.reset();
        session.emplace(runtime::SessionOptions{.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = policy});
      }
      check(problems[p], cuts[(p + turn) % std::size(cuts)], 2);
    }
  }
}

}  // namespace staggered_policies_test
