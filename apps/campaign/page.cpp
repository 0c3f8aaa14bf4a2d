#include "apps/campaign/page.hpp"

#include "apps/campaign/hadrons.hpp"
#include "apps/report/html_table.hpp"
#include "apps/report/plot_svg.hpp"
#include "apps/report/timeline_svg.hpp"
#include "apps/run/generate_run.hpp"
#include "apps/run/parse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace quarkstar::app::campaign {
namespace {

Series series_of(const std::string& name, const std::vector<Estimate>& estimates) {
  Series series{name, {}, {}};
  for (std::size_t t = 0; t < estimates.size(); ++t) {
    series.x.push_back(static_cast<double>(t));
    series.y.push_back(estimates[t].mean);
    series.errors.push_back(estimates[t].error);
  }
  return series;
}

/// "pion (cosh)"
std::string mass_name(const AverageCorrelator& correlator) {
  return fmt::format("{} ({})", correlator.name, correlator.goes_both_ways() ? "cosh" : "log");
}

std::string figures_of(const Average& average) {
  const std::string what = fmt::format("{} {}, {} source", average.kind, average.quark, average.source);
  Plot correlators{.title = "Correlators, |C|, " + what, .x_label = "t - t_source", .y_label = "|C(t)|", .log_y = true, .series = {}};
  Plot masses{.title = "Effective masses, " + what, .x_label = "t - t_source", .y_label = "a m(t)", .series = {}};
  for (const AverageCorrelator& c : average.correlators) {
    correlators.series.push_back(series_of(c.name, c.real));
    for (double& value : correlators.series.back().y) value = std::abs(value);
    if (!c.mass().empty()) masses.series.push_back(series_of(mass_name(c), c.mass()));
  }
  return figure(correlators) + figure(masses);
}

std::string masses_table(const Average& average) {
  constexpr std::size_t in_a_table = 8;
  std::string html;
  std::vector<AverageCorrelator> with_masses;
  for (const AverageCorrelator& c : average.correlators)
    if (!c.mass().empty()) with_masses.push_back(c);
  for (std::size_t begin = 0; begin < with_masses.size(); begin += in_a_table) {
    const std::span some = std::span(with_masses).subspan(begin, std::min(in_a_table, with_masses.size() - begin));
    TableRow head{"t - t_source"};
    for (const AverageCorrelator& c : some) head.push_back("a m " + mass_name(c));
    std::vector<TableRow> rows;
    for (std::size_t t = 0; t < some.front().mass().size(); ++t) {
      TableRow row{fmt::format("{}", t)};
      for (const AverageCorrelator& c : some)
        row.push_back(std::isfinite(c.mass()[t].mean) ? estimate_text(c.mass()[t].mean, c.mass()[t].error) : "-");
      rows.push_back(std::move(row));
    }
    html += table("", head, rows);
  }
  return html;
}

std::string errors_text(std::size_t configurations, int bin) {
  const std::string bins = bin > 1 ? fmt::format(", {} configurations in a bin", bin) : "";
  if (configurations < 2 * static_cast<std::size_t>(bin)) return "no errors, for which there have to be two bins" + bins;
  return "errors by jackknife" + bins;
}

std::string averages_section(const Outcome& outcome, const std::vector<Average>& averages) {
  if (averages.empty()) return "<p>No configuration has all its sources yet.</p>\n";
  std::string html;
  for (const Average& average : averages) {
    html += fmt::format("<h2>{} {}, {} source</h2>\n<p>{} of {} configurations; {}.</p>\n", average.kind == "quark" ? "Quark" : "Hadron",
                        escape(average.quark), escape(average.source), average.configurations.size(),
                        outcome.campaign.configurations.size(), errors_text(average.configurations.size(), outcome.campaign.bin));
    html += "<div class=\"plots\">\n" + figures_of(average) + "</div>\n" + masses_table(average);
  }
  return html;
}

std::string failures_section(const Outcome& outcome) {
  if (outcome.failures.empty()) return "";
  std::vector<TableRow> rows;
  for (const Failure& failure : outcome.failures)
    rows.push_back({failure.row.configuration, failure.row.quark.empty() ? "all" : failure.row.quark,
                    failure.row.source.empty() ? "all" : failure.row.source, failure.reason});
  return "<h2>Failures</h2>\n" + table("facts", {"configuration", "quark", "source", "reason"}, rows);
}

std::string lost_devices_section(const Outcome& outcome) {
  if (outcome.lost.empty()) return "";
  std::vector<TableRow> rows;
  for (const LostDevice& lost : outcome.lost) rows.push_back({lost.name, lost.reason});
  return "<h2>Devices that have failed</h2>\n<p>Others have done their rows.</p>\n" + table("facts", {"device", "reason"}, rows);
}

std::string configurations_section(const Outcome& outcome) {
  std::vector<TableRow> rows;
  for (const Configuration& configuration : outcome.campaign.configurations) {
    TableRow row{configuration.name, configuration.path};
    for (const Table* table : outcome.campaign.tables()) {
      const std::size_t missing = missing_sources(outcome.campaign, outcome.journal, configuration, *table).size();
      row.push_back(fmt::format("{} of {}", outcome.campaign.sources.size() - missing, outcome.campaign.sources.size()));
    }
    rows.push_back(std::move(row));
  }
  TableRow head{"configuration", "file"};
  for (const Table* table : outcome.campaign.tables()) head.push_back(fmt::format("{}: sources done", table->name));
  return "<h2>Configurations</h2>\n" + table("", head, rows);
}

std::string settings_section(const Campaign& campaign) {
  std::string html = "<h2>Settings</h2>\n";
  for (const Quark& quark : campaign.quarks) {
    std::vector<TableRow> rows;
    for (const auto& [key, value] : parameters_of(quark.config))
      if (!value.is_null() && value != "") rows.push_back({std::string(key), value.is_string() ? value.get<std::string>() : value.dump()});
    html += fmt::format("<h3>Quark {}</h3>\n", escape(quark.name)) + table("facts", {}, rows);
  }
  for (const Hadron& hadron : campaign.hadrons) {
    std::vector<TableRow> rows{{"quarks", campaign.quarks[hadron.quarks[0]].name + ", " + campaign.quarks[hadron.quarks[1]].name}};
    for (const auto& [key, value] : parameters_of(hadron.config))
      if (is_of_hadrons(key) && !value.is_null()) rows.push_back({std::string(key), value.dump()});
    html += fmt::format("<h3>Hadron {}</h3>\n", escape(hadron.name)) + table("facts", {}, rows);
  }
  return html;
}

}  // namespace

std::string page(const Outcome& outcome, const std::vector<Average>& averages) {
  const Campaign& campaign = outcome.campaign;
  const auto names = [](const auto& tables, const char* word) {
    std::vector<std::string> all;
    for (const Table& table : tables) all.push_back(table.name);
    return all.empty() ? "" : fmt::format(", {}{} {}", word, all.size() == 1 ? "" : "s", fmt::join(all, ", "));
  };
  const std::string title = fmt::format("Campaign {}: {} configurations{}{}", campaign.out, campaign.configurations.size(),
                                        names(campaign.quarks, "quark"), names(campaign.hadrons, "hadron"));
  std::string html = page_head(title);
  html += fmt::format("<p class=\"sub\">{}; last run: {} on {} ({}), {}; {} failures</p>\n", escape(campaign.file), outcome.started,
                      escape(outcome.host), escape(outcome.cpu_model), duration_text(outcome.seconds), outcome.failures.size());
  html += failures_section(outcome) + lost_devices_section(outcome) + averages_section(outcome, averages);
  if (outcome.spent) html += fmt::format("<pre>{}</pre>\n", escape(text_of(*outcome.spent)));
  if (outcome.first) html += "<h2>Devices</h2>\n<div class=\"plots\">\n" + timeline_figure(*outcome.first) + "</div>\n";
  html += configurations_section(outcome) + settings_section(campaign);
  return html + fmt::format("<h2>Versions</h2>\n<p>{}</p>\n</body></html>\n", escape(version_line()));
}

}  // namespace quarkstar::app::campaign
