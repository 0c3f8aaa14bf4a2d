#include "apps/report/timeline_svg.hpp"

#include "apps/report/plot_svg.hpp"
#include "apps/run/parse.hpp"
#include "codelets/field/precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace quarkstar::app {
namespace {

constexpr std::size_t group_colours = 8;

std::string group_of(const TimelineTask& task) { return task_group(task.name, name_of(task.kind)); }

/// Colours by group, in order of first appearance.
std::map<std::string, std::size_t> colour_groups(const std::vector<TimelineTask>& tasks, std::vector<std::string>& order) {
  std::map<std::string, std::size_t> colour;
  for (const TimelineTask& task : tasks)
    if (colour.try_emplace(group_of(task), colour.size() % group_colours).second) order.push_back(group_of(task));
  return colour;
}

}  // namespace

std::string task_group(const std::string& codelet, std::string_view kind) {
  if (kind == name_of(runtime::CodeletKind::scalar)) return std::string(kind);
  const std::vector<std::string> parts = split(codelet, '.');
  for (const Precision precision : {Precision::half, Precision::single, Precision::double_})
    if (parts.size() > 2 && parts[1] == name_of(precision)) return parts.front() + " " + parts.back();
  return parts.front();
}

std::string timeline_figure(const RunReport& report) {
  constexpr double width = 1140, left = 72, right = 14, row = 30, bar = 22, axis = 40;
  const std::string caption =
      fmt::format("Timeline: {} consecutive tasks from the middle of the first column's solve", report.timeline.size());
  std::string html = fmt::format("<figure class=\"wide\"><figcaption>{}</figcaption>", caption);
  if (report.timeline.empty()) return html + "<p>no data</p></figure>\n";

  const double begin = report.timeline.front().begin_us;
  double end = begin;
  for (const TimelineTask& task : report.timeline) end = std::max(end, task.end_us);
  const double scale = (width - left - right) / std::max(end - begin, 1e-3);
  const double rows = row * static_cast<double>(report.workers.size());
  html += fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"timeline of tasks\">", width, rows + axis);
  for (std::size_t w = 0; w < report.workers.size(); ++w) {
    const double y = row * static_cast<double>(w);
    html += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", left - 6, y + bar,
                        escape(report.workers[w].name));
    html += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", left, width - right, y + row - 2, y + row - 2);
  }
  std::vector<std::string> groups;
  const auto colour = colour_groups(report.timeline, groups);
  for (const TimelineTask& task : report.timeline)
    html += fmt::format(
        "<rect class=\"t{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"><title>{}, block {}, {:.1f} "
        "us</title></rect>",
        colour.at(group_of(task)), left + (task.begin_us - begin) * scale, row * task.worker + 5,
        std::max(0.4, (task.end_us - task.begin_us) * scale), bar, escape(task.name), task.block, task.end_us - task.begin_us);
  const bool milliseconds = end - begin >= 2000;
  const double unit = milliseconds ? 1000 : 1;
  for (const double tick : linear_ticks(0, (end - begin) / unit, 10)) {
    const double x = left + tick * unit * scale;
    html += fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x, rows, rows + 4);
    html += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.6g}</text>", x, rows + 18, tick);
  }
  html += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></svg><p class=\"legend blocks\">",
                      (left + width - right) / 2, rows + 36, milliseconds ? "milliseconds" : "microseconds");
  for (const std::string& group : groups) html += fmt::format("<span class=\"t{}\"><i></i>{}</span> ", colour.at(group), escape(group));
  return html + "</p></figure>\n";
}

}  // namespace quarkstar::app
