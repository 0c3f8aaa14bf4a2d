// Plots as SVG text.
#include "apps/report/plot_svg.hpp"
#include "apps/report/timeline_svg.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <pugixml.hpp>

#include <limits>

namespace app_plot_test {

using namespace quarkstar::app;

namespace {

/// The number of elements of a kind; fails if the text is no well-formed XML.
std::size_t count_elements(const std::string& xml, const char* path) {
  pugi::xml_document document;
  REQUIRE(document.load_string(xml.c_str()));
  return document.select_nodes(path).size();
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("ticks are round numbers inside of the range") {
  CHECK(linear_ticks(0, 10, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(linear_ticks(-0.12, 0.13, 5).size() == 5);
  CHECK(linear_ticks(3, 3, 5) == std::vector<double>{3});
}

TEST_CASE("a plot has a path a series and leaves out what cannot be drawn") {
  const Plot linear{
      .title = "a < b", .x_label = "x", .y_label = "y", .series = {{"s", {0, 1, 2}, {1, not_a_number, 3}}, {"r", {0, 1}, {2, 2}}}};
  CHECK(count_elements(figure(linear), "//g/path") == 2);
  CHECK(count_elements(figure(linear), "//circle") == 4);
  Plot logarithmic = linear;
  logarithmic.log_y = true;
  logarithmic.series[0].y = {1, -1, 0};
  CHECK(count_elements(figure(logarithmic), "//circle") == 3);
}

TEST_CASE("a series with errors has bars where they are finite, and the axes hold them") {
  Plot plot{.title = "t", .x_label = "x", .y_label = "y", .series = {{"s", {0, 1, 2}, {1, 2, 3}}}};
  CHECK(count_elements(figure(plot), "//path[@class='bar']") == 0);
  plot.series[0].errors = {0.5, not_a_number, 10};
  const std::string html = figure(plot);
  CHECK(count_elements(html, "//path[@class='bar']") == 1);
  CHECK(html.find("+- 0.5</title>") != std::string::npos);
  CHECK(html.find(">10</text>") != std::string::npos);  // a tick beyond the values
  plot.log_y = true;                                    // 3 - 10 has no logarithm
  CHECK(figure(plot).find("nan") == std::string::npos);
}

TEST_CASE("twelve series differ in colour or dashes") {
  Plot plot{.title = "t", .x_label = "x", .y_label = "y", .series = {}};
  for (int s = 0; s < 12; ++s) plot.series.push_back({"s", {0, 1}, {1.0 * s, 2}});
  const std::string html = figure(plot);
  for (const char* style : {"s0", "s5", "s0 dashed", "s5 dashed"}) {
    CAPTURE(style);
    CHECK(count_elements(html, ("//g[@class='" + std::string(style) + "']").c_str()) == 1);
  }
}

TEST_CASE(
    "plots of nothing, of one point and of one value are drawn without "
    "bad numbers") {
  for (const bool log_y : {false, true}) {
    Plot plot{.title = "t", .x_label = "x", .y_label = "y", .log_y = log_y, .series = {}};
    CHECK(figure(plot).find("no data") != std::string::npos);
    plot.series = {{"s", {0, 1}, {not_a_number, not_a_number}}};
    CHECK(figure(plot).find("no data") != std::string::npos);
    plot.series = {{"s", {5}, {0.25}}};
    CHECK(count_elements(figure(plot), "//circle") == 1);
    CHECK(figure(plot).find("nan") == std::string::npos);
    CHECK(figure(plot).find("inf") == std::string::npos);
    plot.series = {{"s", {1, 2, 3}, {7, 7, 7}}};
    CHECK(figure(plot).find("nan") == std::string::npos);
  }
}

TEST_CASE("the timeline has a bar for each task") {
  RunReport report = quarkstar::testing::made_up_report({2, 2, 2, 4});
  report.timeline.push_back({0, -1, "bicgstab.alpha", 150, 151, quarkstar::runtime::CodeletKind::scalar});
  report.timeline.push_back({0, 0, "wilson.double.pack", 152, 2400});
  const std::string html = timeline_figure(report);
  CHECK(count_elements(html, "//rect") == 4);
  for (const char* group : {">wilson interior<", ">blas<", ">scalar<", ">wilson pack<", ">milliseconds<"}) {
    CAPTURE(group);
    CHECK(html.find(group) != std::string::npos);
  }
  report.timeline.clear();
  CHECK(timeline_figure(report).find("no data") != std::string::npos);
}

}  // namespace app_plot_test
