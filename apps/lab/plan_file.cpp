// TOML files of `quarkstar lab`.
#include "apps/lab/plan.hpp"
#include "apps/parse.hpp"
#include "apps/toml_text.hpp"
#include "runtime/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace quarkstar::app::lab {
namespace {

/// A top-level key of the file.
struct PlanField {
  std::string_view key;
  void (*set)(Plan&, const std::string&);  ///< throws BadValue
};

double positive(const std::string& text) { return parse_positive(text); }

constexpr PlanField plan_fields[] = {
    {"gauge", [](Plan& p, const std::string& v) { p.gauge = v; }},
    {"beta", [](Plan& p, const std::string& v) { p.beta = positive(v); }},
    {"sweeps", [](Plan& p, const std::string& v) { p.sweeps = parse_integer(v, 1); }},
    {"run", [](Plan& p, const std::string& v) { p.workload = parse_name(v, {"solve", "bench solver"}) == "solve" ? Workload::solve : Workload::bench_solver; }},
    {"repetitions", [](Plan& p, const std::string& v) { p.repetitions = parse_integer(v, 1, 10000); }},
    {"warm-up", [](Plan& p, const std::string& v) { p.warm_up = parse_integer(v, 0, 1000); }},
    {"traces", [](Plan& p, const std::string& v) { p.trace = parse_switch(v); }},
    {"bandwidth", [](Plan& p, const std::string& v) { p.bandwidth = parse_switch(v); }},
    {"array-mb", [](Plan& p, const std::string& v) { p.array_megabytes = positive(v); }},
    {"seed", [](Plan& p, const std::string& v) { p.seed = static_cast<std::uint64_t>(parse_integer(v, 0)); }},
    {"time-limit", [](Plan& p, const std::string& v) { p.limit_seconds = positive(v); }},
    {"out", [](Plan& p, const std::string& v) { p.out = v; }},
};

/// Entries of a table in the order of the file, which the table itself forgets.
void in_order(const toml::table& table, const std::function<void(const std::string& key, const toml::node& value, unsigned line)>& body) {
  std::vector<std::pair<unsigned, std::string>> order;
  for (const auto& [key, value] : table) order.emplace_back(key.source().begin.line, std::string(key.str()));
  std::stable_sort(order.begin(), order.end());
  for (const auto& [line, key] : order) body(key, *table.get(key), line);
}

const toml::table& table_of(const toml::node& node, const std::string& where) {
  if (const toml::table* table = node.as_table()) return *table;
  throw Error(ErrorKind::input, where, "this is a table", fmt::format("write it as [{}] above its keys", where.substr(where.rfind(' ') + 1)));
}

}  // namespace

Plan read_plan(const std::string& path) {
  Plan plan;
  const toml::table file = parse_toml(path);
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
        plan.fixed.push_back({name, setting_text(setting, where_is(at, name)), where_is(at, name)});
      });
    } else {
      const auto* field = std::find_if(std::begin(plan_fields), std::end(plan_fields), [&](const PlanField& f) { return f.key == key; });
      if (field == std::end(plan_fields)) {
        std::vector<std::string_view> keys;
        for (const PlanField& known : plan_fields) keys.push_back(known.key);
        throw Error(ErrorKind::input, where, "unknown key", fmt::format("use one of {}, [vary], [solve]", fmt::join(keys, ", ")));
      }
      try {
        field->set(plan, setting_text(value, where));
      } catch (const BadValue& bad) {
        throw Error(ErrorKind::input, where, bad.what(), bad.allowed());
      }
    }
  });
  return plan;
}

}  // namespace quarkstar::app::lab
