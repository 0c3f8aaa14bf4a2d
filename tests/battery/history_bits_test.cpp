// The promise to users: the residual history of a solve is the same bits whatever runs it.
#include "codelets/actions/clover/action.hpp"
#include "runtime/policy/policy.hpp"
#include "tests/battery/solver_support.hpp"

#include <cstdio>
#include <iterator>
#include <map>

namespace history_bits_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 60221;

std::vector<std::string> hex(const std::vector<double>& values) {
  std::vector<std::string> text;
  for (const double value : values) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%a", value);
    text.emplace_back(buffer);
  }
  return text;
}

}  // namespace

TEST_CASE("residual history: same bits for every worker count, cut, policy and architecture") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField random_source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  // A point source spreads the summands over many orders of magnitude, the hard case for sums.
  const HostField point_source = battery::to_host(reference::point_source(lattice, 4, {1, 2, 3, 4}, 1, 2));
  const WilsonParameters parameters{0.125, {}, antiperiodic_in_time};
  const Coord cuts[] = {{1, 1, 1, 1}, {1, 1, 1, 2}, {1, 2, 2, 2}, {2, 2, 2, 2}};
  const char* policies[] = {"static", "halo-first", "energy", "eager", "lws", "dmdas", "prio"};
  std::size_t turn = 0;

  const std::vector<std::string> solvers = solver_names(false);
  for (std::size_t number = 0; number < solvers.size(); ++number)
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      const std::string& solver = solvers[number];
      battery::SolveCase c;
      c.settings.solver = solver;
      c.settings.precision = precision;
      c.settings.link_reals = 12;
      const bool point = precision == Precision::double_;
      const HostField& source = point ? point_source : random_source;
      c.settings.tolerance = point ? 1e-11 : 1e-5;
      const battery::SolveOutcome first = battery::solve_once(c, gauge, parameters, source);
      REQUIRE(first.result.converged());
      const std::vector<std::string> expected = hex(first.result.residual_history);
      const auto check = [&](const battery::SolveCase& other) {
        const battery::SolveOutcome outcome = battery::solve_once(other, gauge, parameters, source);
        CHECK(hex(outcome.result.residual_history) == expected);
        CHECK(battery::same_bits(outcome.solution, first.solution));
      };
      // Every cut with every number of workers; the policies take turns, so that each meets each of these in some solver or precision.
      for (const Coord& blocks : cuts)
        for (const int workers : {1, 2}) {
          const char* policy = policies[turn++ % std::size(policies)];
          INFO(solver << " " << name_of(precision) << " policy " << policy << " workers " << workers << " blocks " << blocks[0] << blocks[1]
                      << blocks[2] << blocks[3]);
          battery::SolveCase other = c;
          other.blocks = blocks;
          other.policy = policy;
          other.workers = workers;
          other.threads = workers == 1 ? 2 : 1;
          check(other);
        }
      // Every policy with every solver and with every precision, in a third of their combinations; so too the lanes of architectures.
      const std::vector<std::string> names = runtime::policy_names();
      for (std::size_t p = 0; p < names.size(); ++p) {
        if ((p + number + static_cast<std::size_t>(precision)) % 3 != 0) continue;
        const std::string& policy = names[p];
        INFO(solver << " " << name_of(precision) << " policy " << policy);
        battery::SolveCase other = c;
        other.blocks = {1, 1, 2, 2};
        other.policy = policy;
        other.workers = 2;
        other.threads = 1;
        check(other);
      }
      battery::for_architectures([&] {
        battery::SolveCase other = c;
        other.blocks = {1, 1, 2, 2};
        other.lane_bytes = (number + static_cast<std::size_t>(precision)) % 2 == 0 ? 64 : 32;
        INFO(solver << " " << name_of(precision) << " " << arch::name_of(arch::current()) << " lanes of " << other.lane_bytes << " bytes");
        check(other);
      });
    }
}

TEST_CASE("residual history of clover and twisted clover: same bits for every policy and cut") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 2));
  const Coord cuts[] = {{1, 1, 1, 2}, {1, 2, 2, 1}, {2, 2, 2, 2}};
  std::size_t turn = 0;
  struct Subject {
    const char* name;
    clover::Parameters term;
    Precision precision;
    Schur schur;
  };
  for (const auto& [name, term, precision, schur] : {Subject{"clover", {.csw = 1.3}, Precision::double_, Schur::asymmetric},
                                                     {"twisted clover", {.csw = 1.1, .mu = 0.2}, Precision::half, Schur::symmetric}}) {
    const clover::Action action(gauge, {.kappa = 0.12, .boundary = antiperiodic_in_time}, term);
    battery::SolveCase c;
    c.settings.precision = precision;
    c.settings.schur = schur;
    c.settings.link_reals = 12;
    c.settings.tolerance = 1e-6;
    const battery::SolveOutcome first = battery::solve_once(c, action, source);
    REQUIRE(first.result.converged());
    for (const std::string& policy : runtime::policy_names()) {
      battery::SolveCase other = c;
      other.blocks = cuts[turn++ % std::size(cuts)];
      other.policy = policy;
      other.workers = 2;
      other.threads = 1;
      INFO(name << " policy " << policy << " blocks " << other.blocks[0] << other.blocks[1] << other.blocks[2] << other.blocks[3]);
      battery::check_same_bits(battery::solve_once(other, action, source), first);
    }
  }
}

}  // namespace history_bits_test
