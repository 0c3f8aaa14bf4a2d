#pragma once
// Residual histories that must have the same bits: those of one problem, whatever ran it.
#include "apps/lab/record.hpp"

#include <span>
#include <string>
#include <vector>

namespace quarkstar::app::lab {

/// The settings that decide a residual history: all but those of the schedule (policy, blocks, devices, workers, ...) and, for solvers in
/// which every right-hand side runs as if alone, the number of those solved together.
Settings problem_of(const Settings& settings);

/// Those of the record, and of its inputs the command and the configuration.
Settings problem_of(const Record& record);

/// Two runs of one problem that differ.
struct Disagreement {
  const Record *first, *second;
  std::string what;  ///< "column 3: 41 residuals, not 40"
};

struct HistoryCheck {
  std::size_t runs = 0, problems = 0;       ///< with histories
  std::vector<Disagreement> disagreements;  ///< each with the first run of its problem

  /// One line.
  std::string text() const;
};

/// Compares all runs that ended well and told histories; `records` must outlive the result.
HistoryCheck compare_histories(std::span<const Record> records);

}  // namespace quarkstar::app::lab
