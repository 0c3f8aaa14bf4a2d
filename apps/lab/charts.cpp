#include "apps/lab/charts.hpp"

#include "apps/report/plot_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace quarkstar::app::lab {
namespace {

constexpr double width = 1140, right = 16;

std::string frame(bool wide, const std::string& caption, const std::string& body) {
  return fmt::format("<figure{}><figcaption>{}</figcaption>{}</figure>\n", wide ? " class=\"wide\"" : "", escape(caption), body);
}

std::string paragraph(const std::string& text) { return fmt::format("<p>{}</p>", escape(text)); }

/// A name as long as a row of a chart has room for.
std::string shortened(const std::string& name) {
  constexpr std::size_t longest = 56;
  return name.size() <= longest ? name : name.substr(0, longest - 3) + "...";
}

/// Room for the longest name at the left.
double label_width(const std::vector<CellSummary>& cells) {
  std::size_t longest = 8;
  for (const CellSummary& cell : cells) longest = std::max(longest, shortened(cell.cell->name()).size());
  return 6.6 * static_cast<double>(longest) + 14;
}

std::string label(const std::string& name, double x, double y) {
  return fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}<title>{}</title></text>", x, y,
                     escape(shortened(name)), escape(name));
}

/// The values of the axis that varies first: what colours stand for.
std::string first_value(const Cell& cell) {
  return cell.varying.empty() ? "all" : cell.varying.front().first + "=" + cell.varying.front().second;
}

/// A series of dots for each value of the first axis.
template <class X, class Y>
std::vector<Series> dots_by_first_axis(const std::vector<CellSummary>& cells, X&& x, Y&& y) {
  std::vector<Series> all;
  for (const CellSummary& cell : cells) {
    const auto across = x(cell), up = y(cell);
    if (!across || !up) continue;
    const std::string name = first_value(*cell.cell);
    auto found = std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.name == name; });
    if (found == all.end()) found = all.insert(all.end(), Series{name, {}, {}, true, false});
    found->x.push_back(*across);
    found->y.push_back(*up);
    found->labels.push_back(cell.cell->name());
  }
  return all;
}

std::optional<double> intensity(const CellSummary& cell) {
  const auto gflops = cell.mean(&Results::gflops), gbs = cell.mean(&Results::gbs);
  return gflops && gbs && *gbs > 0 ? std::optional(*gflops / *gbs) : std::nullopt;
}

std::optional<double> mean_seconds(const CellSummary& cell) {
  return std::isfinite(cell.seconds.mean) ? std::optional(cell.seconds.mean) : std::nullopt;
}

/// Parts of a worker's time, in the order of the bar.
struct Part {
  const char* name;
  const char* style;
  std::optional<double> WorkerTimes::*seconds;
};
constexpr Part parts[] = {{"busy", "t2", &WorkerTimes::busy},
                          {"transfer", "t0", &WorkerTimes::transfer},
                          {"overhead", "t1", &WorkerTimes::overhead},
                          {"idle", "t6", &WorkerTimes::idle}};

/// Mean of a worker's part over the measured runs of a cell.
std::optional<double> mean_of_worker(const CellSummary& cell, std::size_t worker, const Part& part) {
  return cell.mean([&](const Results& r) { return worker < r.workers.size() ? r.workers[worker].*part.seconds : std::nullopt; });
}

}  // namespace

std::string times_figure(const std::vector<CellSummary>& cells) {
  const std::string caption =
      fmt::format("Seconds of a run: each measured run, their mean and its {:.0f} % confidence interval (Student's t)", 100 * confidence);
  double low = INFINITY, high = -INFINITY;
  for (const CellSummary& cell : cells)
    for (const Record* record : cell.measured)
      if (record->results.seconds) low = std::min(low, *record->results.seconds), high = std::max(high, *record->results.seconds);
  if (!(high >= low)) return frame(true, caption, paragraph("unavailable: no measured run ended well"));
  for (const CellSummary& cell : cells)
    if (std::isfinite(cell.seconds.error))
      low = std::min(low, cell.seconds.mean - cell.seconds.error), high = std::max(high, cell.seconds.mean + cell.seconds.error);
  low = std::max(0.0, low);
  const double pad = std::max(0.03 * (high - low), 1e-9 + 0.01 * high), left = label_width(cells), row = 24,
               rows = row * static_cast<double>(cells.size());
  low -= pad;
  high += pad;
  const auto place = [&](double seconds) { return left + (seconds - low) / (high - low) * (width - right - left); };
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", width, rows + 46, escape(caption));
  for (const double tick : linear_ticks(low, high, 10))
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\"/><text class=\"tick\" x=\"{0:.1f}\" y=\"{2}\" "
        "text-anchor=\"middle\">{3:.6g}</text>",
        place(tick), rows, rows + 16, tick);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const CellSummary& cell = cells[c];
    const double y = row * (static_cast<double>(c) + 0.5);
    svg += label(cell.cell->name(), left - 8, y + 4);
    if (!std::isfinite(cell.seconds.mean)) {
      svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">unavailable: no run ended well</text>", left + 6, y + 4);
      continue;
    }
    svg += "<g class=\"s0\">";
    if (std::isfinite(cell.seconds.error)) {
      const double begin = place(std::max(low, cell.seconds.mean - cell.seconds.error)),
                   end = place(cell.seconds.mean + cell.seconds.error);
      svg += fmt::format("<path class=\"interval\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", begin, y, end);
    }
    for (const Record* record : cell.measured)
      if (record->results.seconds)
        svg += fmt::format("<circle class=\"run\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{}: {:.6g} s</title></circle>",
                           place(*record->results.seconds), y, escape(record->name()), *record->results.seconds);
    svg += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\"><title>mean {3:.6g} s</title></path></g>", place(cell.seconds.mean), y - 8,
                       y + 8, cell.seconds.mean);
  }
  svg += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">seconds</text></svg>", (left + width - right) / 2,
                     rows + 38);
  return frame(true, caption, svg);
}

std::string order_figure(const std::vector<CellSummary>& cells) {
  Plot plot{.title = "Seconds by the order of the runs", .x_label = "run", .y_label = "seconds", .wide = true, .series = {}};
  for (const CellSummary& cell : cells) {
    Series series{cell.cell->name(), {}, {}};
    std::vector<const Record*> runs = cell.measured;
    std::sort(runs.begin(), runs.end(), [](const Record* a, const Record* b) { return a->number < b->number; });
    for (const Record* record : runs)
      if (record->results.seconds) {
        series.x.push_back(record->number);
        series.y.push_back(*record->results.seconds);
      }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  return figure(plot);
}

std::string workers_figure(const std::vector<CellSummary>& cells) {
  const std::string caption = "Where the workers' time goes";
  struct Bar {
    const CellSummary* cell;
    std::size_t worker;
  };
  std::vector<Bar> bars;
  for (const CellSummary& cell : cells)
    for (std::size_t worker = 0; !cell.measured.empty() && worker < cell.measured.front()->results.workers.size(); ++worker)
      if (mean_of_worker(cell, worker, parts[0])) bars.push_back({&cell, worker});
  if (bars.empty()) return frame(true, caption, paragraph("unavailable: the runs told no times of workers"));
  double longest = 0;
  for (const Bar& bar : bars) {
    double sum = 0;
    for (const Part& part : parts) sum += mean_of_worker(*bar.cell, bar.worker, part).value_or(0);
    longest = std::max(longest, sum);
  }
  const double left = label_width(cells), names = 70, row = 15, gap = 8;
  const double scale = (width - right - left - names) / longest;
  std::string body;
  double y = 4;
  const CellSummary* before = nullptr;
  std::set<std::string> missing;
  for (const Bar& bar : bars) {
    const WorkerTimes& worker = bar.cell->measured.front()->results.workers[bar.worker];
    if (bar.cell != before) {
      y += before != nullptr ? gap : 0;
      body += label(bar.cell->cell->name(), left - 8, y + 11);
    }
    before = bar.cell;
    body += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left + names - 8, y + 11,
                        escape(worker.name));
    double x = left + names;
    for (const Part& part : parts) {
      const auto seconds = mean_of_worker(*bar.cell, bar.worker, part);
      if (!seconds) {
        missing.insert(part.name);
        continue;
      }
      body += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\"><title>{}, {}: {} {:.4g} s</title></rect>",
          part.style, x, y + 1, *seconds * scale, row - 3, escape(bar.cell->cell->name()), escape(worker.name), part.name, *seconds);
      x += *seconds * scale;
    }
    y += row;
  }
  for (const double tick : linear_ticks(0, longest, 8))
    body += fmt::format(
        "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/><text class=\"tick\" x=\"{0:.1f}\" "
        "y=\"{3:.1f}\" text-anchor=\"middle\">{4:.6g}</text>",
        left + names + tick * scale, y + 2, y + 6, y + 20, tick);
  body += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">seconds</text>",
                      (left + names + width - right) / 2, y + 38);
  std::string html = fmt::format("<svg viewBox=\"0 0 {} {:.1f}\" role=\"img\" aria-label=\"{}\">{}</svg><p class=\"legend blocks\">", width,
                                 y + 46, caption, body);
  for (const Part& part : parts)
    html +=
        fmt::format("<span class=\"{}\"><i></i>{}{}</span> ", part.style, part.name, missing.contains(part.name) ? ": unavailable" : "");
  return frame(true, caption, html + "</p>");
}

std::string roofline_figure(const std::vector<CellSummary>& cells) {
  Plot plot{.title = "Roofline", .x_label = "flop a byte (compulsory)", .y_label = "GFLOP/s", .log_y = true, .log_x = true, .series = {}};
  plot.series = dots_by_first_axis(cells, intensity, [](const CellSummary& cell) { return cell.mean(&Results::gflops); });
  double low = INFINITY, high = 0;
  for (const Series& series : plot.series)
    for (const double x : series.x) low = std::min(low, x), high = std::max(high, x);
  if (plot.series.empty()) return frame(false, plot.title, paragraph("unavailable: no run told its flops and bytes"));
  std::map<double, std::string> roofs;  // one for each bandwidth
  for (const CellSummary& cell : cells)
    if (cell.triad) {
      const std::string devices = text_of(devices_of(cell.cell->settings));
      std::string& names = roofs[*cell.triad];
      if (names.find(devices) == std::string::npos) names += (names.empty() ? "" : "; ") + devices;
    }
  for (const auto& [triad, devices] : roofs)
    plot.series.push_back({fmt::format("triad {:.4g} GB/s{}", triad, devices == "-" ? "" : " of " + devices),
                           {low / 2, high * 2},
                           {triad * low / 2, triad * high * 2},
                           false});
  return figure(plot) + (roofs.empty() ? paragraph("roof: unavailable, no bandwidth was measured") : "");
}

std::string energy_figure(const std::vector<CellSummary>& cells) {
  Plot plot{.title = "Energy", .x_label = "seconds of a run", .y_label = "joules", .series = {}};
  plot.series =
      dots_by_first_axis(cells, mean_seconds, [](const CellSummary& cell) { return cell.mean([](const Results& r) { return r.joules; }); });
  if (!plot.series.empty()) return figure(plot);
  std::string reason = "no run told";
  for (const CellSummary& cell : cells)
    for (const Record* record : cell.measured)
      if (!record->results.no_joules.empty()) reason = record->results.no_joules;
  return frame(false, plot.title, paragraph("unavailable: " + reason));
}

}  // namespace quarkstar::app::lab
