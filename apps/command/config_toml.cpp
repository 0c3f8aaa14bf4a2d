// TOML files of `quarkstar solve`: every value becomes the text that the flag of the same name takes.
#include "apps/command/config.hpp"
#include "apps/command/toml_text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app {
namespace {

[[noreturn]] void throw_unknown_key(const std::string& where) {
  std::vector<std::string_view> keys;
  for (const Setting& field : run_settings()) keys.push_back(field.key);
  throw Error(ErrorKind::input, where, "unknown key", fmt::format("use one of {}", fmt::join(keys, ", ")));
}

}  // namespace

std::vector<Assignment> read_toml(const std::string& path) {
  const toml::table table = parse_toml(path);
  std::vector<std::pair<unsigned, Assignment>> lines;
  for (const auto& [key, value] : table) {
    const unsigned line = key.source().begin.line;
    const std::string where = fmt::format("{}:{}: {}", path, line, key.str());
    const Setting* field = find_setting(key.str());
    if (field == nullptr) throw_unknown_key(where);
    lines.emplace_back(line, Assignment{std::string(key.str()), setting_text(value, where, field->separator), where});
  }
  // The table is sorted by key; errors should come in the order of the file.
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Assignment> settings;
  for (auto& [line, assignment] : lines) settings.push_back(std::move(assignment));
  return settings;
}

}  // namespace quarkstar::app
