#include "apps/lab/summary.hpp"

#include "apps/lab/history_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace quarkstar::app::lab {

std::optional<double> CellSummary::mean(const std::function<std::optional<double>(const Results&)>& value) const {
  double sum = 0;
  for (const Record* record : measured) {
    const std::optional<double> one = value(record->results);
    if (!one) return std::nullopt;
    sum += *one;
  }
  return measured.empty() ? std::nullopt : std::optional(sum / static_cast<double>(measured.size()));
}

std::optional<double> CellSummary::over_bound() const {
  if (bound_seconds && std::isfinite(seconds.mean)) return seconds.mean / *bound_seconds;
  const auto gbs = mean(&Results::gbs);
  return triad && gbs && *gbs > 0 ? std::optional(*triad / *gbs) : std::nullopt;
}

std::string CellSummary::bound() const {
  if (!over_bound()) return "";
  return bound_seconds ? stated_bound : "compulsory bytes / triad";
}

std::string CellSummary::over_bound_text() const {
  const std::optional<double> over = over_bound();
  return over && *over < 1 ? text_of(over) + " !" : text_of(over);
}

std::string note_on_bounds(const std::vector<CellSummary>& cells) {
  if (std::none_of(cells.begin(), cells.end(), [](const CellSummary& cell) { return cell.over_bound().value_or(1) < 1; })) return "";
  return "!: below 1, so this is no bound of these runs: their tasks were faster than those it was taken from, or the lattice fits into a "
         "cache.";
}

namespace {

/// A bound that runs state.
struct StatedBound {
  double seconds = std::numeric_limits<double>::infinity();
  std::string name;
  bool is_warm = false;  ///< a run that was no warm-up states one
};

/// The settings that decide the graph of tasks and the workers.
Settings graph_of(const Settings& settings) {
  Settings graph;
  for (const auto& setting : settings)
    if (setting.first != "policy" && setting.first != "watts") graph.push_back(setting);
  std::sort(graph.begin(), graph.end());
  return graph;
}

std::map<Settings, StatedBound> bounds_in(const std::vector<Record>& records) {
  std::map<Settings, StatedBound> bounds;
  for (const Record& record : records) {
    if (!record.ok() || !record.results.bound_seconds) continue;
    StatedBound& bound = bounds[graph_of(record.settings)];
    bound.is_warm = bound.is_warm || record.kind != RunKind::warm_up;
    if (*record.results.bound_seconds < bound.seconds) bound.seconds = *record.results.bound_seconds, bound.name = record.results.bound;
  }
  return bounds;
}

}  // namespace

std::vector<CellSummary> summarise(const Outcome& outcome) {
  const std::map<Settings, StatedBound> bounds = bounds_in(outcome.records);
  std::vector<CellSummary> cells;
  for (const Cell& cell : outcome.cells) {
    CellSummary summary;
    summary.cell = &cell;
    std::vector<double> seconds;
    for (const Record& record : outcome.records) {
      if (record.settings != cell.settings) continue;
      if (!record.ok()) summary.failed.push_back(&record);
      else if (record.kind == RunKind::traced) summary.traced = &record;
      else if (record.kind == RunKind::measured) summary.measured.push_back(&record);
    }
    for (const Record* record : summary.measured)
      if (record->results.seconds) seconds.push_back(*record->results.seconds);
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    summary.seconds = seconds.empty() ? Estimate{none, none} : confidence_interval(seconds, confidence);
    if (const auto bound = bounds.find(graph_of(cell.settings)); bound != bounds.end() && bound->second.is_warm) {
      summary.bound_seconds = bound->second.seconds;
      summary.stated_bound = bound->second.name;
    }
    for (const Bandwidth& bandwidth : outcome.bandwidths)
      if (bandwidth.devices == devices_of(cell.settings)) summary.triad = bandwidth.triad;
    cells.push_back(std::move(summary));
  }
  std::map<Settings, double> fastest;
  for (const CellSummary& cell : cells)
    if (const double mean = cell.seconds.mean; std::isfinite(mean)) {
      const auto [known, is_new] = fastest.try_emplace(problem_of(cell.cell->settings), mean);
      if (!is_new) known->second = std::min(known->second, mean);
    }
  for (CellSummary& cell : cells)
    if (std::isfinite(cell.seconds.mean)) cell.over_fastest = cell.seconds.mean / fastest.at(problem_of(cell.cell->settings));
  return cells;
}

std::string text_of(std::optional<double> value) { return value ? fmt::format("{:.4g}", *value) : "unavailable"; }

std::string text_of(const Estimate& estimate) {
  if (!std::isfinite(estimate.mean)) return "unavailable";
  return std::isfinite(estimate.error) ? fmt::format("{:.4g} +- {:.2g}", estimate.mean, estimate.error)
                                       : fmt::format("{:.4g}", estimate.mean);
}

void print_summary(const std::vector<CellSummary>& cells) {
  std::size_t width = 4;
  for (const CellSummary& cell : cells) width = std::max(width, cell.cell->name().size());
  fmt::print(
      "\nseconds: mean and {:.0f} % confidence interval (Student's t); us/task: outside kernels\n{:<{}} {:>4} {:>6} {:>20} {:>9} {:>11} "
      "{:>11} "
      "{:>11} {:>11} {:>11} {:>11}\n",
      100 * confidence, "cell", width, "runs", "failed", "seconds", "/fastest", "/bound", "GFLOP/s", "tasks", "us/task", "J", "J s");
  for (const CellSummary& cell : cells)
    fmt::print("{:<{}} {:>4} {:>6} {:>20} {:>9} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}\n", cell.cell->name(), width,
               cell.measured.size(), cell.failed.size(), text_of(cell.seconds),
               cell.over_fastest ? fmt::format("{:.3f}", *cell.over_fastest) : "-", cell.over_bound_text(),
               text_of(cell.mean(&Results::gflops)), text_of(cell.mean([](const Results& r) { return r.tasks; })),
               text_of(cell.mean([](const Results& r) { return r.us_per_task; })),
               text_of(cell.mean([](const Results& r) { return r.joules; })), text_of(cell.mean(&Results::energy_delay)));
  if (const std::string note = note_on_bounds(cells); !note.empty()) fmt::print("{}\n", note);
}

}  // namespace quarkstar::app::lab
