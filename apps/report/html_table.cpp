#include "apps/report/html_table.hpp"

#include "apps/report/plot_svg.hpp"

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

}  // namespace quarkstar::app
