#pragma once
// Parts of a page.
#include <string>
#include <vector>

namespace quarkstar::app {

using TableRow = std::vector<std::string>;

/// <table> of a style sheet's class, scrolled where it is too wide; cells are escaped. Without `head` there is no first row of names.
std::string table(const char* kind, const TableRow& head, const std::vector<TableRow>& rows);

/// The page up to the beginning of its body, with the report's style sheet and more of it, and the title as a heading.
std::string page_head(const std::string& title, const std::string& more_style = "");

}  // namespace quarkstar::app
