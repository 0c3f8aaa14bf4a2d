// Figures and their inputs as text, JSON and SVG.
#include "apps/studies/figures.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace quarkstar::app::model {

std::string text_of(const FigureTable& figure) {
  std::size_t labels = figure.head.size();
  for (const FigureRow& row : figure.rows) labels = std::max(labels, row.label.size());
  std::string text = fmt::format("{}\n\n{:<{}}", figure.title, figure.head, labels);
  std::vector<std::size_t> widths;
  for (const std::string& column : figure.columns) {
    widths.push_back(std::max<std::size_t>(11, column.size()));
    text += fmt::format("  {:>{}}", column, widths.back());
  }
  for (const FigureRow& row : figure.rows) {
    text += fmt::format("\n{:<{}}", row.label, labels);
    for (std::size_t c = 0; c < widths.size(); ++c)
      text += fmt::format("  {:>{}}", row.values[c] ? fmt::format("{:.4g}", *row.values[c]) : "unavailable", widths[c]);
  }
  text += "\n\n";
  for (const std::string& note : figure.notes) text += note + "\n";
  return text;
}

nlohmann::ordered_json json_of(const FigureTable& figure) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const FigureRow& row : figure.rows) {
    Json json{{figure.head, row.label}};
    for (std::size_t c = 0; c < figure.columns.size(); ++c) json[figure.columns[c]] = row.values[c] ? Json(*row.values[c]) : Json();
    rows.push_back(std::move(json));
  }
  return {{"figure", figure.name}, {"title", figure.title}, {"columns", figure.columns}, {"rows", rows}, {"notes", figure.notes}};
}

std::string svg_of(const FigureTable& figure) {
  return std::visit([](const auto& chart) { return svg_file(chart); }, figure.chart);
}

namespace {

struct Column {
  const char* name;
  const char* key;
  Figure Machine::*figure;
};
constexpr Column columns[] = {{"single TFLOP/s", "single_tflops", &Machine::single_tflops},
                              {"double TFLOP/s", "double_tflops", &Machine::double_tflops},
                              {"peak GB/s", "bandwidth_gbs", &Machine::bandwidth},
                              {"triad GB/s", "triad_gbs", &Machine::triad},
                              {"cache KiB", "cache_kib", &Machine::cache_kib},
                              {"watts", "watts", &Machine::watts}};

}  // namespace

std::string sources_text(const std::vector<Machine>& machines) {
  std::size_t width = 7;
  for (const Machine& machine : machines) width = std::max(width, machine.name.size());
  std::string text = fmt::format("{:<{}}", "machine", width);
  for (const Column& column : columns) text += fmt::format("  {:>14}", column.name);
  for (const Machine& machine : machines) {
    text += fmt::format("\n{:<{}}", machine.name, width);
    for (const Column& column : columns) {
      const Figure& figure = machine.*column.figure;
      text += fmt::format("  {:>14}", figure.value ? fmt::format("{:.4g}", *figure.value) : "unavailable");
    }
  }
  text += "\n\n";
  for (const Machine& machine : machines)
    for (const Column& column : columns) text += fmt::format("{}, {}: {}\n", machine.name, column.name, (machine.*column.figure).source);
  return text;
}

nlohmann::ordered_json sources_json(const std::vector<Machine>& machines) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const Machine& machine : machines) {
    Json json{{"machine", machine.name}};
    for (const Column& column : columns) {
      const Figure& figure = machine.*column.figure;
      json[column.key] = {{"value", figure.value ? Json(*figure.value) : Json()}, {"source", figure.source}};
    }
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace quarkstar::app::model
