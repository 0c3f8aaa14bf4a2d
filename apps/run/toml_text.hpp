#pragma once
// TOML files, whose values become the text that a flag takes.
#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace quarkstar::app {

/// The file as a table. Throws Error(input) naming file and line, and the page that explains its keys, for what cannot be opened or is no
/// TOML.
toml::table parse_toml(const std::string& path, std::string_view page = "docs/usage.md");

/// A scalar as text; a list as "a,b", a table as "key=a,key=b", with this separator. Throws Error(input) naming `where`
/// for anything else.
std::string setting_text(const toml::node& node, const std::string& where, std::string_view separator = ",");

}  // namespace quarkstar::app
