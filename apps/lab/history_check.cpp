#include "apps/lab/history_check.hpp"

#include "solvers/krylov/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace quarkstar::app::lab {
namespace {

/// Settings that no bit of a history depends on.
constexpr std::string_view schedule[] = {"policy",      "blocks",      "devices", "cpu-share",  "gpus",       "workers",
                                         "threads",     "worker-mode", "ranks",   "gpu-memory", "cpu-memory", "share-gpus",
                                         "check-every", "watchdog",    "no-tune", "in-flight",  "throttle",   "watts"};

std::string label_of(const History& h) {
  return h.mass ? fmt::format("column {}, mass {}", h.column, *h.mass) : fmt::format("column {}", h.column);
}

/// The first difference; empty: none.
std::string difference(const std::vector<History>& a, const std::vector<History>& b) {
  if (a.size() != b.size()) return fmt::format("{} histories, not {}", b.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].column != b[i].column || a[i].mass != b[i].mass) return fmt::format("{} in place of {}", label_of(b[i]), label_of(a[i]));
    if (a[i].length != b[i].length) return fmt::format("{}: {} residuals, not {}", label_of(b[i]), b[i].length, a[i].length);
    if (a[i].bits != b[i].bits) return fmt::format("{}: residuals of other bits", label_of(b[i]));
  }
  return "";
}

}  // namespace

Settings problem_of(const Settings& settings) {
  const std::string* solver = find(settings, "solver");
  const bool vectors_mix = solver != nullptr && find_krylov_solver(*solver) != nullptr && find_krylov_solver(*solver)->mixes_vectors;
  Settings problem;
  for (const auto& [key, value] : settings)
    if (std::find(std::begin(schedule), std::end(schedule), key) == std::end(schedule) && (key != "nrhs" || vectors_mix))
      problem.emplace_back(key, value);
  std::sort(problem.begin(), problem.end());
  return problem;
}

Settings problem_of(const Record& record) {
  Settings problem = problem_of(record.settings);
  for (const char* key : {"run", "gauge-hash"})
    if (const std::string* value = find(record.inputs, key)) problem.emplace_back(key, *value);
  return problem;
}

std::string HistoryCheck::text() const {
  if (runs == 0) return "residual histories: unavailable";
  if (disagreements.empty())
    return fmt::format("residual histories: {} runs of {} problem{}, all bits equal", runs, problems, problems == 1 ? "" : "s");
  const Disagreement& d = disagreements.front();
  return fmt::format("residual histories differ: {} and {}, {}{}", d.first->name(), d.second->name(), d.what,
                     disagreements.size() > 1 ? fmt::format(" ({} more runs differ)", disagreements.size() - 1) : "");
}

HistoryCheck compare_histories(std::span<const Record> records) {
  HistoryCheck check;
  std::map<Settings, const Record*> first;
  for (const Record& record : records) {
    if (!record.ok() || record.results.histories.empty()) continue;
    ++check.runs;
    const auto [known, is_new] = first.try_emplace(problem_of(record), &record);
    if (is_new) continue;
    if (std::string what = difference(known->second->results.histories, record.results.histories); !what.empty())
      check.disagreements.push_back({known->second, &record, std::move(what)});
  }
  check.problems = first.size();
  return check;
}

}  // namespace quarkstar::app::lab
