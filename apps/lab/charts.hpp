#pragma once
// Figures of the laboratory's page: SVG in the page's colours.
#include "apps/lab/summary.hpp"

#include <string>
#include <vector>

namespace quarkstar::app::lab {

/// <figure>: one row a cell, a dot a measured run, a bar over the confidence interval of their mean.
std::string times_figure(const std::vector<CellSummary>& cells);

/// <figure>: times in the order in which the runs were started, a line a cell: shows a machine that drifts.
std::string order_figure(const std::vector<CellSummary>& cells);

/// <figure>: one bar per worker of each cell, cut into busy, transfer, overhead and idle time; says so where no run told them.
std::string workers_figure(const std::vector<CellSummary>& cells);

/// <figure>: GFLOP/s by intensity (flop over compulsory bytes), a dot a cell, under the triad of each set of devices.
std::string roofline_figure(const std::vector<CellSummary>& cells);

/// <figure>: joules by seconds, a dot a cell; says why where there are none.
std::string energy_figure(const std::vector<CellSummary>& cells);

}  // namespace quarkstar::app::lab
