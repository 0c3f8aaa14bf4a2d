#include "apps/run/multigrid_report.hpp"

#include "codelets/actions/action_kind.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace quarkstar::app {
namespace {

using LevelSolver = MultigridLevel::Solver;

const char* name_of_solver(LevelSolver solver) {
  switch (solver) {
    case LevelSolver::outer:
      return "iterations";
    case LevelSolver::cycles:
      return "cycles";
    case LevelSolver::gcr:
      return "steps of gcr";
    case LevelSolver::inverse:
      return "products with the inverse";
  }
  return "";
}

/// Iterations with multigrid of all solves with an operator.
std::int64_t iterations_of(const RunReport& report, const OperatorReport& of) {
  std::int64_t sum = 0;
  const auto add = [&](const ColumnReport& solve) {
    if (!of.mass || !solve.mass || *of.mass == *solve.mass) sum += solve.result.by_multigrid;
  };
  for (const ColumnReport& solve : report.solves) add(solve);
  for (const SequentialReport& sequential : report.sequential) add(sequential.solve);
  return sum;
}

/// By level, from the finest on.
std::vector<std::int64_t> steps_of(const RunReport& report, const OperatorReport& of) {
  std::vector<std::int64_t> steps;
  for (const MultigridLevel& level : of.levels) steps.push_back((steps.empty() ? iterations_of(report, of) : steps.back()) * level.steps);
  return steps;
}

double number_of(const OperatorReport& of, std::string_view name) {
  const auto known = std::find_if(of.numbers.begin(), of.numbers.end(), [name](const auto& number) { return number.first == name; });
  return known != of.numbers.end() ? known->second : 0;
}

}  // namespace

const std::vector<std::string>& multigrid_columns() {
  static const std::vector<std::string> columns{"level", "lattice", "vectors", "steps of all solves", "ms of a cycle"};
  return columns;
}

std::vector<MultigridRow> multigrid_rows(const RunReport& report, const OperatorReport& of) {
  std::vector<MultigridRow> rows;
  const std::vector<std::int64_t> steps = steps_of(report, of);
  for (std::size_t level = 0; level < of.levels.size(); ++level) {
    const MultigridLevel& l = of.levels[level];
    rows.push_back({fmt::format("{}", level), fmt::format("{}", fmt::join(l.lattice, "x")),
                    l.null_vectors > 0 ? fmt::format("{}", l.null_vectors) : "-",
                    fmt::format("{} {}", steps[level], name_of_solver(l.solver)),
                    l.cycle_seconds >= 0 ? fmt::format("{:.3f}", 1e3 * l.cycle_seconds) : "-"});
  }
  return rows;
}

std::string multigrid_line(const RunReport& report, const OperatorReport& of) {
  return fmt::format(
      "multigrid{}: set-up {:.4f} s, {:.3f} Mflop per site, {:g} cycles on {} null vectors{}; 8 iterations leave {:.1e}",
      of.mass ? fmt::format(", {} {}", report.config.action->mass_key, *of.mass) : "", number_of(of, "multigrid_setup_seconds"),
      1e-6 * number_of(of, "multigrid_setup_flops_per_site"), number_of(of, "multigrid_setup_cycles"), of.levels.front().null_vectors,
      of.begun_with.empty() ? "" : ", which began with those " + of.begun_with, number_of(of, "multigrid_left_by_8_iterations"));
}

nlohmann::ordered_json multigrid_json(const RunReport& report, const OperatorReport& of) {
  nlohmann::ordered_json levels = nlohmann::ordered_json::array();
  const std::vector<std::int64_t> steps = steps_of(report, of);
  for (std::size_t level = 0; level < of.levels.size(); ++level) {
    const MultigridLevel& l = of.levels[level];
    auto& one = levels.emplace_back();
    one["lattice"] = l.lattice;
    one["components"] = l.components;
    if (l.null_vectors > 0) one["null_vectors"] = l.null_vectors;
    one["steps_are"] = name_of_solver(l.solver);
    one["steps"] = steps[level];
    if (l.cycle_seconds >= 0) one["cycle_seconds"] = l.cycle_seconds;
  }
  return levels;
}

}  // namespace quarkstar::app
