// Any number of Wilson right-hand sides that are solved together: each has the bits of its own solve, whatever the others are.
#include "codelets/actions/wilson/action.hpp"
#include "tests/battery/together_support.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace wilson_right_hand_sides_test {

using namespace quarkstar;
using battery::settings_of;
using battery::TogetherOutcome;

namespace {

constexpr std::uint64_t seed = 20261124;
const Coord lattice{4, 4, 4, 8};
const Coord one_block{1, 1, 1, 1}, four_blocks{1, 1, 2, 2};
const std::size_t most = most_vectors;

/// Unlike kappas, in no order: right-hand sides stop at different iterations, heavy quarks beside light ones.
double kappa_of(std::size_t v) { return 0.09 + 0.033 * static_cast<double>(11 * v % most) / static_cast<double>(most - 1); }

std::vector<HostField> random_sources(std::size_t count, std::uint64_t from) {
  std::vector<HostField> sources;
  for (std::size_t v = 0; v < count; ++v) sources.push_back(battery::to_host(reference::random_field(lattice, 4, from + v)));
  return sources;
}

std::string text_of(const SolverSettings& settings) {
  return settings.solver + " " + std::string(name_of(settings.precision)) +
         (settings.updates == Updates::correction ? " corrections" : "") + (settings.schwarz ? " Schwarz" : "");
}

}  // namespace

TEST_CASE("Wilson solves: any number of right-hand sides has the bits of as many single solves") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const wilson::Action action(gauge, {0.12, {}, antiperiodic_in_time});
  const std::vector<HostField> sources = random_sources(most, seed + 1);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const auto check = [&](const SolverSettings& settings, std::size_t available, const std::vector<std::pair<Coord, std::size_t>>& groups) {
    Solver single(runtime::Decomposition(lattice, one_block, 1), action, settings);
    std::vector<TogetherOutcome> alone;
    for (std::size_t v = 0; v < available; ++v) {
      const double kappa = kappa_of(v);
      alone.push_back(battery::solve_together(single, {&sources[v], 1}, {&kappa, 1}));
      INFO(text_of(settings) << " kappa " << kappa);
      REQUIRE(alone.back().results[0].converged());
      REQUIRE_FALSE(alone.back().results[0].residual_history.empty());
    }
    for (const auto& [blocks, n] : groups) {
      std::vector<std::size_t> chosen;  // others for each n, so that a vector has other places and other company
      std::vector<HostField> some;
      std::vector<double> kappas;
      std::set<int> different;
      for (std::size_t v = 0; v < n; ++v) {
        chosen.push_back((5 * v + n) % available);
        some.push_back(sources[chosen[v]]);
        kappas.push_back(kappa_of(chosen[v]));
        different.insert(alone[chosen[v]].results[0].iterations);
      }
      CHECK(different.size() > 1);
      Solver together(runtime::Decomposition(lattice, blocks, 1), action, settings);
      const TogetherOutcome outcome = battery::solve_together(together, some, kappas);
      for (std::size_t v = 0; v < n; ++v) {
        INFO(text_of(settings) << " blocks " << blocks[2] << blocks[3] << " vectors " << n << ", number " << v);
        battery::check_same_bits(outcome, v, alone[chosen[v]], 0);
      }
    }
  };
  for (const std::string& solver : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
      check(settings_of(solver, precision), 12,
            {{one_block, 2}, {one_block, 3}, {one_block, 8}, {one_block, 12}, {four_blocks, 3}, {four_blocks, 12}});
  check(settings_of("bicgstab", Precision::single), most, {{one_block, most}});
  SolverSettings corrections = settings_of("bicgstab", Precision::half);
  corrections.updates = Updates::correction;
  check(corrections, 8, {{one_block, 8}, {four_blocks, 3}});
  // The domains are solved with the action's own kappa, whatever those of the right-hand sides are.
  SolverSettings domains = settings_of("gcr", Precision::single);
  domains.schwarz = SchwarzSettings{{4, 4, 2, 4}, 2};
  check(domains, 8, {{one_block, 8}, {four_blocks, 3}});
}

TEST_CASE("Wilson solves: right-hand sides that need nothing, or cannot be solved, leave their company as it is") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 50, 0.4);
  const wilson::Action action(gauge, {0.12, {}, antiperiodic_in_time});
  std::vector<HostField> sources = random_sources(5, seed + 51);
  std::fill(sources[1].data.begin(), sources[1].data.end(), 0.0);
  sources[3].data[7] = NAN;
  const std::vector<double> kappas{0.11, 0.11, 0.12, 0.11, 0.1};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const std::string& solver : solver_names(false))
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      const SolverSettings settings = settings_of(solver, precision);
      Solver wilson(runtime::Decomposition(lattice, one_block, 1), action, settings);
      const TogetherOutcome together = battery::solve_together(wilson, sources, kappas);
      for (const std::size_t v : {0, 1, 2, 4}) {
        INFO(text_of(settings) << " number " << v);
        CHECK(together.results[v].converged());
        battery::check_same_bits(together, v, battery::solve_together(wilson, {&sources[v], 1}, {&kappas[v], 1}), 0);
      }
      INFO(text_of(settings));
      CHECK(together.results[0].iterations > 0);
      CHECK(together.results[1].iterations == 0);
      CHECK(std::all_of(together.solutions[1].data.begin(), together.solutions[1].data.end(), [](const auto& c) { return c == 0.0; }));
      CHECK(together.results[3].reason == StopReason::not_finite);
    }
}

}  // namespace wilson_right_hand_sides_test
