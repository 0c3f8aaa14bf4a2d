#include "apps/report/plot_svg.hpp"

#include "apps/report/report_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace quarkstar::app {
namespace {

// Units near the pixels that a desktop's page gives them, so that text has the size of the page's.
constexpr double half_width = 540, full_width = 1140, height = 320, left = 72, right = 14, top = 12, bottom = 46;
constexpr std::size_t colours = 6;

/// Classes of the i-th series.
std::string style_of(std::size_t i) { return fmt::format("s{}{}", i % colours, i / colours % 2 == 1 ? " dashed" : ""); }

/// A range of data and its place on the page. Logarithmic axes hold log10 of the values.
struct Axis {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  double begin, end;  ///< SVG units of low and high
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen(double share) {
    const double pad = high > low ? share * (high - low) : std::max(0.5, std::abs(low) * share);
    low -= pad;
    high += pad;
  }
  double operator()(double value) const { return begin + (value - low) / (high - low) * (end - begin); }
};

double scaled(double value, bool logarithmic) { return logarithmic ? (value > 0 ? std::log10(value) : std::nan("")) : value; }

/// Ticks of a log10 axis: whole decades, thinned to about `count`.
std::vector<double> decades(double low, double high, int count) {
  const double step = std::max(1.0, std::ceil((high - low) / count));
  std::vector<double> ticks;
  for (double tick = std::ceil(low / step) * step; tick <= high; tick += step) ticks.push_back(tick);
  return ticks;
}

/// 1, 2 and 5 times powers of ten within 10^low..10^high.
std::vector<double> one_two_five(double low, double high) {
  std::vector<double> ticks;
  for (double power = std::floor(low); power <= high; ++power)
    for (const double factor : {1., 2., 5.})
      if (const double at = power + std::log10(factor); at >= low && at <= high) ticks.push_back(factor * std::pow(10, power));
  return ticks;
}

void draw_axes(std::string& svg, const Plot& plot, double width, const Axis& x, const Axis& y) {
  std::vector<double> y_ticks = plot.log_y ? decades(y.low, y.high, 7) : linear_ticks(y.low, y.high, 6);
  const bool within_decade = plot.log_y && (y_ticks.size() < 2 || plot.log_x);  // then decades say too little: label plain values
  if (within_decade) y_ticks = plot.log_x ? one_two_five(y.low, y.high) : linear_ticks(std::pow(10, y.low), std::pow(10, y.high), 5);
  for (const double tick : y_ticks) {
    const double at = y(within_decade ? std::log10(tick) : tick);
    const std::string label = plot.log_y && !within_decade ? fmt::format("1e{:.0f}", tick) : fmt::format("{:.6g}", tick);
    svg += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", left, width - right, at, at);
    svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left - 6, at + 4, label);
  }
  for (const double tick : plot.log_x ? one_two_five(x.low, x.high) : linear_ticks(x.low, x.high, 9)) {
    const double at = x(scaled(tick, plot.log_x));
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.6g}</text>", at, height - bottom + 17, tick);
    svg +=
        fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", at, height - bottom, height - bottom + 4);
  }
  svg += fmt::format("<path class=\"axis\" d=\"M{} {}V{}H{}\"/>", left, top, height - bottom, width - right);
  svg += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", (left + width - right) / 2, height - 8,
                     escape(plot.x_label));
  svg += fmt::format("<text class=\"label\" transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                     (top + height - bottom) / 2, escape(plot.y_label));
}

/// Ends of the error bar of a point, as the axis has them; none where there is no finite error.
std::optional<std::pair<double, double>> bar_of(const Series& series, std::size_t point, bool logarithmic) {
  if (point >= series.errors.size() || !std::isfinite(series.errors[point])) return std::nullopt;
  const double value = series.y[point], error = series.errors[point];
  return std::pair{scaled(value - error, logarithmic), scaled(value + error, logarithmic)};
}

void draw_series(std::string& svg, const Series& series, const std::string& style, const Plot& plot, const Axis& x, const Axis& y) {
  std::string path, bars, dots;
  bool pen_down = false;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double across = scaled(series.x[i], plot.log_x), value = scaled(series.y[i], plot.log_y);
    if (!std::isfinite(across) || !std::isfinite(value)) {
      pen_down = false;
      continue;
    }
    if (series.line) path += fmt::format("{}{:.1f} {:.1f}", pen_down ? 'L' : 'M', x(across), y(value));
    pen_down = true;
    const auto bar = bar_of(series, i, plot.log_y);
    if (bar)  // down to the axis where the lower end has no logarithm
      bars += fmt::format("M{0:.1f} {1:.1f}V{2:.1f}", x(across), y(bar->second), y(std::isfinite(bar->first) ? bar->first : y.low));
    if (series.markers)
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}: {:.6g}, {:.10g}{}</title></circle>", x(across), y(value),
                          escape(i < series.labels.size() ? series.labels[i] : series.name), series.x[i], series.y[i],
                          bar ? fmt::format(" +- {:.3g}", series.errors[i]) : "");
  }
  if (!bars.empty()) bars = fmt::format("<path class=\"bar\" d=\"{}\"/>", bars);
  svg += fmt::format("<g class=\"{}\"><path d=\"{}\"/>{}{}</g>", style, path, bars, dots);
}

}  // namespace

std::string escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::vector<double> linear_ticks(double low, double high, int count) {
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  const double raw = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double step = power * (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10);
  std::vector<double> ticks;
  for (double index = std::ceil(low / step); index * step <= high + 1e-9 * step; ++index) {
    ticks.push_back(index == 0 ? 0 : index * step);  // no minus zero
  }
  return ticks;
}

namespace {

/// Axes that hold every point; no x range where nothing can be drawn.
struct Frame {
  double width;
  Axis x, y;
  explicit Frame(const Plot& plot)
      : width(plot.wide ? full_width : half_width), x{.begin = left, .end = width - right}, y{.begin = height - bottom, .end = top} {
    for (const Series& series : plot.series)
      for (std::size_t i = 0; i < series.x.size(); ++i)
        if (const double across = scaled(series.x[i], plot.log_x), value = scaled(series.y[i], plot.log_y);
            std::isfinite(across) && std::isfinite(value)) {
          x.include(across);
          y.include(value);
          if (const auto bar = bar_of(series, i, plot.log_y)) {
            y.include(bar->second);
            if (std::isfinite(bar->first)) y.include(bar->first);
          }
        }
    if (empty()) return;
    x.widen(0.02);
    y.widen(0.06);
  }
  bool empty() const { return !(x.high >= x.low); }
};

void draw(std::string& svg, const Plot& plot, const Frame& frame) {
  draw_axes(svg, plot, frame.width, frame.x, frame.y);
  for (std::size_t s = 0; s < plot.series.size(); ++s) draw_series(svg, plot.series[s], style_of(s), plot, frame.x, frame.y);
}

}  // namespace

std::string figure(const Plot& plot) {
  const Frame frame(plot);
  std::string html = fmt::format("<figure{}><figcaption>{}</figcaption>", plot.wide ? " class=\"wide\"" : "", escape(plot.title));
  if (frame.empty()) return html + "<p>no data</p></figure>\n";
  html += fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", frame.width, height, escape(plot.title));
  draw(html, plot, frame);
  html += "</svg><p class=\"legend\">";
  for (std::size_t s = 0; s < plot.series.size(); ++s)
    html += fmt::format("<span class=\"{}\"><i></i>{}</span> ", style_of(s), escape(plot.series[s].name));
  return html + "</p></figure>\n";
}

std::string svg_row(const std::vector<Plot>& row) {
  constexpr double line = 18, head = 26;
  double width = 0, lines = 0;
  std::string title;
  for (const Plot& plot : row) {
    width += Frame(plot).width;
    lines = std::max(lines, static_cast<double>(plot.series.size()));
    title += (title.empty() ? "" : "; ") + plot.title;
  }
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 "
      "{0} {1}\">"
      "<style>{2} svg {{ background: var(--bg); }} text {{ font-family: sans-serif; }}</style><title>{3}</title>",
      width, head + height + line * lines, report_style, escape(title));
  double begin = 0;
  for (const Plot& plot : row) {
    const Frame frame(plot);
    svg += fmt::format("<g transform=\"translate({} {})\"><text class=\"label\" x=\"{}\" y=\"{}\">{}</text>", begin, head, left, 18 - head,
                       escape(plot.title));
    if (!frame.empty()) draw(svg, plot, frame);
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
      const double at = height + line * (static_cast<double>(s) + 0.5);
      svg += fmt::format("<g class=\"{}\"><path d=\"M{} {}h28\"/></g><text x=\"{}\" y=\"{}\">{}</text>", style_of(s), left, at, left + 36,
                         at + 4, escape(plot.series[s].name));
    }
    svg += "</g>";
    begin += frame.width;
  }
  return svg + "</svg>\n";
}

}  // namespace quarkstar::app
