#pragma once
// What multigrid did in a run, level by level.
#include "apps/run/report.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace quarkstar::app {

/// A level of an operator's multigrid, as tables show it.
struct MultigridRow {
  std::string level, lattice, vectors, steps, seconds;
};
const std::vector<std::string>& multigrid_columns();

/// Of the finest level first. Steps are those of all solves of the report with that operator: iterations on the finest level, and as many
/// steps of each level below as its solver does for one of the level above.
std::vector<MultigridRow> multigrid_rows(const RunReport& report, const OperatorReport& of);

/// The set-up in one line.
std::string multigrid_line(const RunReport& report, const OperatorReport& of);

/// The same for scripts.
nlohmann::ordered_json multigrid_json(const RunReport& report, const OperatorReport& of);

}  // namespace quarkstar::app
