#pragma once
// TOML files, whose values become the text that a flag takes.
#include <toml++/toml.h>

#include <functional>
#include <string>
#include <string_view>

namespace quarkstar::app {

/// The file as a table. Throws Error(input) naming file and line, and the page that explains its keys, for what cannot be opened or is no
/// TOML.
toml::table parse_toml(const std::string& path, std::string_view page = "docs/usage.md");

/// A scalar as text; a list as "a,b", a table as "key=a,key=b", with this separator. Throws Error(input) naming `where`
/// for anything else.
std::string setting_text(const toml::node& node, const std::string& where, std::string_view separator = ",");

/// Entries of a table in the order of the file, which the table itself forgets.
void in_order(const toml::table& table, const std::function<void(const std::string& key, const toml::node& value, unsigned line)>& body);

/// Throws Error(input) naming `where`, whose last word is the table's name, if the node is none.
const toml::table& table_of(const toml::node& node, const std::string& where);

}  // namespace quarkstar::app
