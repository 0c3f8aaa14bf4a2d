#pragma once
// Tables of a page.
#include <string>
#include <vector>

namespace quarkstar::app {

using TableRow = std::vector<std::string>;

/// <table> of a style sheet's class, scrolled where it is too wide; cells are escaped. Without `head` there is no first row of names.
std::string table(const char* kind, const TableRow& head, const std::vector<TableRow>& rows);

}  // namespace quarkstar::app
