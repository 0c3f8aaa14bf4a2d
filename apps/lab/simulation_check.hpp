#pragma once
// Simulated machines beside this one: cells that differ in the machine only.
#include "apps/lab/summary.hpp"

#include <span>
#include <string>
#include <vector>

namespace quarkstar::app::lab {

/// A simulated cell and the one that ran here.
struct SimulatedPair {
  const CellSummary *here, *simulated;
  std::string machine;
  double seconds_here, seconds_simulated;  ///< of an iteration where the runs told iterations, else of a run
  /// Half of the confidence interval of seconds_here; not a number where one run alone was measured.
  double spread_here() const { return here->seconds.error * seconds_here / here->seconds.mean; }
  /// The cell without its machine.
  std::string name() const;
  double error() const { return seconds_simulated / seconds_here - 1; }
};

/// One simulated machine.
struct SimulationCheck {
  std::string machine;
  std::vector<SimulatedPair> pairs;
  /// Pairs of cells that differ in the policy only and, here, by more than their confidence intervals; and those of them that the
  /// simulation puts in the same order.
  int ordered = 0, same_order = 0;
  std::vector<std::string> other_order;  ///< the rest of them: "policy=eager before policy=dmda, here"

  double largest_error() const;  ///< absolute
  /// One line.
  std::string text() const;
  /// That line, a table of the pairs, and the pairs of policies in another order, as Markdown.
  std::string table() const;
};

/// One for each simulated machine that has a pair, in the order of the cells. `cells` must outlive it.
std::vector<SimulationCheck> compare_simulated(std::span<const CellSummary> cells);

/// All of them as a file of Markdown, to be kept with results: machine, versions, tables.
std::string simulation_report(std::span<const SimulationCheck> checks, const Plan& plan);

}  // namespace quarkstar::app::lab
