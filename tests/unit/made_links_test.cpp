// Links that an action makes, kept for the next quark on a configuration.
#include "apps/run/made_links.hpp"

#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

namespace made_links_test {

using namespace quarkstar;

TEST_CASE("links are made once for quarks that differ in their mass, and anew for others") {
  constexpr std::uint64_t seed = 5173;
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 4};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition decomposition(lattice, {1, 1, 1, 1}, 1);
  int asked = 0;
  const LinksOfPart links = [&](const runtime::Decomposition&, GaugeSummary& summary) -> const HostGauge& {
    ++asked;
    summary.format = "counted";
    return gauge;
  };
  const std::size_t only[] = {0};
  app::MadeLinks made;
  // The operator's equation tells its links. Whether they are asked for is what `asked` tells.
  const auto equation_of = [&](const char* action, const SettingValues& settings, const BoundaryAngles& boundary = antiperiodic_in_time) {
    ActionRun run{.settings = settings, .boundary = boundary, .identify = true};
    const std::string equation = made(kind_named(action), session, decomposition, links, run)(only).equation;
    CHECK(run.gauge.format == "counted");
    ActionRun again = run;
    const int before = asked;
    CHECK(equation == kind_named(action).make_links(session, decomposition, links, again)(only).equation);
    asked = before;
    return equation;
  };
  const std::string first = equation_of("hisq", {{"mass", 0.1}});
  CHECK(asked == 1);
  CHECK(equation_of("hisq", {{"mass", 0.2}}) == first);
  CHECK(asked == 1);
  CHECK(equation_of("hisq", {{"naik-epsilon", -0.1}}) != first);
  CHECK(asked == 2);
  CHECK(equation_of("hisq", {}, {0, 0, 0, 0}) != first);
  CHECK(asked == 3);
  const std::string asqtad = equation_of("asqtad", {{"u0", 0.9}});
  CHECK(asked == 4);
  CHECK(equation_of("asqtad", {{"u0", 0.8}}) != asqtad);
  CHECK(asked == 5);
  for (int i = 0; i < 2; ++i) equation_of("wilson", {});  // solves on the links as they are
  CHECK(asked == 7);
  CHECK(equation_of("hisq", {}) == first);
  CHECK(asked == 8);
  made.forget();
  CHECK(equation_of("hisq", {}) == first);
  CHECK(asked == 9);
  for (int i = 0; i < 2; ++i) equation_of("hisq", {{"naik-epsilon", std::string("auto")}});  // an epsilon for each mass
  CHECK(asked == 11);

  // What fails keeps nothing.
  const LinksOfPart unreadable = [](const runtime::Decomposition&, GaugeSummary&) -> const HostGauge& {
    throw Error(ErrorKind::input, "lat", "is damaged", "");
  };
  equation_of("hisq", {});
  CHECK(asked == 12);
  ActionRun other{.settings = {{"naik-epsilon", -0.2}}, .identify = true};
  CHECK_THROWS_AS(made(kind_named("hisq"), session, decomposition, unreadable, other), Error);
  CHECK(equation_of("hisq", {}) == first);
  CHECK(asked == 13);
}

}  // namespace made_links_test
