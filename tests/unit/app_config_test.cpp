// Settings from TOML files and flags: values, precedence, and errors that say
// where and what.
#include "apps/run/config.hpp"
#include "apps/run/parse.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace app_config_test {

using namespace quarkstar;
using namespace quarkstar::app;
using quarkstar::testing::TemporaryFolder;

namespace {

RunConfig config_of(const std::string& toml, const std::vector<Assignment>& flags = {}) {
  const TemporaryFolder folder;
  testing::write_file(folder.file("run.toml"), toml);
  RunConfig config;
  apply_settings(config, read_toml(folder.file("run.toml")));
  apply_settings(config, flags);
  return config;
}

/// The message of the Error(input) that a file causes, without the folder's
/// name.
std::string message_of(const std::string& toml) {
  try {
    config_of(toml);
  } catch (const Error& error) {
    CHECK(error.exit_code() == 2);
    const std::string text = error.what();
    return text.substr(text.find("run.toml"));
  }
  return "no error";
}

}  // namespace

TEST_CASE("a TOML file sets what the flags of the same names set") {
  const RunConfig config = config_of(R"(
    gauge = "lat.nersc"
    reunitarize = true
    kappa = 0.125
    normalisation = "mass"
    boundary = { t = "periodic", z = 0.5 }
    source = "wall:3"
    columns = [0, 3, 5]
    solver = "cgnr"
    schur = "symmetric"
    tol = 1e-8
    max-iterations = 77
    precision = "single"
    links = 8
    no-tune = true
    blocks = [1, 2, 1, 2]
    workers = 2
    worker-mode = "core"
    out = "results"
  )");
  CHECK(config.gauge == "lat.nersc");
  CHECK(config.reunitarize);
  CHECK(config.masses() == std::vector<double>{0.125});
  CHECK(config.action->get<std::string>(config.settings, "normalisation") == "mass");
  CHECK(config.boundary == BoundaryAngles{0, 0, 0.5, 0});
  CHECK(config.source.kind == Source::Kind::wall);
  CHECK(config.source.time() == 3);
  CHECK(config.columns == std::vector<int>{0, 3, 5});
  CHECK(config.solver.solver == "cgnr");
  CHECK(config.solver.schur == Schur::symmetric);
  CHECK(config.solver.tolerance == 1e-8);
  CHECK(config.solver.max_iterations == 77);
  CHECK(config.solver.precision == Precision::single);
  CHECK(config.solver.link_reals == 8);
  CHECK_FALSE(config.solver.tune);
  CHECK(config.blocks == Coord{1, 2, 1, 2});
  CHECK(config.session.cpu_workers == 2);
  CHECK(config.session.mode == runtime::WorkerMode::per_core);
  CHECK(config.out == "results");
}

TEST_CASE("flags override the file, kappa and mass each other") {
  const RunConfig config =
      config_of("kappa = 0.1\ntol = 1e-6\n", {{"mass", "0.0", "--mass"}, {"boundary", "x=antiperiodic", "--boundary"}});
  CHECK(config.masses() == std::vector<double>{0.125});
  CHECK(config.solver.tolerance == 1e-6);
  CHECK(config.boundary == BoundaryAngles{1, 0, 0, 1});
}

TEST_CASE("errors name file, line, key and what is allowed") {
  CHECK(message_of("\nkapa = 0.1\n").starts_with("run.toml:2: kapa: unknown key; did you mean kappa? use one of gauge, lattice, "));
  CHECK(message_of("precision = \"quarter\"")
            .starts_with("run.toml:1: precision: 'quarter' is unknown; use one "
                         "of half, single, double"));
  CHECK(message_of("tol = 1").starts_with("run.toml:1: tol: 1 is not below 1; use a number between 0 and 1"));
  CHECK(message_of("kappa = 11").starts_with("run.toml:1: kappa: 11 is not below 10"));
  CHECK(message_of("mass = -4").starts_with("run.toml:1: mass: -4 is not above -3.95"));
  CHECK(message_of("policy = \"lucky\"")
            .starts_with("run.toml:1: policy: 'lucky' is unknown; use one of "
                         "static, static-unfused, adaptive, "));
  CHECK(message_of("kappa = \"much\"").starts_with("run.toml:1: kappa: 'much' is no number"));
  CHECK(message_of("kappa = -0.1").starts_with("run.toml:1: kappa: -0.1 is not positive"));
  CHECK(message_of("links = 17").starts_with("run.toml:1: links: '17' is unknown; use one of 18, "));
  CHECK(message_of("max-iterations = 1.5").starts_with("run.toml:1: max-iterations: '1.5' is no integer in range"));
  CHECK(message_of("kappa = 0.1\nmass = 0.2").starts_with("run.toml:2: mass: mass and kappa are both given"));
  CHECK(message_of("blocks = [1, 1, 1]").starts_with("run.toml:1: blocks: '1,1,1' has 3 numbers, not 4"));
  CHECK(message_of("blocks = [1, 1, [1], 1]").starts_with("run.toml:1: blocks: the value has a type"));
  CHECK(message_of("source = \"point:1,2\"").starts_with("run.toml:1: source: '1,2' has 2 numbers"));
  CHECK(message_of("boundary = { q = 1 }").starts_with("run.toml:1: boundary: 'q=1' is no boundary condition"));
  CHECK(message_of("tol = \n").starts_with("run.toml:1: "));
  CHECK_THROWS_AS(read_toml("/does/not/exist.toml"), Error);
}

TEST_CASE("what is needed and missing is named") {
  RunConfig config;
  CHECK_THROWS_WITH_AS(check_complete(config), doctest::Contains("gauge: no gauge"), Error);
  config.gauge = "lat";
  CHECK_THROWS_WITH_AS(check_complete(config), doctest::Contains("out: nowhere"), Error);
  config.json = "result.json";
  CHECK_NOTHROW(check_complete(config));
}

TEST_CASE("every setting can be read back as a flag") {
  RunConfig config = config_of(
      "boundary = { z = 0.25 }\nsource = \"point:1,2,3,4\"\nmomenta = [[0,0,0], [1,-2,0]]\nblocks = "
      "[1,1,1,2]\nmass = -0.5");
  for (const Setting& field : run_settings()) {
    CAPTURE(field.key);
    if (!applies(field, config)) continue;
    const nlohmann::json before = field.get(config);
    if (before.is_null() || before == "" || before == 0) continue;  // not set
    std::string text = before.is_string() ? before.get<std::string>() : before.dump();
    if (before.is_array()) text = text.substr(1, text.size() - 2);
    if (before.is_array() && before.front().is_string())
      text = fmt::format("{}", fmt::join(before.get<std::vector<std::string>>(), field.separator));
    if (before.is_array() && before.front().is_array()) {  // [0,0,0],[1,0,0] is 0,0,0+1,0,0
      for (std::size_t at; (at = text.find("],[")) != std::string::npos;) text.replace(at, 3, "+");
      text = text.substr(1, text.size() - 2);
    }
    field.set(config, text);
    CHECK(field.get(config) == before);
  }
}

TEST_CASE("several sources, and no more in flight than there is to solve") {
  RunConfig config = config_of("source = \"point:1,2,3,4+wall:5\"\ncolumns = [0, 1, 2]\nin-flight = 50");
  CHECK(config.source.position == Coord{1, 2, 3, 4});
  REQUIRE(config.further_sources.size() == 1);
  CHECK(config.further_sources[0].time() == 5);
  complete(config);
  CHECK(config.solver.in_flight == 1);  // six columns are one group
  config.nrhs = 1;
  config.solver.in_flight = 50;
  complete(config);
  CHECK(config.solver.in_flight == 6);
  config.action = &kind_named("hisq");
  config.further_sources.clear();
  config.settings["masses"] = std::vector<double>{0.1, 0.2};
  config.nrhs = 4;
  complete(config);
  CHECK(config.solver.in_flight == 2);
}

TEST_CASE("a list of sources is what + joins") {
  const RunConfig config = config_of("source = [\"point:1,2,3,4\", \"wall:5\", \"z2:0,7\"]");
  CHECK(find_setting("source")->get(config) == "point:1,2,3,4+wall:5+z2:0,7");
  CHECK(find_setting("source")->get(config_of("source = [\"wall:5\"]")) == "wall:5");
  CHECK(message_of("source = [\"point:0,0,0,0\", \"line:1\"]").starts_with("run.toml:1: source: 'line:1' is no source; use point:"));
  CHECK(message_of("source = \"point:0,0,0,0+\"").starts_with("run.toml:1: source: '' is no source"));
  CHECK(message_of("source = []").starts_with("run.toml:1: source: '' is no source"));
  CHECK(message_of("source = [[\"wall:1\"]]").starts_with("run.toml:1: source: the value has a type"));
}

TEST_CASE("of several sources each has folders and files of its own") {
  RunConfig config = config_of("source = \"point:1,2,3,4+wall:5\"\nout = \"results\"\ncheckpoint = \"saved\"\njson = \"there/run.json\"");
  REQUIRE(config.all_sources().size() == 2);
  const RunConfig second = of_source(config, 1);
  CHECK(find_setting("source")->get(second) == "wall:5");
  CHECK(second.out == "results/source1");
  CHECK(second.checkpoint == "saved/source1");
  CHECK(second.json == "there/run.source1.json");
  config.json.clear();
  config.checkpoint.clear();
  CHECK(of_source(config, 0).json.empty());
  CHECK(of_source(config, 0).checkpoint.empty());
  config.further_sources.clear();
  CHECK(of_source(config, 0).out == "results");
}

TEST_CASE("columns, switches and numbers are read strictly") {
  CHECK(parse_columns("0-2,5") == std::vector<int>{0, 1, 2, 5});
  for (const char* wrong : {"", "12", "3-1", "1,1", "2,1", "a", "-1", "0-3-5", "1,"}) CHECK_THROWS_AS(parse_columns(wrong), BadValue);
  CHECK_THROWS_AS(parse_switch("yes"), BadValue);
  for (const char* wrong : {"", "1e", "nan", "inf", "1 ", "0x1p3"}) CHECK_THROWS_AS(parse_real(wrong), BadValue);
  CHECK(parse_real("+1e-3") == 1e-3);
  CHECK(text_of(parse_throttles("1:1.2345678,2:2:0.12345678:5:7")) == "1:1.2345678,2:2:0.12345678:5:7");
  CHECK(text_of(parse_throttles("1:fails@0.5,0:fails")) == "1:fails@0.5,0:fails");
  CHECK_THROWS_AS(parse_throttles("1:fails:1:1"), BadValue);
  CHECK_THROWS_AS(parse_integer("99999999999", 0), BadValue);
}

TEST_CASE("four numbers after --lattice and --blocks are one argument") {
  using Words = std::vector<std::string>;
  CHECK(join_coordinates({"solve", "--blocks", "1", "1", "1", "2", "run.toml"}) == Words{"solve", "--blocks", "1,1,1,2", "run.toml"});
  CHECK(join_coordinates({"--lattice", "4,4,4,8", "4"}) == Words{"--lattice", "4,4,4,8", "4"});
  CHECK(join_coordinates({"--lattice", "4", "4", "4", "8", "8", "8", "8", "8"}) == Words{"--lattice", "4,4,4,8", "8,8,8,8"});
  CHECK(join_coordinates({"--lattice", "4", "4", "x", "8"}) == Words{"--lattice", "4,4", "x", "8"});
  CHECK(join_coordinates({"--links", "18", "12"}) == Words{"--links", "18", "12"});
  CHECK(parse_coord(join_coordinates({"--lattice", "4", "4", "4", "8"}).back(), 1) == parse_coord("4,4,4,8", 1));
}

TEST_CASE("sources are one spin and colour on a site or a time slice") {
  const Coord extents{2, 4, 2, 6};
  const HostField point = make_source(parse_source("point:1,3,0,5"), spinor_components, extents, 7);
  CHECK(point.at(lexicographic({1, 3, 0, 5}, extents), 2, 1) == 1.0);
  const HostField wall = make_source(parse_source("wall:4"), spinor_components, extents, 0);
  double point_sum = 0, wall_sum = 0, outside = 0;
  for (const auto& component : point.data) point_sum += std::abs(component);
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    wall_sum += wall.at(site, 0, 0).real();
    if (coordinates(site, extents)[3] != 4) outside += std::abs(wall.at(site, 0, 0));
  }
  CHECK(point_sum == 1);
  CHECK(wall_sum == 16);
  CHECK(outside == 0);
  CHECK_THROWS_AS(check_source(parse_source("point:2,0,0,0"), extents), Error);
  CHECK_THROWS_AS(check_source(parse_source("wall:6"), extents), Error);
  for (const char* wrong : {"point", "point:", "wall:x", "line:0", "point:0,0,0,-1"}) CHECK_THROWS_AS(parse_source(wrong), BadValue);
}

}  // namespace app_config_test
