#pragma once
// Line plots as SVG text for a page's own colours (classes s0..s5, dashed, axis, grid; CSS in report_style.hpp).
#include <string>
#include <vector>

namespace quarkstar::app {

struct Series {
  std::string name;
  std::vector<double> x, y;              ///< points that are not finite (or not positive, on a log scale) are left out
  bool markers = true;                   ///< a dot at each point
  bool line = true;                      ///< from point to point
  std::vector<std::string> labels = {};  ///< of the points, shown when hovering; none: the series' name
  std::vector<double> errors = {};       ///< of y, drawn as bars where they are finite; none: no bars
};

struct Plot {
  std::string title, x_label, y_label;
  bool log_y = false, log_x = false;
  bool wide = false;  ///< over the whole width of the page
  std::vector<Series> series;
};

/// Round numbers that cover [low, high], about `count` of them: steps 1, 2 or 5 times a power of ten.
std::vector<double> linear_ticks(double low, double high, int count);

/// <figure> with caption, <svg> and legend. "no data" where no point can be drawn. Colours repeat after six series, with dashed
/// lines.
std::string figure(const Plot& plot);

/// Plots side by side as a file of its own, titles and legends inside.
std::string svg_row(const std::vector<Plot>& row);
inline std::string svg_file(const Plot& plot) { return svg_row({plot}); }

/// Text with & < > " ' replaced by entities.
std::string escape(const std::string& text);

}  // namespace quarkstar::app
