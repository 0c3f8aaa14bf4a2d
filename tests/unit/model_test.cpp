// The models of the seed documents against the numbers that those print (docs/conventions.md, section 8; mistakes in them left out).
#include "apps/studies/estimates.hpp"
#include "apps/studies/figures.hpp"
#include "apps/studies/hisq_model.hpp"
#include "apps/studies/scaling.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace model_test {

using namespace quarkstar;
using namespace quarkstar::app;
using namespace quarkstar::app::model;

namespace {

/// As printed with so many decimals.
std::string rounded(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

FigureTable make(const std::string& name, Inputs inputs = {.machines = machines(), .lattice = {}, .measured_dslash = {}}) {
  for (const NamedFigure& figure : figures())
    if (figure.name == name) return figure.make(inputs);
  FAIL("no figure " << name);
  return {};
}

std::optional<double> value(const FigureTable& figure, const std::string& row, const std::string& column) {
  for (const FigureRow& r : figure.rows)
    for (std::size_t c = 0; c < figure.columns.size(); ++c)
      if (r.label == row && figure.columns[c] == column) return r.values[c];
  FAIL("no " << row << ", " << column);
  return {};
}

}  // namespace

TEST_CASE("seed 0: caches and speeds of the HISQ Dslash") {
  CHECK(cached_neighbours(48 * 1024, {64, 64, 64, 16}) == 7);
  CHECK(cached_neighbours(48 * 1024, {32, 32, 32, 8}) == 9);
  CHECK(cached_neighbours(0, {32, 32, 32, 8}) == 0);
  CHECK(cached_neighbours(1e9, {32, 32, 32, 8}) == 15);
  CHECK(rounded(hisq_model::intensity(1, 15 / 16.), 2) == "1.07");
  CHECK(rounded(hisq_model::intensity(4) / hisq_model::intensity(1), 2) == "2.16");
  const FigureTable figure = make("dslash");
  CHECK(*value(figure, "K40", "peak") == doctest::Approx(0.8003 * 288).epsilon(1e-4));
  CHECK(*value(figure, "5110", "peak") == doctest::Approx(0.8003 * 320).epsilon(1e-4));
  CHECK(*value(figure, "K40", "cached/16") == 9);
  CHECK(*value(figure, "K40", "triad, cache") / *value(figure, "K40", "triad") == doctest::Approx(0.942 / 0.800).epsilon(1e-3));
  CHECK(*value(figure, "K40", "triad") == doctest::Approx(3 * *value(figure, "POWER8", "triad") / 2));  // a card, a socket
  CHECK(!value(figure, "K40", "measured"));
}

TEST_CASE("seed 0: peaks of the machines follow from cores and clocks") {
  const auto single = [](const char* name) { return *find_machine(machines(), name)->single_tflops.value; };
  const auto twice = [](const char* name) { return *find_machine(machines(), name)->double_tflops.value; };
  CHECK(rounded(60 * 16 * 2 * 1.053e-3, 2) == rounded(single("5110"), 2));
  CHECK(rounded(61 * 16 * 2 * 1.238e-3, 2) == rounded(single("7120"), 2));
  const std::tuple<const char*, int, double> kepler[] = {{"K20", 13, 0.705}, {"K20X", 14, 0.732}, {"K40", 15, 0.745}};
  for (const auto& [name, smx, ghz] : kepler) {
    CHECK(single(name) == doctest::Approx(smx * 192 * 2 * ghz * 1e-3).epsilon(0.01));
    CHECK(twice(name) == doctest::Approx(smx * 64 * 2 * ghz * 1e-3).epsilon(0.01));
  }
  CHECK(twice("POWER8") == doctest::Approx(2 * 12 * 3.02 * 8 * 1e-3).epsilon(1e-6));
  for (const Machine& machine : machines()) {
    CHECK(!machine.bandwidth.source.empty());
    CHECK(!machine.triad.source.empty());
    if (machine.triad.value) CHECK(*machine.triad.value < *machine.bandwidth.value);
  }
}

TEST_CASE("seed 0: the conjugate gradient") {
  CHECK(HisqCg::bytes(1, 0) == 2 * 1432 + 12 * 24);
  CHECK(HisqCg::intensity(4, 0) / HisqCg::intensity(1, 0) == doctest::Approx(1.95).epsilon(0.01));
  const FigureTable by_lattice = make("solver-lattice"), by_vectors = make("solver-rhs");
  CHECK(by_lattice.columns == std::vector<std::string>{"5110", "7120", "K20", "K20X", "K40"});
  CHECK(*value(by_lattice, "64x64x64x16", "K40") == *value(by_vectors, "4", "K40"));
  CHECK(*value(by_lattice, "16x16x16x4", "K40") < *value(by_lattice, "64x64x64x16", "K40"));
  Inputs free{.machines = machines(), .lattice = {}, .overhead_us = 0, .measured_dslash = {}};
  CHECK(*value(make("solver-rhs", free), "1", "K40") ==
        doctest::Approx(HisqCg::intensity(1, 0) * *find_machine(machines(), "K40")->triad.value));
  CHECK(*value(make("relative"), "K40", "peak bandwidth") == doctest::Approx(288. / 208));
  CHECK(*value(make("relative"), "K20", "64x64x64x16 CG") == 1);
  CHECK(*value(make("watts"), "K40", "4 right-hand sides") > *value(make("watts"), "5110", "4 right-hand sides"));
}

TEST_CASE("seed 1: flops, bytes and the roofline of the Wilson Dslash") {
  CHECK(SeedWilson::flops == 1488);
  CHECK(rounded(SeedWilson::bytes_a_flop(18, 8), 2) == "2.06");
  CHECK(rounded(SeedWilson::bytes_a_flop(18, 4), 2) == "1.03");
  CHECK(rounded(288 / 2.06, 1) == "139.8");  // the document rounds before it divides
  CHECK(rounded(288 / 1.03, 1) == "279.6");
  const FigureTable figure = make("wilson");
  CHECK(rounded(*value(figure, "K40", "double"), 1) == "139.5");
  CHECK(rounded(*value(figure, "K40", "single"), 1) == "279.0");
  CHECK(*value(figure, "K40", "double") / (*value(figure, "POWER8", "double") / 2) == doctest::Approx(3));  // a card, a socket
  CHECK(figure.notes.back().find("at most 33.3 %") != std::string::npos);
}

TEST_CASE("seed 1: scaling over K40s, from whatever simulates them") {
  const FigureTable figure = power8_scaling([](const std::string& machine, const Coord& lattice, const std::string& precision) {
    const double gpus = machine == "k40-power8" ? 2 : machine == "k40-power8-x2" ? 4 : 8;
    return (precision == "single" ? 200 : 100) * gpus + 1e-3 * lattice[3];
  });
  CHECK(*value(figure, "2", "double 32^3x64") == doctest::Approx((200 + 0.064) * 1488 / 1320));
  CHECK(*value(figure, "8", "single 48^3x96") == doctest::Approx((1600 + 0.096) * 1488 / 1320));
  CHECK(*value(figure, "4", "double 32^3x16 a GPU") == *value(figure, "4", "double 32^3x64"));
  CHECK(!value(figure, "4", "double published"));
  CHECK(value(figure, "8", "double published") == 1000);
  CHECK(svg_of(figure).ends_with("</svg>\n"));
}

TEST_CASE("seed 2: the Wilson Dslash on a V100") {
  CHECK(rounded(Wilson::intensity(18, 4), 2) == "0.92");
  CHECK(rounded(Wilson::intensity(12, 4), 3) == "1.058");
  CHECK(rounded(Wilson::intensity(12, 2), 2) == "2.00");
  const FigureTable figure = make("v100", {.machines = machines(), .lattice = {}, .overhead_us = 0, .measured_dslash = {}});
  CHECK(*value(figure, "32", "half tuned") == doctest::Approx(2 * 1312));
  CHECK(*value(figure, "32", "single plain") == doctest::Approx(1119 * 1320. / 1248));
  CHECK(*value(figure, "8", "double STREAM") == doctest::Approx(850 * 1320. / 2496));
  CHECK(*value(make("v100"), "8", "half tuned") < 0.5 * *value(make("v100"), "32", "half tuned"));
}

TEST_CASE("figures as text, JSON and SVG say what is unavailable") {
  for (const NamedFigure& named : figures()) {
    const FigureTable figure = make(named.name);
    CHECK(!figure.rows.empty());
    for (const FigureRow& row : figure.rows) CHECK(row.values.size() == figure.columns.size());
    CHECK(text_of(figure).find("nan") == std::string::npos);
    CHECK(json_of(figure)["rows"].size() == figure.rows.size());
    const std::string svg = svg_of(figure);
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("nan") == std::string::npos);
  }
  CHECK(text_of(make("dslash")).find("unavailable") != std::string::npos);
  CHECK(json_of(make("dslash"))["rows"][0]["measured"].is_null());
  CHECK(svg_of(make("dslash")).find(">unavailable<") != std::string::npos);
  CHECK(sources_text(machines()).find("K40, triad GB/s: 0.70 of the peak") != std::string::npos);
  CHECK(sources_json(machines())[5]["watts"]["value"].is_null());
}

}  // namespace model_test
