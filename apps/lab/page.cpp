#include "apps/lab/page.hpp"

#include "apps/lab/charts.hpp"
#include "apps/lab/page_script.hpp"
#include "apps/lab/simulation_check.hpp"
#include "apps/lab/trace.hpp"
#include "apps/report/html_table.hpp"
#include "apps/report/plot_svg.hpp"
#include "apps/report/timeline_svg.hpp"
#include "apps/run/report.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace quarkstar::app::lab {
namespace {

/// Tasks that the page holds, in all and of one trace.
constexpr std::size_t most_tasks = 40000, most_of_a_trace = 4000;

constexpr char page_style[] = R"(
.verdict { padding: .5rem .8rem; border-radius: 6px; border: 1px solid var(--line); background: var(--card); margin: .8rem 0 0; border-left: 5px solid var(--c2); }
.verdict.bad { border-left-color: var(--c1); font-weight: 600; }
canvas { display: block; width: 100%; touch-action: none; cursor: grab; } canvas:focus-visible { outline: 2px solid var(--c0); }
#strip { cursor: pointer; margin-bottom: .4rem; }
.controls { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-bottom: .6rem; font-size: 13px; color: var(--soft); }
.controls button, .controls select { font: inherit; color: var(--fg); background: var(--bg); border: 1px solid var(--line); border-radius: 4px; padding: .2rem .6rem; max-width: 100%; }
h3 { font-size: .95rem; margin: .9rem 0 .3rem; } p.sub { font-size: 13px; margin-top: .4rem; }
#trace-tip { position: fixed; z-index: 1; background: var(--fg); color: var(--bg); padding: .2rem .5rem; border-radius: 4px; font-size: 12px; pointer-events: none; }
svg path.interval { stroke-width: 8; opacity: .35; } svg circle.run { opacity: .7; }
table.sorts th { cursor: pointer; } table.sorts th[data-order=up]::after { content: " \2191"; } table.sorts th[data-order=down]::after { content: " \2193"; }
)";

/// Part of the workers' own time: that of a run whose workers were watched, which need not be the one that was timed.
std::string share_of_workers(const CellSummary& cell, std::optional<double> WorkerTimes::*part) {
  const auto share = cell.mean([&](const Results& r) -> std::optional<double> {
    double sum = 0, total = 0;
    for (const WorkerTimes& worker : r.workers) {
      if (!(worker.*part) || !worker.total) return std::nullopt;
      sum += *(worker.*part);
      total += *worker.total;
    }
    return total > 0 ? std::optional(sum / total) : std::nullopt;
  });
  return share ? fmt::format("{:.1f} %", 100 * *share) : "unavailable";
}

std::string moved(const CellSummary& cell) {
  const auto bytes = cell.mean([](const Results& r) -> std::optional<double> {
    double sum = 0;
    for (const LinkBytes& link : r.links) sum += link.bytes;
    return r.links.empty() ? std::nullopt : std::optional(sum);
  });
  return bytes ? fmt::format("{:.4g}", *bytes * 1e-6) : "unavailable";
}

/// Takes out the columns that no row has a value of; their names.
std::vector<std::string> remove_unavailable(TableRow& head, std::vector<TableRow>& rows) {
  std::vector<std::string> names;
  for (std::size_t c = head.size(); c-- > 0;) {
    if (!std::all_of(rows.begin(), rows.end(), [c](const TableRow& row) { return row[c] == "unavailable"; })) continue;
    names.insert(names.begin(), head[c]);
    head.erase(head.begin() + static_cast<std::ptrdiff_t>(c));
    for (TableRow& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return names;
}

std::string summary_table(const std::vector<CellSummary>& cells) {
  std::set<std::string> keys;
  TableRow head;
  for (const CellSummary& cell : cells)
    for (const auto& [key, value] : cell.cell->varying)
      if (keys.insert(key).second) head.push_back(key);
  const std::size_t axes = head.size();
  if (axes == 0) head.push_back("cell");
  head.insert(head.end(), {"seconds", "+-", "/ fastest", "/ bound", "runs", "failed", "GFLOP/s", "GB/s", "iterations", "tasks", "us/task",
                           "busy", "idle", "overhead", "transfer", "MB moved", "J", "J s"});
  std::vector<TableRow> rows;
  std::set<std::string> bounds;
  for (const CellSummary& cell : cells) {
    TableRow row;
    for (std::size_t a = 0; a < axes; ++a) {
      const std::string* value = find(cell.cell->varying, head[a]);
      row.push_back(value != nullptr ? *value : "-");
    }
    if (axes == 0) row.push_back(cell.cell->name());
    const auto mean = [&](std::optional<double> Results::*member) {
      return text_of(cell.mean([member](const Results& r) { return r.*member; }));
    };
    row.insert(row.end(),
               {std::isfinite(cell.seconds.mean) ? fmt::format("{:.5g}", cell.seconds.mean) : "unavailable",
                std::isfinite(cell.seconds.error) ? fmt::format("{:.2g}", cell.seconds.error) : "unavailable", text_of(cell.over_fastest),
                cell.over_bound_text(), fmt::format("{}", cell.measured.size()), fmt::format("{}", cell.failed.size()),
                text_of(cell.mean(&Results::gflops)), text_of(cell.mean(&Results::gbs)), mean(&Results::iterations), mean(&Results::tasks),
                mean(&Results::us_per_task), share_of_workers(cell, &WorkerTimes::busy), share_of_workers(cell, &WorkerTimes::idle),
                share_of_workers(cell, &WorkerTimes::overhead), share_of_workers(cell, &WorkerTimes::transfer), moved(cell),
                mean(&Results::joules), text_of(cell.mean(&Results::energy_delay))});
    rows.push_back(std::move(row));
    if (const std::string bound = cell.bound(); !bound.empty()) bounds.insert(bound);
  }
  const std::vector<std::string> missing = remove_unavailable(head, rows);
  return table("sorts", head, rows) + fmt::format(
                                          "<p class=\"sub\">Means over the measured runs; +-: half of the {:.0f} % confidence interval of "
                                          "the mean (Student's t). / fastest: over the fastest "
                                          "cell of the same problem. / bound: over a lower bound{}. us/task: time of the owners outside "
                                          "kernels. busy to transfer: parts of the workers' own time. "
                                          "J s: energy-delay product. A click on a head sorts. {}</p>\n<p class=\"sub\">{}</p>\n",
                                          100 * confidence, bounds.empty() ? "" : escape(fmt::format(" ({})", fmt::join(bounds, "; "))),
                                          escape(note_on_bounds(cells)),
                                          missing.empty() ? "" : fmt::format("Unavailable for all cells: {}.", fmt::join(missing, ", ")));
}

/// Text inside a JSON string inside a script.
std::string quoted(const std::string& text) {
  std::string json = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  return json;
}

std::string quoted(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) parts.push_back(quoted(text));
  return fmt::format("[{}]", fmt::join(parts, ","));
}

std::string trace_json(const std::string& name, const Trace& trace) {
  std::vector<std::string> groups;
  std::vector<std::size_t> group_of;
  for (std::size_t i = 0; i < trace.names.size(); ++i) {
    const std::string group = task_group(trace.names[i], trace.kinds[i]);
    const auto known = std::find(groups.begin(), groups.end(), group);
    group_of.push_back(static_cast<std::size_t>(known - groups.begin()));
    if (known == groups.end()) groups.push_back(group);
  }
  std::set<int> blocks;
  std::string tasks;
  for (const TraceTask& task : trace.tasks) {
    if (task.block >= 0) blocks.insert(task.block);
    tasks += fmt::format("{}[{},{},{},{:.2f},{:.2f}]", tasks.empty() ? "" : ",", task.worker, task.block, task.name, task.begin_us,
                         task.duration_us);
  }
  return fmt::format("{{\"name\":{},\"workers\":{},\"names\":{},\"groups\":{},\"group\":[{}],\"blocks\":[{}],\"all\":{},\"tasks\":[{}]}}",
                     quoted(name), quoted(trace.workers), quoted(trace.names), quoted(groups), fmt::join(group_of, ","),
                     fmt::join(blocks, ","), trace.all_tasks, tasks);
}

constexpr char trace_viewer[] = R"(<figure class="wide"><div class="controls"><label>run <select id="trace-choice"></select></label>
<button id="zoom-in" type="button">zoom in</button><button id="zoom-out" type="button">zoom out</button><button id="zoom-all" type="button">all</button>
<span id="trace-note"></span></div>
<canvas id="strip" aria-label="the whole run; a click moves the piece that is shown"></canvas>
<h3>Workers</h3><div><canvas id="gantt" tabindex="0" role="img" aria-label="Gantt chart: one row per worker, one bar per task"></canvas></div>
<p class="legend blocks" id="trace-legend"></p>
<h3>Who ran what: blocks, in the colour of the worker that ran the task</h3><div><canvas id="map" tabindex="0" role="img" aria-label="map: one row per block, coloured by worker"></canvas></div>
<p class="legend blocks" id="worker-legend"></p>
<p class="sub">Click a chart first, then the wheel zooms (or hold Ctrl); drag to move; double click shows all; keys + - 0 and arrows. A bar's task: hover.</p>
<div id="trace-tip" hidden></div></figure>
)";

std::string traces_section(const Plan& plan, const std::vector<CellSummary>& cells) {
  std::string json, problems;
  const auto traced =
      static_cast<std::size_t>(std::count_if(cells.begin(), cells.end(), [](const CellSummary& c) { return c.traced != nullptr; }));
  for (const CellSummary& cell : cells) {
    if (cell.traced == nullptr) continue;
    try {
      const Trace trace = read_trace(plan.out + "/" + cell.traced->trace, std::min(most_of_a_trace, most_tasks / traced));
      if (!trace.tasks.empty()) json += (json.empty() ? "" : ",\n") + trace_json(cell.cell->name(), trace);
    } catch (const Error& error) {
      problems += fmt::format("<p>unavailable: {}</p>\n", escape(error.what()));
    }
  }
  if (json.empty()) return problems + (traced == 0 ? "<p>unavailable: no run was traced (--traces)</p>\n" : "");
  return trace_viewer + problems + "<script type=\"application/json\" id=\"traces\">[" + json + "]</script>\n";
}

std::string links_table(const std::vector<CellSummary>& cells) {
  std::vector<TableRow> rows;
  for (const CellSummary& cell : cells) {
    if (cell.measured.empty()) continue;
    std::map<std::pair<std::string, std::string>, double> bytes;
    for (const Record* record : cell.measured)
      for (const LinkBytes& link : record->results.links)
        bytes[{link.from, link.to}] += link.bytes / static_cast<double>(cell.measured.size());
    for (const auto& [ends, count] : bytes)
      rows.push_back({cell.cell->name(), ends.first, ends.second, fmt::format("{:.4g}", count * 1e-6)});
  }
  return rows.empty() ? "<p>unavailable: the runs told no bytes of links</p>\n" : table("", {"cell", "from", "to", "MB per run"}, rows);
}

std::string failures_section(const Outcome& outcome, const std::vector<CellSummary>& cells) {
  std::vector<TableRow> rows;
  for (const CellSummary& cell : cells)
    for (const Record* record : cell.failed) rows.push_back({record->name(), std::string(name_of(record->status)), record->message});
  std::string html;
  if (!rows.empty()) html += "<h2>Runs that failed</h2>\n" + table("facts", {"run", "status", "message"}, rows);
  if (outcome.left_out.empty()) return html;
  html += "<h2>Left out</h2>\n<ul>";
  for (const std::string& combination : outcome.left_out) html += fmt::format("<li>{}</li>", escape(combination));
  return html + "</ul>\n";
}

std::string simulation_section(const std::vector<CellSummary>& cells) {
  std::string html;
  for (const SimulationCheck& check : compare_simulated(cells)) {
    std::vector<TableRow> rows;
    for (const SimulatedPair& pair : check.pairs)
      rows.push_back({pair.here->cell->name(), fmt::format("{:.4g}", 1e6 * pair.seconds_here),
                      fmt::format("{:.4g}", 1e6 * pair.seconds_simulated), fmt::format("{:+.1f} %", 100 * pair.error())});
    html += fmt::format("<p>{}</p>\n", escape(check.text())) + table("", {"cell", "us per iteration, here", "simulated", "error"}, rows);
  }
  return html.empty() ? "" : "<h2>Simulated beside measured</h2>\n" + html;
}

std::string parameters_section(const Plan& plan, const Outcome& outcome) {
  std::vector<TableRow> rows{
      {"run", plan.workload == Workload::solve ? "solve" : "bench solver"},
      {"configuration", plan.workload == Workload::bench_solver ? "none is read: links of the bench's own"
                        : plan.gauge.empty() ? fmt::format("made: heatbath, beta {:g}, {} sweeps", plan.beta, plan.sweeps)
                                             : plan.gauge},
      {"order", fmt::format("random, --seed {}", outcome.seed)},
      {"repetitions", fmt::format("{}, after {} warm-up runs of each cell", plan.repetitions, plan.warm_up)},
      {"time limit of a run", fmt::format("{:g} s", plan.limit_seconds)}};
  for (const Assignment& setting : plan.fixed) rows.push_back({setting.key, setting.value});
  for (const Bandwidth& bandwidth : outcome.bandwidths)
    rows.push_back({"triad, " + (bandwidth.devices.empty() ? "default devices" : text_of(bandwidth.devices)),
                    bandwidth.triad ? fmt::format("{:.4g} GB/s", *bandwidth.triad) : "unavailable: " + bandwidth.unavailable});
  return table("facts", {}, rows);
}

}  // namespace

std::string page(const Plan& plan, const Outcome& outcome, const std::vector<CellSummary>& cells, const HistoryCheck& histories) {
  std::set<std::string> machines, days;
  for (const Record& record : outcome.records) {
    if (!record.results.machine.empty()) machines.insert(record.results.machine);
    days.insert(record.started.substr(0, 10));
  }
  std::vector<std::string> axes;
  for (const Axis& axis : plan.axes)
    if (axis.values.size() > 1) axes.push_back(fmt::format("{} {}", axis.values.size(), axis.key));
  const std::string title = axes.empty() ? "Scheduler laboratory" : fmt::format("Scheduler laboratory: {}", fmt::join(axes, " x "));
  std::size_t failed = 0, good = 0;
  for (const Record& record : outcome.records) ++(record.ok() ? good : failed);
  std::string html = page_head(title, page_style);
  html += fmt::format("<p class=\"sub\">{} on {}; {} cells, {} runs ended well, {} failed</p>\n", fmt::join(days, ", "),
                      machines.empty() ? "an unknown machine" : escape(fmt::format("{}", fmt::join(machines, "; "))), cells.size(), good,
                      failed);
  html += fmt::format("<p class=\"verdict{}\">{}</p>\n", histories.disagreements.empty() ? "" : " bad", escape(histories.text()));
  html += "<h2>Cells</h2>\n" + summary_table(cells);
  html += "<h2>Times</h2>\n<div class=\"plots\">" + times_figure(cells) + workers_figure(cells) + "</div>\n";
  html += "<h2>What ran when</h2>\n" + traces_section(plan, cells);
  html += "<h2>Roofline and energy</h2>\n<div class=\"plots\">" + roofline_figure(cells) + energy_figure(cells) + order_figure(cells) +
          "</div>\n";
  html += "<h2>Bytes between memories</h2>\n" + links_table(cells);
  html += simulation_section(cells);
  html += failures_section(outcome, cells);
  html += "<h2>Plan</h2>\n" + parameters_section(plan, outcome);
  html += fmt::format("<h2>Versions</h2>\n<p>{}</p>\n<script>{}</script></body></html>\n", escape(version_line()), page_script);
  return html;
}

}  // namespace quarkstar::app::lab
