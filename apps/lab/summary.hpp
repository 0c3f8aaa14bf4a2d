#pragma once
// What the runs of each cell say together.
#include "apps/lab/run.hpp"
#include "apps/run/statistics.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app::lab {

/// The part of the times between which the true mean is expected to lie.
inline constexpr double confidence = 0.95;

struct CellSummary {
  const Cell* cell = nullptr;
  std::vector<const Record*> measured, failed;  ///< `failed` of any kind
  const Record* traced = nullptr;               ///< that ended well
  /// The least that runs of this cell, or of one that differs in the policy only and so has the same graph of tasks, state; none where all
  /// of them are warm-up runs, whose tasks are slow.
  std::optional<double> bound_seconds;
  std::string stated_bound;     ///< what that bound is
  std::optional<double> triad;  ///< GB/s of its devices
  Estimate seconds;             ///< mean and half width of the confidence interval (Student's t)

  std::optional<double> over_fastest;  ///< mean time over that of the fastest cell with the same problem (history_check.hpp)

  /// Mean over the measured runs of what all of them could tell.
  std::optional<double> mean(const std::function<std::optional<double>(const Results&)>& value) const;

  /// Mean time over the bound that runs of this cell state, or over bytes / triad where they state none; `bound` says which.
  std::optional<double> over_bound() const;
  std::string bound() const;
  /// over_bound(), marked where it is below 1: then the bound is none.
  std::string over_bound_text() const;
};

/// One a cell, in the order of the cells; `outcome` must outlive them.
std::vector<CellSummary> summarise(const Outcome& outcome);

/// What the mark means; empty where no cell has it.
std::string note_on_bounds(const std::vector<CellSummary>& cells);

/// The table for a terminal.
void print_summary(const std::vector<CellSummary>& cells);

/// "0.0123 +- 0.0004"; "unavailable" without a value, no "+-" without an error.
std::string text_of(const Estimate& estimate);
/// Four digits, or "unavailable".
std::string text_of(std::optional<double> value);

}  // namespace quarkstar::app::lab
