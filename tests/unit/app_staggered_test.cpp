// Settings and the model of staggered runs.
#include "apps/report/plot_svg.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "apps/run/shared_account.hpp"
#include "apps/studies/hisq_model.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>

namespace app_staggered_test {

using namespace quarkstar;
using namespace quarkstar::app;

namespace {

RunConfig config_of(const std::vector<Assignment>& flags) {
  RunConfig config;
  apply_settings(config, flags);
  complete(config);
  config.gauge = config.json = "given";
  return config;
}

std::string refusal_of(const std::vector<Assignment>& flags) {
  try {
    check_complete(config_of(flags));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Assignment flag(const std::string& key, const std::string& value) { return {key, value, "--" + key}; }

}  // namespace

TEST_CASE("staggered settings complete themselves and exclude each other") {
  const RunConfig config = config_of({flag("action", "hisq"), flag("masses", "0.05,0.1")});
  CHECK(config.solver.solver == "cg");
  CHECK(config.columns == std::vector<int>{0, 1, 2});
  CHECK(config.masses() == std::vector<double>{0.05, 0.1});
  CHECK(refusal_of({flag("action", "hisq"), flag("mass", "0.1")}).empty());
  CHECK(refusal_of({}).empty());
  CHECK(refusal_of({flag("action", "asqtad")}).starts_with("u0: asqtad needs"));
  CHECK(refusal_of({flag("action", "hisq"), flag("u0", "0.9")}).starts_with("--u0: u0 means nothing for the action hisq"));
  CHECK(refusal_of({flag("action", "naive"), flag("naik-epsilon", "auto")}).starts_with("--naik-epsilon: naik-epsilon means nothing"));
  CHECK(refusal_of({flag("action", "hisq"), flag("solver", "bicgstab")}).starts_with("solver: 'bicgstab' is not for"));
  CHECK(refusal_of({flag("action", "hisq"), flag("solver", "cgnr")}).starts_with("solver: 'cgnr' is not for"));
  CHECK(refusal_of({flag("solver", "multishift")}).starts_with("solver: 'multishift' is not for"));
  CHECK(refusal_of({flag("links", "13")}).starts_with("links: '13' is not for"));
  CHECK(refusal_of({flag("action", "hisq"), flag("links", "12")}).starts_with("links: '12' is not for"));
  CHECK(refusal_of({flag("action", "hisq"), flag("mass", "-0.5")}).starts_with("mass: -0.5 is not positive"));
  for (const char* columns : {"5", "0-2,5"})
    CHECK(refusal_of({flag("action", "hisq"), flag("columns", columns)}).starts_with("columns: the action hisq has no column 5"));
  CHECK(config_of({flag("action", "hisq"), flag("columns", "0,2")}).columns == std::vector<int>{0, 2});
  CHECK(refusal_of({flag("action", "naive"), flag("links", "13")}).starts_with("links: '13' is not for the action naive"));
  CHECK(refusal_of({flag("action", "naive"), flag("links", "18")}).empty());
  CHECK_THROWS_AS(config_of({flag("action", "hisq"), flag("mass", "0.3"), flag("masses", "0.1,0.2")}), Error);
  const auto block = [](const char* key, const char* value) {
    return refusal_of({flag("action", "hisq"), flag("solver", "blockcg"), flag("precision", "half"), flag(key, value)});
  };
  CHECK(block("updates", "reliable").starts_with("updates: blockcg has no reliable updates"));
  CHECK(block("refresh-drop", "0.1").starts_with("refresh-drop: blockcg has no reliable updates"));
  CHECK(block("updates", "correction").empty());
  CHECK(refusal_of({flag("action", "hisq"), flag("checkpoint", "folder")}).empty());
  CHECK(config_of({flag("action", "hisq"), flag("checkpoint", "folder")}).solver.snapshots);
  CHECK_FALSE(config_of({flag("action", "hisq")}).solver.snapshots);
  CHECK(refusal_of({flag("masses", "0.1,0.2")}).starts_with("--masses"));
  CHECK(refusal_of({flag("action", "hisq"), flag("naik-epsilon", "-1")}).starts_with("naik-epsilon: -1 leaves no Naik term"));
  CHECK(refusal_of({flag("action", "hisq"), flag("naik-epsilon", "auto"), flag("masses", "0.1,2")}).starts_with("mass: the series"));
  CHECK(refusal_of({flag("action", "hisq"), flag("naik-epsilon", "auto"), flag("masses", "0.1,1")}).empty());
  CHECK(refusal_of({flag("action", "hisq"), flag("solver", "multishift"), flag("naik-epsilon", "auto")})
            .starts_with("solver: multishift needs"));
}

TEST_CASE("low-mode averages are for modes, points and momentum zero") {
  const auto refusal = [](std::vector<Assignment> flags) {
    for (const Assignment& also : {flag("action", "hisq"), flag("deflate", "modes.h5"), flag("low-mode-average", "true")})
      if (std::none_of(flags.begin(), flags.end(), [&](const Assignment& given) { return given.key == also.key; })) flags.push_back(also);
    return refusal_of(flags);
  };
  CHECK(refusal({}).empty());
  CHECK(refusal({flag("source", "point:0,0,0,0+point:1,0,0,4"), flag("momenta", "1,0,0+0,0,0"), flag("masses", "0.1,0.2")}).empty());
  CHECK(refusal({flag("deflate", "")}).starts_with("low-mode-average: there are no modes"));
  CHECK(refusal({flag("action", "wilson")}).empty());
  CHECK(refusal({flag("action", "domain-wall")}).starts_with("low-mode-average: the action domain-wall has a fifth dimension"));
  CHECK(refusal({flag("action", "wilson"), flag("correlators", "proton")}).starts_with("low-mode-average: it is for mesons"));
  CHECK(refusal({flag("action", "wilson"), flag("sinks", "gaussian:2,10")}).starts_with("low-mode-average: it is for point sinks"));
  CHECK(refusal({flag("action", "wilson"), flag("sinks", "gaussian:2,10+point")}).empty());
  CHECK(refusal({flag("action", "twisted-mass"), flag("mu", "0.1,0.2")}).starts_with("low-mode-average: modes are those of one mu"));
  CHECK(refusal({flag("momenta", "1,0,0")}).starts_with("low-mode-average: it is for momentum zero"));
  CHECK(refusal({flag("columns", "0")}).starts_with("columns: low-mode averages need all 3"));
  for (const char* source : {"wall:0", "corner-wall:2", "z2:0,1", "random:0,1"})
    CHECK(refusal({flag("source", std::string("point:0,0,0,0+") + source)})
              .starts_with(std::string("low-mode-average: it is for points, and a source is ") + source));
}

TEST_CASE("right-hand sides of any sources, colours and masses are solved together") {
  const auto batches = [](const std::string& solver, const std::string& sources, const std::string& masses, const std::string& nrhs) {
    const RunConfig config =
        config_of({flag("action", "hisq"), flag("solver", solver), flag("source", sources), flag("masses", masses), flag("nrhs", nrhs)});
    check_complete(config);
    return groups_of(config, operators_of(config).front());
  };
  const std::string three = "point:0,0,0,0+point:0,0,0,4+wall:0";
  using Batch = std::vector<RightHandSide>;
  // One source: mass after mass, as many as go together.
  CHECK(batches("cg", "wall:1", "0.1,0.2", "4") ==
        std::vector<Batch>{{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {0, 0, 1}}, {{0, 1, 1}, {0, 2, 1}}});
  CHECK(batches("cg", three, "0.1", "8") ==
        std::vector<Batch>{{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {2, 0, 0}, {2, 1, 0}}, {{2, 2, 0}}});
  CHECK(batches("cg", three, "0.1,0.2", "32").size() == 1);
  const auto block = batches("blockcg", three, "0.1,0.2", "32");
  REQUIRE(block.size() == 2);
  for (std::size_t m = 0; m < 2; ++m) {
    CHECK(block[m].size() == 9);
    for (const RightHandSide& task : block[m]) CHECK(task.mass == m);
  }
  // Modes that are gathered serve all staggered masses, and of twisted mass one.
  CHECK(groups_of(config_of({flag("action", "hisq"), flag("masses", "0.1,0.2"), flag("recycle", "16"), flag("nrhs", "32")}),
                  std::vector<std::size_t>{0, 1})
            .size() == 1);
  const auto twisted = [](const char* recycle) {
    const RunConfig config = config_of({flag("action", "twisted-mass"), flag("solver", "cgnr"), flag("mu", "0.1,0.2"),
                                        flag("columns", "0,1"), flag("recycle", recycle), flag("nrhs", "32")});
    check_complete(config);
    return groups_of(config, operators_of(config).front());
  };
  CHECK(twisted("0").size() == 1);
  CHECK(twisted("16") == std::vector<Batch>{{{0, 0, 0}, {0, 1, 0}}, {{0, 0, 1}, {0, 1, 1}}});
  const auto shifts = batches("multishift", three, "0.1,0.2,0.4", "1");
  REQUIRE(shifts.size() == 9);
  CHECK(shifts[4] == Batch{{1, 1, 0}, {1, 1, 1}, {1, 1, 2}});
  const auto in_flight = [&three](const std::string& nrhs) {
    return config_of({flag("action", "hisq"), flag("source", three), flag("nrhs", nrhs), flag("in-flight", "64")}).solver.in_flight;
  };
  CHECK(in_flight("3") == 3);
  CHECK(in_flight("8") == 2);
}

TEST_CASE("solves that ended in any order are told apart by column and mass") {
  std::vector<ColumnReport> solves;
  std::vector<SolveKey> order;
  for (const double mass : {0.1, 0.2})
    for (const int column : {0, 1, 2}) {
      order.push_back({column, mass});
      solves.insert(solves.begin(), {.column = column, .result = {}, .mass = mass});
    }
  bring_into_order(solves, order);
  REQUIRE(solves.size() == order.size());
  for (std::size_t i = 0; i < order.size(); ++i) CHECK(SolveKey{solves[i].column, solves[i].mass} == order[i]);
}

TEST_CASE("links from files and what would make links exclude each other") {
  const auto refusal = [](std::vector<Assignment> flags, const std::string& action = "hisq") {
    flags.push_back(flag("action", action));
    return refusal_of(flags);
  };
  const Assignment fat = flag("fat", "f"), far = flag("long", "l");
  CHECK(refusal({fat, far}).empty());
  CHECK(refusal({fat, far}, "asqtad").empty());
  RunConfig config = config_of({fat, far, flag("action", "hisq")});
  config.gauge.clear();
  check_complete(config);
  CHECK(refusal({fat}).starts_with("long: fat links are given alone"));
  CHECK(refusal({far}).starts_with("fat: long links are given alone"));
  CHECK(refusal({fat, far}, "naive").starts_with("--fat: fat means nothing for the action naive"));
  CHECK(refusal({fat, far}, "wilson").starts_with("--fat: fat means nothing for the action wilson"));
  for (const Assignment& maker : {flag("gauge", "g"), flag("lattice", "4,4,4,4"), flag("reunitarize", "true"), flag("naik-epsilon", "0"),
                                  flag("naik-epsilon", "auto")})
    CHECK_MESSAGE(refusal({fat, far, maker}).starts_with("--" + maker.key + ": " + maker.key + " is for links that are made"), maker.key);
  CHECK(refusal({fat, far, flag("u0", "0.9")}, "asqtad").starts_with("--u0: u0 is for links that are made"));
}

TEST_CASE("the seed's table of HISQ intensities") {
  const double by_vectors[] = {0.80, 1.25, 1.53, 1.73, 1.87}, by_cache[] = {0.800, 0.843, 0.874, 0.907, 0.942, 1.069};
  for (int n = 1; n <= 5; ++n) CHECK(std::abs(hisq_model::intensity(n) - by_vectors[n - 1]) < 0.0051);
  for (std::size_t i = 0; i < std::size(by_cache); ++i)  // the document rounds 0.87348 up
    CHECK(std::abs(hisq_model::intensity(1, hisq_model::cached_neighbours[i] / 16.) - by_cache[i]) < 0.0006);
}

TEST_CASE("a chart as a file of its own") {
  const std::string svg =
      svg_file({.title = "a < b", .x_label = "x", .y_label = "y", .series = {{"one", {1, 2}, {3, 4}}, {"two", {1}, {2}}}});
  CHECK(svg.starts_with("<?xml"));
  CHECK(svg.ends_with("</g></svg>\n"));
  CHECK(svg.find("a &lt; b") != std::string::npos);
  CHECK(svg.find(">two</text>") != std::string::npos);
}

}  // namespace app_staggered_test
