#include "apps/report/report_html.hpp"

#include "apps/report/html_table.hpp"
#include "apps/report/plot_svg.hpp"
#include "apps/report/timeline_svg.hpp"
#include "apps/run/multigrid_report.hpp"
#include "apps/run/parse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace quarkstar::app {
namespace {

std::vector<double> counting(std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return numbers;
}

Plot correlator_plot(const RunReport& report) {
  Plot plot{.title = "Correlators, |C|", .x_label = "t - t_source", .y_label = "|C(t)|", .log_y = true, .series = {}};
  for (const Correlator& c : report.correlators) {
    plot.series.push_back({c.name, counting(c.values.size()), c.values});
    for (double& value : plot.series.back().y) value = std::abs(value);
  }
  return plot;
}

Plot mass_plot(const RunReport& report) {
  Plot plot{.title = "Effective masses (cosh)", .x_label = "t - t_source", .y_label = "a m(t)", .series = {}};
  for (const Correlator& c : report.correlators)
    if (!c.cosh_mass.empty()) plot.series.push_back({c.name, counting(c.cosh_mass.size()), c.cosh_mass});
  return plot;
}

std::string label_of(const RunReport& report, const ColumnReport& c) {
  const ActionKind& kind = *report.config.action;
  return kind.text_of_column(c.column) + (c.mass ? fmt::format(", {} {}", kind.mass_key, *c.mass) : "");
}

Plot residual_plot(const RunReport& report) {
  constexpr std::size_t most_points = 500;
  Plot plot{.title = "Residual history", .x_label = "iteration", .y_label = "|r| / |b|", .log_y = true, .wide = true, .series = {}};
  for (const ColumnReport& column : report.solves) {
    const std::vector<double>& history = column.result.residual_history;
    Series series{column.mass ? label_of(report, column) : fmt::format("column {}", column.column), {}, {}, false};
    const std::size_t stride = history.size() / most_points + 1;
    for (std::size_t i = 0; i < history.size(); i += stride) {
      series.x.push_back(static_cast<double>(i + 1));
      series.y.push_back(history[i]);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

/// As it is written in a TOML file; a dash for what was not given.
std::string text_of(const nlohmann::json& value) {
  if (value.is_null() || value == "") return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const nlohmann::json& element : value) parts.push_back(element.dump());
    return fmt::format("{}", fmt::join(parts, ","));
  }
  return value.dump();
}

std::string parameters_table(const RunReport& report) {
  std::vector<TableRow> rows;
  for (const auto& [key, value] : parameters_of(report.config)) rows.push_back({std::string(key), text_of(value)});
  return table("facts", {}, rows);
}

std::string gauge_table(const RunReport& report) {
  const GaugeSummary& g = report.gauge;
  std::vector<TableRow> rows{{"file", g.path},
                             {"format", g.format},
                             {"lattice x,y,z,t", fmt::format("{}", fmt::join(g.extents, ","))},
                             {"blocks", report.decomposition}};
  if (g.long_path.empty()) {
    rows.push_back({"plaquette, spatial", fmt::format("{:.12f}", g.spatial_plaquette)});
    rows.push_back({"plaquette, temporal", fmt::format("{:.12f}", g.temporal_plaquette)});
    rows.push_back({"link trace", fmt::format("{:.12f}", g.link_trace)});
  } else {
    rows.insert(rows.begin() + 1, {"file of long links", g.long_path});
  }
  return table("facts", {}, rows);
}

std::string solves_table(const RunReport& report) {
  std::vector<TableRow> rows;
  const auto add = [&rows](const std::string& label, const ColumnReport& c) {
    const EnergyText energy = energy_text(c);
    rows.push_back({label, fmt::format("{}", c.result.iterations), fmt::format("{}", c.result.restarts),
                    fmt::format("{:.3e}", c.result.true_residual), fmt::format("{:.4f}", c.result.seconds),
                    fmt::format("{:.2f}", c.gflops()), fmt::format("{:.2f}", c.gbs()), fmt::format("{:.0f}", c.result.tasks),
                    fmt::format("{}", c.result.kernels), energy.joules, energy.gflops_per_watt, describe(c.result.reason)});
  };
  for (const ColumnReport& c : report.solves) add(label_of(report, c), c);
  for (const SequentialReport& s : report.sequential)
    add(fmt::format("sequential {}, sink {}, {}", s.hadron, s.sink, label_of(report, s.solve)), s.solve);
  std::string note;
  if (!report.solves.empty())
    note = fmt::format("<p>{}</p>\n<p>{}</p>\n", escape(runtime_note(report, report.solves.back())),
                       escape(energy_note(report.solves.back())));
  if (report.config.solver.recycle > 0 && !report.solves.empty() && report.first_iterations > 0)
    note += fmt::format(
        "<p>Solves begin with the modes that those before them have gathered (recycle {}): {} iterations the run's first, {} the last "
        "one here.</p>\n",
        report.config.solver.recycle, report.first_iterations, report.solves.back().result.iterations);
  return table("",
               {"column", "iterations", "restarts", "|b - M x| / |b|", "seconds", "GFLOP/s", "GB/s", "tasks", "kernels", "joules",
                "GFLOP/s per watt", "end"},
               rows) +
         note;
}

std::string multigrid_tables(const RunReport& report) {
  std::string tables;
  for (const OperatorReport& of : report.operators) {
    if (of.levels.empty()) continue;
    std::vector<TableRow> rows;
    for (const MultigridRow& row : multigrid_rows(report, of))
      rows.push_back({row.level, row.lattice, row.vectors, row.steps, row.seconds});
    tables += fmt::format("<p>{}</p>\n", escape(multigrid_line(report, of))) + table("", multigrid_columns(), rows);
  }
  return tables.empty() ? "" : "<h2>Multigrid</h2>\n" + tables;
}

std::string number_or_dash(const std::vector<double>& values, std::size_t t) {
  return t < values.size() && std::isfinite(values[t]) ? fmt::format("{:.6f}", values[t]) : "-";
}

std::string correlators_table(const RunReport& report) {
  if (!has_all_columns(report.config))
    return fmt::format("<p>The correlators need all {} columns.</p>\n", report.config.action->components);
  constexpr std::size_t in_a_table = 8;
  std::string tables;
  for (std::size_t begin = 0; begin < report.correlators.size(); begin += in_a_table) {
    const std::span some = std::span(report.correlators).subspan(begin, std::min(in_a_table, report.correlators.size() - begin));
    TableRow head{"t - t_source"};
    for (const Correlator& c : some) head.push_back(c.name);
    const Correlator& first = some.front();
    const bool has_masses = !first.log_mass.empty();
    if (has_masses) head.insert(head.end(), {fmt::format("a m {} (log)", first.name), fmt::format("a m {} (cosh)", first.name)});
    std::vector<TableRow> rows;
    for (std::size_t t = 0; t < first.values.size(); ++t) {
      TableRow row{fmt::format("{}", t)};
      for (const Correlator& c : some)
        row.push_back(fmt::format("{:.12e}", c.values[t]) + (c.imaginary.empty() ? "" : fmt::format(" {:+.12e} i", c.imaginary[t])));
      if (has_masses) row.insert(row.end(), {number_or_dash(first.log_mass, t), number_or_dash(first.cosh_mass, t)});
      rows.push_back(std::move(row));
    }
    tables += table("", head, rows);
  }
  const std::string left_out = correlators_left_out(report.config);
  return tables + (left_out.empty() ? "" : "<p>Not written: " + escape(left_out) + "</p>\n");
}

std::string workers_table(const RunReport& report) {
  std::vector<TableRow> rows;
  for (const WorkerReport& w : report.workers)
    rows.push_back({w.name, w.kind, fmt::format("{}", fmt::join(w.cores, ",")), fmt::format("{:.1f} %", 100 * w.busy)});
  return table("", {"worker", "kind", "cores", "busy (first column)"}, rows);
}

std::string devices_table(const RunReport& report) {
  const DevicePlan& devices = report.devices;
  if (devices.parts.empty() && devices.sharing.empty()) return "";
  std::vector<TableRow> rows;
  for (const DevicePart& part : devices.parts)
    rows.push_back({part.name, fmt::format("{}", fmt::join(part.extents, "x")),
                    part.gflops_alone > 0 ? fmt::format("{:.1f}", part.gflops_alone) : "not measured"});
  return "<h2>Devices</h2>\n" + (rows.empty() ? "" : table("", {"worker", "part of the lattice", "Dslash alone, GFLOP/s"}, rows)) +
         (devices.reason.empty() ? "" : fmt::format("<p>CPU share {:.1f} %: {}</p>\n", 100 * devices.cpu_share, escape(devices.reason))) +
         (devices.sharing.empty() ? "" : fmt::format("<p>share: {}</p>\n", escape(devices.sharing)));
}

std::string memory_table(const RunReport& report) {
  if (report.memory.empty()) return "";
  std::vector<TableRow> rows;
  for (const MemoryNeed& need : report.memory)
    rows.push_back({need.where, bytes_text(need.total()), need.available > 0 ? bytes_text(need.available) : "unknown",
                    bytes_text(need.fields.links), bytes_text(need.fields.fields), bytes_text(need.fields.faces),
                    bytes_text(need.fields.tables), bytes_text(need.other), need.making_links > 0 ? bytes_text(need.making_links) : "-"});
  return "<h2>Memory, estimated</h2>\n" + table("",
                                                {"where", "needed", "available", "links", "spinors", "faces", "tables",
                                                 "configuration and columns", "before that, to make links"},
                                                rows);
}

}  // namespace

std::string report_html(const RunReport& report) {
  const RunConfig& config = report.config;
  const Coord& l = report.gauge.extents;
  const std::string title =
      fmt::format("Quark propagator: {}, {}x{}x{}x{}, {}, source {}", config.action->name, l[0], l[1], l[2], l[3],
                  fmt::format("{} = {}", config.action->mass_key, fmt::join(config.masses(), ", ")), text_of(config.source));
  std::string html = page_head(title);
  html += fmt::format("<p class=\"sub\">{} on {} ({}), set-up {:.2f} s, total {:.2f} s</p>\n", report.started, escape(report.host),
                      escape(report.cpu_model), report.setup.seconds(), report.total_seconds);
  html += "<h2>Plots</h2><div class=\"plots\">\n";
  html += figure(correlator_plot(report)) + figure(mass_plot(report)) + figure(residual_plot(report)) + timeline_figure(report);
  html += "</div>\n<h2>Solves</h2>\n" + solves_table(report) + multigrid_tables(report);
  html += "<h2>Correlators</h2>\n" + correlators_table(report);
  if (config.source.kind != Source::Kind::point) html += fmt::format("<p>Source {}, without gauge fixing.</p>\n", text_of(config.source));
  html += "<h2>Gauge configuration</h2>\n" + gauge_table(report);
  html += "<h2>Parameters</h2>\n" + parameters_table(report);
  html += "<h2>Workers</h2>\n" + workers_table(report);
  html += devices_table(report) + memory_table(report);
  return html + fmt::format("<h2>Versions</h2>\n<p>{}</p>\n</body></html>\n", escape(version_line()));
}

std::string report_svg(const RunReport& report) {
  Plot residuals = residual_plot(report);
  residuals.wide = false;
  std::vector<Series> some;
  for (std::size_t column = 0; column < residuals.series.size(); column += 3) some.push_back(std::move(residuals.series[column]));
  residuals.series = std::move(some);
  return svg_row({mass_plot(report), residuals});
}

}  // namespace quarkstar::app
