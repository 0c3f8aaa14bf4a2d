#pragma once
#include "apps/lab/history_check.hpp"
#include "apps/lab/summary.hpp"

#include <string>

namespace quarkstar::app::lab {

/// One self-contained page of HTML: verdict on the histories, table of cells, times with confidence intervals, times of workers, Gantt
/// charts and block maps of the traced runs (they zoom), roofline, energy, bytes of links, failures. Scripts and styles are inside; it
/// follows the reader's light or dark setting. Reads the traces from plan.out.
std::string page(const Plan& plan, const Outcome& outcome, const std::vector<CellSummary>& cells, const HistoryCheck& histories);

}  // namespace quarkstar::app::lab
