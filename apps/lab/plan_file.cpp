// TOML files of `quarkstar lab`.
#include "apps/lab/plan.hpp"
#include "apps/run/config.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/toml_text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app::lab {
const std::vector<PlanField>& plan_fields() {
  using Text = const std::string&;
  static const std::vector<PlanField> fields{
      {"gauge", "FILE", "Configuration of all runs (default: one is made for each --lattice)", [](Plan& p, Text v) { p.gauge = v; }},
      {"beta", "B", "Of configurations that are made (default 6)", [](Plan& p, Text v) { p.beta = parse_positive(v); }},
      {"sweeps", "N", "Heatbath sweeps of configurations that are made (default 10)",
       [](Plan& p, Text v) { p.sweeps = parse_integer(v, 1); }},
      {"run", "COMMAND", "What a run is: solve (default) or \"bench solver\"",
       [](Plan& p, Text v) {
         p.workload = parse_name(v, {"solve", "bench solver"}) == "solve" ? Workload::solve : Workload::bench_solver;
       }},
      {"repetitions", "R", "Measured runs of each cell (default 5)", [](Plan& p, Text v) { p.repetitions = parse_integer(v, 1, 10000); }},
      {"warm-up", "N", "Runs of each cell before the measured ones, not counted (default 1)",
       [](Plan& p, Text v) { p.warm_up = parse_integer(v, 0, 1000); }},
      {"traces", "", "One more run of each cell, with a trace of every task for the report",
       [](Plan& p, Text v) { p.trace = parse_switch(v); }},
      {"no-bandwidth", "", "Do not measure the memory's bandwidth", [](Plan& p, Text v) { p.bandwidth = !parse_switch(v); }},
      {"array-mb", "MB", "Size of each array of that measurement (default 256)",
       [](Plan& p, Text v) { p.array_megabytes = parse_positive(v); }},
      {"seed", "N", "Of the order of the runs (default: the journal's, or a new one)",
       [](Plan& p, Text v) { p.seed = static_cast<std::uint64_t>(parse_integer(v, 0)); }},
      {"time-limit", "SECONDS", "Of one run, which is then ended and counts as failed (default 600)",
       [](Plan& p, Text v) { p.limit_seconds = parse_positive(v); }},
      {"out", "DIR", "Folder for runs.jsonl, report.html, traces and configurations (default lab-results)",
       [](Plan& p, Text v) {
         if (v.empty()) throw BadValue("no name", "name a folder");
         p.out = v;
       }},
  };
  return fields;
}

void set_field(Plan& plan, const std::string& key, const std::string& value, const std::string& where) {
  const auto field = std::find_if(plan_fields().begin(), plan_fields().end(), [&](const PlanField& f) { return f.key == key; });
  if (field == plan_fields().end()) {
    std::vector<std::string_view> keys;
    for (const PlanField& known : plan_fields()) keys.push_back(known.key);
    throw Error(ErrorKind::input, where, "unknown key", fmt::format("use one of {}, [vary], [solve]", fmt::join(keys, ", ")));
  }
  try {
    field->set(plan, value);
  } catch (const BadValue& bad) {
    throw Error(ErrorKind::input, where, bad.what(), bad.allowed());
  }
}

Plan read_plan(const std::string& path) {
  Plan plan;
  const toml::table file = parse_toml(path, "docs/howto/laboratory.md");
  const auto where_is = [&](unsigned line, const std::string& key) { return fmt::format("{}:{}: {}", path, line, key); };
  in_order(file, [&](const std::string& key, const toml::node& value, unsigned line) {
    const std::string where = where_is(line, key);
    if (key == "vary") {
      in_order(table_of(value, where), [&](const std::string& name, const toml::node& values, unsigned at) {
        Axis axis{name, {}, where_is(at, name)};
        if (const toml::array* list = values.as_array()) {
          for (const toml::node& element : *list) axis.values.push_back(setting_text(element, axis.where));
        } else {
          axis.values.push_back(setting_text(values, axis.where));
        }
        plan.axes.push_back(std::move(axis));
      });
    } else if (key == "solve") {
      in_order(table_of(value, where), [&](const std::string& name, const toml::node& setting, unsigned at) {
        const Setting* field = find_setting(name);
        const std::string_view separator = field != nullptr ? field->separator : ",";
        plan.fixed.push_back({name, setting_text(setting, where_is(at, name), separator), where_is(at, name)});
      });
    } else {
      set_field(plan, key, setting_text(value, where), where);
    }
  });
  return plan;
}

}  // namespace quarkstar::app::lab
