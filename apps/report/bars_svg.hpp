#pragma once
// Bar charts as SVG text, in the colours and with the parts of plot_svg.hpp.
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

struct BarSeries {
  std::string name;
  std::vector<std::optional<double>> values;  ///< one a group; none: "unavailable" where the bar would be
};

/// Groups of bars side by side, values from 0 upwards.
struct BarChart {
  std::string title, y_label;
  std::vector<std::string> groups;
  std::vector<BarSeries> series;
};

/// A file of its own, title and legend inside.
std::string svg_file(const BarChart& chart);

}  // namespace quarkstar::app
