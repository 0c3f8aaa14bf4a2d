// Any number of right-hand sides that are solved together: each has the bits of its own solve, whatever its company.
#include "codelets/actions/staggered/action.hpp"
#include "solvers/solver_choice.hpp"
#include "tests/battery/staggered_solver_support.hpp"

#include <algorithm>
#include <set>

namespace staggered_right_hand_sides_test {

using namespace quarkstar;
using battery::StaggeredOutcome;

namespace {

constexpr std::uint64_t seed = 20261126;
constexpr std::size_t most = most_vectors;
const Coord lattice{4, 4, 4, 8};

/// A way to a residual in double precision.
struct Way {
  Precision precision;
  Updates updates;
  int long_reals;
};
constexpr Way ways[] = {{Precision::double_, Updates::reliable, 18},
                        {Precision::single, Updates::reliable, 13},
                        {Precision::single, Updates::reliable, 18},
                        {Precision::half, Updates::reliable, 14},
                        {Precision::half, Updates::correction, 18}};

/// Unlike masses, in no order: right-hand sides stop at different iterations, heavy ones beside light ones.
double mass_of(std::size_t v) { return 0.4 * std::pow(1.07, static_cast<double>(11 * v % most)); }

}  // namespace

TEST_CASE("staggered CG: any number of right-hand sides has the bits of as many single solves") {
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(lattice, seed), battery::naik_weight);
  const std::vector<HostField> sources = battery::random_vectors(lattice, most, seed + 2);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1), cut(lattice, {1, 1, 1, 2}, 1);
  std::vector<int> in_double;  // iterations of each
  for (const Way& way : ways) {
    SolverSettings settings = battery::staggered_settings("cg", way.precision, way.long_reals);
    settings.updates = way.updates;
    Solver single(whole, staggered::Action(links), settings);
    std::vector<StaggeredOutcome> alone;
    std::set<int> ends;
    for (std::size_t v = 0; v < most; ++v) {
      const double mass = mass_of(v);
      alone.push_back(battery::solve_together(single, {&sources[v], 1}, {&mass, 1}));
      const SolveResult& result = alone.back().results[0];
      REQUIRE(result.converged());
      REQUIRE_FALSE(result.residual_history.empty());
      if (way.precision != Precision::double_) REQUIRE((result.refreshes > 0) == (way.updates == Updates::reliable));
      ends.insert(result.iterations);
      if (way.precision == Precision::double_) in_double.push_back(result.iterations);
      // Also where few iterations are enough, so that a place for a reliable update comes late.
      INFO(name_of(way.precision) << " mass " << mass << ": " << in_double[v] << " iterations in double precision");
      CHECK(result.iterations <= in_double[v] * 6 / 5 + 8);
    }
    MESSAGE(name_of(way.precision) << ": " << *ends.begin() << " to " << *ends.rbegin() << " iterations, " << ends.size()
                                   << " different numbers");
    struct Layout {
      runtime::Decomposition decomposition;
      int vectors_in_lanes;
      std::vector<std::size_t> numbers;  ///< of right-hand sides
    };
    std::vector<Layout> layouts{{whole, 1, {2, 3, 4, 5, 8, 12, 16, 32}}, {cut, 1, {2, 3, 4, 5, 8, 12, 16, 32}}};
    if (way.long_reals == 18) layouts.insert(layouts.end(), {{whole, 8, {8, 24}}, {cut, 8, {8}}, {whole, 16, {16, 32}}, {cut, 16, {16}}});
    for (const auto& [decomposition, vectors_in_lanes, numbers] : layouts) {
      Solver together(decomposition, staggered::Action(links), settings, {.vectors_in_lanes = vectors_in_lanes});
      for (const std::size_t n : numbers) {
        std::vector<std::size_t> chosen;  // others for each n, so that a vector has other places and other company
        std::vector<HostField> some;
        std::vector<double> masses;
        std::set<int> different;
        for (std::size_t v = 0; v < n; ++v) {
          chosen.push_back((5 * v + n) % most);
          some.push_back(sources[chosen[v]]);
          masses.push_back(mass_of(chosen[v]));
          different.insert(alone[chosen[v]].results[0].iterations);
        }
        CHECK(different.size() > 1);
        const StaggeredOutcome outcome = battery::solve_together(together, some, masses);
        for (std::size_t v = 0; v < n; ++v) {
          INFO(name_of(way.precision) << " updates " << static_cast<int>(way.updates) << " " << decomposition.describe() << " vectors " << n
                                      << ", in lanes " << vectors_in_lanes << ", number " << v);
          battery::check_same_bits(outcome, v, alone[chosen[v]], 0);
        }
      }
    }
  }
}

TEST_CASE("staggered CG: right-hand sides that need nothing, or cannot be solved, leave their company as it is") {
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(lattice, seed + 10), battery::naik_weight);
  std::vector<HostField> sources = battery::random_vectors(lattice, 8, seed + 12);
  std::fill(sources[1].data.begin(), sources[1].data.end(), 0.0);
  sources[3].data[7] = NAN;
  const std::vector<double> masses{0.2, 0.2, 0.1, 0.2, 0.5, 0.3, 0.3, 0.4};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const Way& way : ways) {
    INFO(name_of(way.precision) << " updates " << static_cast<int>(way.updates));
    SolverSettings settings = battery::staggered_settings("cg", way.precision, way.long_reals);
    settings.updates = way.updates;
    const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
    Solver solver(whole, staggered::Action(links), settings);
    std::vector<StaggeredOutcome> outcomes{battery::solve_together(solver, sources, masses)};
    if (way.long_reals == 18) {
      Solver in_lanes(whole, staggered::Action(links), settings, {.vectors_in_lanes = 8});
      outcomes.push_back(battery::solve_together(in_lanes, sources, masses));
    }
    for (const std::size_t v : {0, 1, 2, 4}) {
      const StaggeredOutcome alone = battery::solve_together(solver, {&sources[v], 1}, {&masses[v], 1});
      for (const StaggeredOutcome& together : outcomes) {
        INFO("number " << v);
        CHECK(together.results[v].converged());
        battery::check_same_bits(together, v, alone, 0);
        CHECK(together.results[1].iterations == 0);
        CHECK(together.results[3].reason == StopReason::not_finite);
      }
    }
  }
}

TEST_CASE("staggered: which right-hand sides lie in lanes, and what refuses them") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  const auto chosen = [&](const char* solver, Precision precision, int long_reals, const std::vector<int>& groups) {
    return vectors_in_lanes_for(whole, colour_components, 1, battery::staggered_settings(solver, precision, long_reals), groups);
  };
  battery::for_architectures([&] {
    const bool vectors = arch::name_of(arch::current()) != "scalar";
    INFO(arch::name_of(arch::current()));
    CHECK(chosen("cg", Precision::single, 18, {16}) == (vectors ? 16 : 1));
    CHECK(chosen("cg", Precision::single, 18, {32, 16}) == (vectors ? 16 : 1));
    CHECK(chosen("cg", Precision::single, 18, {16, 8}) == (vectors ? 8 : 1));
    CHECK(chosen("cg", Precision::double_, 18, {16}) == (vectors ? 8 : 1));
    CHECK(chosen("cg", Precision::single, 18, {8, 9}) == 1);
    CHECK(chosen("cg", Precision::single, 13, {8}) == 1);
    CHECK(chosen("cg", Precision::half, 18, {8}) == 1);
    CHECK(chosen("multishift", Precision::single, 18, {8}) == 1);
    CHECK(chosen("blockcg", Precision::single, 18, {8}) == 1);
  });
  const auto of = [&](int vectors_in_lanes) {
    return std::make_shared<Lattice>(whole, Precision::single, periodic, LayoutRequest{.reach = 3, .vectors_in_lanes = vectors_in_lanes});
  };
  CHECK_THROWS_AS(of(4), ShapeError);
  CHECK_THROWS_AS(Field(of(8), 0, colour_components, 12), ShapeError);
  const smear::StaggeredLinks links = battery::with_phases(battery::smooth_links(lattice, seed + 20), battery::naik_weight);
  for (const auto& [solver, long_reals] : {std::pair{"cg", 13}, {"multishift", 18}, {"blockcg", 18}}) {
    INFO(solver << " links " << long_reals);
    const SolverSettings settings = battery::staggered_settings(solver, Precision::single, long_reals);
    CHECK_THROWS_AS(Solver(whole, staggered::Action(links), settings, {.vectors_in_lanes = 8}), Error);
  }
}

}  // namespace staggered_right_hand_sides_test
