#include "apps/lab/plan.hpp"

#include "apps/run/parse.hpp"
#include "codelets/actions/action_kind.hpp"
#include "runtime/system/error.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <set>

namespace quarkstar::app::lab {
namespace {

/// Settings that belong to the lab: where a run writes, and what it is told to say.
constexpr std::string_view own_settings[] = {
    "json", "out", "trace", "graph", "decisions", "residual-history", "bound", "gauge", "checkpoint", "checkpoint-every", "propagators"};

/// What `bench solver` takes of the settings of `solve` beside those of operators, and its own number of iterations.
constexpr std::string_view bench_settings[] = {"action",  "nrhs",      "lattice",    "precision", "solver",  "links",       "policy",
                                               "devices", "cpu-share", "gpus",       "workers",   "threads", "worker-mode", "gpu-memory",
                                               "no-tune", "machine",   "iterations", "blocks",    "throttle"};

/// Whether it is the setting by which operators of some action differ.
bool is_mass(std::string_view key) {
  const std::vector<const ActionKind*>& kinds = action_kinds();
  return std::any_of(kinds.begin(), kinds.end(), [key](const ActionKind* kind) { return kind->mass_key == key; });
}

template <std::size_t n>
bool contains(const std::string_view (&names)[n], std::string_view key) {
  return std::find(std::begin(names), std::end(names), key) != std::end(names);
}

/// Throws Error(input) if the key is not for the lab, or the value not for the key.
void check_setting(const Plan& plan, const Assignment& setting) {
  const auto& [key, value, where] = setting;
  if (contains(own_settings, key))
    throw Error(ErrorKind::input, where, fmt::format("{} belongs to the lab", key),
                key == "gauge" ? "give it outside of [vary] and [solve]" : "leave it out");
  if (plan.workload == Workload::bench_solver && !contains(bench_settings, key) && !is_operator_setting(key))
    throw Error(ErrorKind::input, where, fmt::format("bench solver has no {}", key),
                fmt::format("use one of {}", fmt::join(bench_settings, ", ")));
  try {
    if (key == "machine") {
      if (value.empty()) throw BadValue("no name", "use here, or the name or file of a simulated machine");
      if (plan.workload == Workload::solve && value != "here")
        throw BadValue("a simulation computes times and no numbers",
                       "use --run 'bench solver', whose runs are a fixed number of iterations");
    } else if (key == "lattice") {
      parse_coord(value, 2);
      if (!plan.gauge.empty()) throw BadValue("the configuration has its own extents", "leave out lattice, or gauge");
    } else if (key == "iterations" && plan.workload == Workload::bench_solver) {
      parse_integer(value, 16);
    } else if (plan.workload == Workload::bench_solver && key == "solver") {
      parse_name(value, all_solver_names());
    } else if (const Setting* field = find_setting(key)) {
      RunConfig config;
      field->set(config, value);
    } else {
      throw BadValue("unknown key", "use machine or a setting of `quarkstar solve` (docs/usage.md)");
    }
  } catch (const BadValue& bad) {
    throw Error(ErrorKind::input, where, bad.what(), bad.allowed());
  }
}

const ActionKind& action_of(const Settings& settings) {
  const std::string* action = find(settings, "action");
  return action != nullptr ? kind_named(*action) : *RunConfig{}.action;
}

/// Whether the key means something for the action of the settings.
bool applies(const std::string& key, const Settings& settings, Workload workload) {
  RunConfig config;
  config.action = &action_of(settings);
  if (is_mass(key) && workload == Workload::bench_solver) return config.action->mass_key == key;
  const Setting* field = find_setting(key);
  return field == nullptr || applies(*field, config);
}

/// Whether `bench solver` times such a solver of the action of the settings; a plan may name one for Wilson beside staggered actions.
bool can_bench(const std::string& solver, const Settings& settings) {
  const std::vector<std::string> names = solver_names_of(action_of(settings));
  return std::find(names.begin(), names.end(), solver) != names.end();
}

/// What `solve` would say to these settings; empty: nothing.
std::string refusal_of(const Settings& settings) {
  RunConfig config;
  std::vector<Assignment> assignments;
  for (const auto& [key, value] : settings)
    if (key != "lattice" && key != "machine") assignments.push_back({key, value, "--" + key});
  try {
    apply_settings(config, assignments);
    complete(config);
    config.gauge = config.json = "given";
    check_complete(config);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Whether all its runs take the same time.
bool takes_one_time(const Cell& cell) {
  const std::string* policy = find(cell.settings, "policy");
  return is_simulated(cell.settings) && (policy == nullptr || *policy != "random");
}

void set(Settings& settings, const std::string& key, const std::string& value) {
  for (auto& [have, old] : settings)
    if (have == key) return void(old = value);
  settings.emplace_back(key, value);
}

}  // namespace

const std::string* find(const Settings& settings, std::string_view key) {
  for (const auto& [have, value] : settings)
    if (have == key) return &value;
  return nullptr;
}

bool is_simulated(const Settings& settings) {
  const std::string* machine = find(settings, "machine");
  return machine != nullptr && *machine != "here";
}

std::string text_of(const Settings& settings) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : settings) parts.push_back(key + "=" + value);
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, " "));
}

std::string_view name_of(RunKind kind) { return kind == RunKind::warm_up ? "warm-up" : kind == RunKind::measured ? "measured" : "traced"; }

void check(const Plan& plan) {
  std::set<std::string> keys;
  for (const Axis& axis : plan.axes) {
    if (!keys.insert(axis.key).second)
      throw Error(ErrorKind::input, axis.where, fmt::format("{} varies twice", axis.key), "give all its values at once");
    if (axis.values.empty()) throw Error(ErrorKind::input, axis.where, "no value", "list at least one");
    for (const std::string& value : axis.values) check_setting(plan, {axis.key, value, axis.where});
  }
  for (const Assignment& setting : plan.fixed) {
    check_setting(plan, setting);
    if (!keys.insert(setting.key).second)
      throw Error(ErrorKind::input, setting.where, fmt::format("{} varies or is given twice", setting.key), "give it once");
  }
}

std::vector<Cell> cells_of(const Plan& plan, std::vector<std::string>& left_out) {
  std::vector<Cell> cells;
  std::set<Settings> seen;
  std::vector<std::size_t> index(plan.axes.size(), 0);
  for (bool more = true; more;) {
    Settings all;
    for (const Assignment& setting : plan.fixed) set(all, setting.key, setting.value);
    for (std::size_t i = 0; i < index.size(); ++i) set(all, plan.axes[i].key, plan.axes[i].values[index[i]]);
    Cell cell;
    for (const auto& [key, value] : all)
      if (applies(key, all, plan.workload) && (plan.workload == Workload::solve || key != "solver" || can_bench(value, all)))
        cell.settings.emplace_back(key, value);
    // A plan over actions may name a solver of one of them; one for no action of the plan would be dropped unseen.
    const std::string* solver = find(all, "solver");
    const bool other_solver =
        plan.workload == Workload::bench_solver && solver != nullptr && !can_bench(*solver, all) && find(all, "action") == nullptr;
    for (const Axis& axis : plan.axes)
      if (const std::string* value = find(cell.settings, axis.key); value != nullptr && axis.values.size() > 1)
        cell.varying.emplace_back(axis.key, *value);
    if (plan.gauge.empty() && find(cell.settings, "lattice") == nullptr) cell.settings.emplace_back("lattice", "8,8,8,16");
    if (plan.workload == Workload::solve && action_of(cell.settings).components == spinor_components &&
        find(cell.settings, "columns") == nullptr)
      cell.settings.emplace_back("columns", "0");
    if (seen.insert(cell.settings).second) {
      const std::string refusal = plan.workload == Workload::solve ? refusal_of(cell.settings)
                                  : other_solver ? fmt::format("solver {} is not for the action {}", *solver, action_of(all).name)
                                                 : "";
      if (refusal.empty()) cells.push_back(std::move(cell));
      else left_out.push_back(fmt::format("{}: {}", cell.name(), refusal));
    }
    more = false;
    for (std::size_t i = index.size(); i-- > 0 && !more;) {
      more = ++index[i] < plan.axes[i].values.size();
      if (!more) index[i] = 0;
    }
  }
  if (cells.empty()) throw Error(ErrorKind::input, "lab", fmt::format("no combination can run; {}", left_out.front()), "change the axes");
  return cells;
}

std::vector<PlannedRun> runs_of(const Plan& plan, const std::vector<Cell>& cells, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<PlannedRun> runs;
  const auto add = [&](RunKind kind, int repetitions) {
    const std::size_t begin = runs.size();
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const int most = !takes_one_time(cells[cell]) ? repetitions : kind == RunKind::warm_up ? 0 : std::min(1, repetitions);
      for (int r = 1; r <= most; ++r) runs.push_back({cell, kind, r});
    }
    // Fisher and Yates; std::shuffle may differ between libraries.
    for (std::size_t left = runs.size() - begin; left > 1; --left) std::swap(runs[begin + left - 1], runs[begin + random() % left]);
  };
  add(RunKind::warm_up, plan.warm_up);
  add(RunKind::measured, plan.repetitions);
  add(RunKind::traced, plan.trace ? 1 : 0);
  return runs;
}

}  // namespace quarkstar::app::lab
