#include "apps/report/bars_svg.hpp"

#include "apps/report/plot_svg.hpp"
#include "apps/report/report_style.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::app {
std::string svg_file(const BarChart& chart) {
  constexpr double width = 900, left = 72, right = 14, top = 36, plot_height = 300, line = 18;
  constexpr std::size_t colours = 8;
  double highest = 0;
  for (const BarSeries& series : chart.series)
    for (const std::optional<double>& value : series.values) highest = std::max(highest, value.value_or(0));
  const double bottom = top + plot_height, scale = highest > 0 ? plot_height / (1.05 * highest) : 0;
  const double height = bottom + 34 + line * static_cast<double>(chart.series.size());
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 "
      "{0} {1}\">"
      "<style>{2} svg {{ background: var(--bg); }} text {{ font-family: sans-serif; }}</style><title>{3}</title><text class=\"label\" "
      "x=\"{4}\" y=\"20\">{3}</text>",
      width, height, report_style, escape(chart.title), left);
  for (const double tick : linear_ticks(0, 1.05 * highest, 6))
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text class=\"tick\" x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:.6g}</text>",
        left, width - right, bottom - tick * scale, left - 6, bottom - tick * scale + 4, tick);
  svg += fmt::format("<path class=\"axis\" d=\"M{} {}V{}H{}\"/>", left, top, bottom, width - right);
  svg += fmt::format("<text class=\"label\" transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                     top + plot_height / 2, escape(chart.y_label));
  const double group = (width - left - right) / static_cast<double>(std::max<std::size_t>(1, chart.groups.size()));
  const double bar = 0.8 * group / static_cast<double>(std::max<std::size_t>(1, chart.series.size()));
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const double begin = left + group * (static_cast<double>(g) + 0.1);
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", begin + 0.4 * group, bottom + 17,
                       escape(chart.groups[g]));
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double x = begin + bar * static_cast<double>(s);
      const std::optional<double> value = g < chart.series[s].values.size() ? chart.series[s].values[g] : std::nullopt;
      if (value)
        svg += fmt::format(
            "<rect class=\"t{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}, {}: {:.4g}</title></rect>",
            s % colours, x, bottom - *value * scale, bar, *value * scale, escape(chart.groups[g]), escape(chart.series[s].name), *value);
      else
        svg += fmt::format("<text class=\"tick\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\">unavailable</text>", x + bar / 2 + 4,
                           bottom - 6);
    }
  }
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const double at = bottom + 34 + line * static_cast<double>(s);
    svg += fmt::format("<rect class=\"t{}\" x=\"{}\" y=\"{}\" width=\"28\" height=\"10\"/><text x=\"{}\" y=\"{}\">{}</text>", s % colours,
                       left, at, left + 36, at + 9, escape(chart.series[s].name));
  }
  return svg + "</svg>\n";
}

}  // namespace quarkstar::app
