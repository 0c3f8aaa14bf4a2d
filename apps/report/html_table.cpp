#include "apps/report/html_table.hpp"

#include "apps/report/plot_svg.hpp"
#include "apps/report/report_style.hpp"

#include <fmt/format.h>

namespace quarkstar::app {

std::string table(const char* kind, const TableRow& head, const std::vector<TableRow>& rows) {
  std::string html = fmt::format("<div class=\"scroll\"><table class=\"{}\">", kind);
  const auto add_row = [&html](const TableRow& cells, const char* tag) {
    html += "<tr>";
    for (const std::string& cell : cells) html += fmt::format("<{0}>{1}</{0}>", tag, escape(cell));
    html += "</tr>\n";
  };
  if (!head.empty()) add_row(head, "th");
  for (const TableRow& row : rows) add_row(row, "td");
  return html + "</table></div>\n";
}

std::string page_head(const std::string& title, const std::string& more_style) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title><style>{1}{2}</style></head><body>\n<h1>{0}</h1>",
      escape(title), report_style, more_style);
}

}  // namespace quarkstar::app
