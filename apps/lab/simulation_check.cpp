#include "apps/lab/simulation_check.hpp"

#include "apps/run/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace quarkstar::app::lab {
namespace {

Settings without(const Settings& settings, std::string_view key) {
  Settings rest;
  for (const auto& setting : settings)
    if (setting.first != key) rest.push_back(setting);
  return rest;
}

std::string machine_of(const CellSummary& cell) {
  const std::string* machine = find(cell.cell->settings, "machine");
  return machine != nullptr ? *machine : "here";
}

double seconds_of(const CellSummary& cell) {
  const auto iterations = cell.mean([](const Results& r) { return r.iterations; });
  return cell.seconds.mean / (iterations && *iterations > 0 ? *iterations : 1);
}

/// Whether the intervals of two means are apart; a mean of one run has none.
bool are_apart(const Estimate& a, const Estimate& b) {
  const auto width = [](const Estimate& e) { return std::isfinite(e.error) ? e.error : 0; };
  return std::abs(a.mean - b.mean) > width(a) + width(b);
}

std::string settings_of(const Plan& plan) {
  Settings settings;
  for (const Assignment& setting : plan.fixed) settings.emplace_back(setting.key, setting.value);
  for (const Axis& axis : plan.axes)
    if (axis.values.size() == 1) settings.emplace_back(axis.key, axis.values.front());
  return text_of(settings);
}

void count_orders(SimulationCheck& check) {
  for (std::size_t i = 0; i < check.pairs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const SimulatedPair &a = check.pairs[i], &b = check.pairs[j];
      if (without(a.here->cell->settings, "policy") != without(b.here->cell->settings, "policy") ||
          !are_apart(a.here->seconds, b.here->seconds))
        continue;
      ++check.ordered;
      const SimulatedPair &first = a.seconds_here < b.seconds_here ? a : b, &second = &first == &a ? b : a;
      if (first.seconds_simulated < second.seconds_simulated) ++check.same_order;
      else check.other_order.push_back(fmt::format("{} before {}", first.name(), second.name()));
    }
}

}  // namespace

std::string SimulatedPair::name() const { return text_of(without(here->cell->varying, "machine")); }

double SimulationCheck::largest_error() const {
  double largest = 0;
  for (const SimulatedPair& pair : pairs) largest = std::max(largest, std::abs(pair.error()));
  return largest;
}

std::string SimulationCheck::text() const {
  return fmt::format(
      "{}, simulated: {} cells, within {:.1f} % of the time here; {} of {} pairs of policies that differ here are in the same order",
      machine, pairs.size(), 100 * largest_error(), same_order, ordered);
}

std::string SimulationCheck::table() const {
  std::string markdown = fmt::format("{}.\n\n| cell | here, us per iteration | simulated | error |\n| --- | --- | --- | --- |\n", text());
  for (const SimulatedPair& pair : pairs)
    markdown += fmt::format("| {} | {} | {:.5g} | {:+.1f} % |\n", pair.name(), text_of({1e6 * pair.seconds_here, 1e6 * pair.spread_here()}),
                            1e6 * pair.seconds_simulated, 100 * pair.error());
  if (!other_order.empty()) markdown += fmt::format("\nHere, but not simulated: {}.\n", fmt::join(other_order, "; "));
  return markdown;
}

std::string simulation_report(std::span<const SimulationCheck> checks, const Plan& plan) {
  std::set<std::string> machines, days;
  std::set<std::size_t> runs;  // of a cell, without those that failed
  for (const SimulationCheck& check : checks)
    for (const SimulatedPair& pair : check.pairs) {
      runs.insert(pair.here->measured.size());
      for (const Record* record : pair.here->measured) machines.insert(record->results.machine), days.insert(record->started.substr(0, 10));
    }
  const std::string count =
      runs.size() < 2 ? fmt::format("{}", fmt::join(runs, "")) : fmt::format("{} to {}", *runs.begin(), *runs.rbegin());
  std::string markdown = fmt::format(
      "# Simulated against measured, {}\n\nHere: {}; {}. Times here: mean of {} runs in random order and half of its {:.0f} % confidence "
      "interval (Student's t). "
      "Settings of all runs: {}. Pairs of policies count whose intervals are apart.\n",
      fmt::join(days, ", "), fmt::join(machines, "; "), version_line(), count, 100 * confidence, settings_of(plan));
  for (const SimulationCheck& check : checks) markdown += fmt::format("\n## {}\n\n{}", check.machine, check.table());
  return markdown;
}

std::vector<SimulationCheck> compare_simulated(std::span<const CellSummary> cells) {
  std::vector<SimulationCheck> checks;
  for (const CellSummary& simulated : cells) {
    const std::string machine = machine_of(simulated);
    if (machine == "here" || !std::isfinite(simulated.seconds.mean)) continue;
    const auto here = std::find_if(cells.begin(), cells.end(), [&](const CellSummary& cell) {
      return machine_of(cell) == "here" && std::isfinite(cell.seconds.mean) &&
             without(cell.cell->settings, "machine") == without(simulated.cell->settings, "machine");
    });
    if (here == cells.end()) continue;
    auto check = std::find_if(checks.begin(), checks.end(), [&](const SimulationCheck& c) { return c.machine == machine; });
    if (check == checks.end()) check = checks.insert(checks.end(), SimulationCheck{.machine = machine, .pairs = {}, .other_order = {}});
    check->pairs.push_back({&*here, &simulated, machine, seconds_of(*here), seconds_of(simulated)});
  }
  for (SimulationCheck& check : checks) count_orders(check);
  return checks;
}

}  // namespace quarkstar::app::lab
