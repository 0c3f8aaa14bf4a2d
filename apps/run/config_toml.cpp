// TOML files of `quarkstar solve`: every value becomes the text that the flag of the same name takes.
#include "apps/run/config.hpp"
#include "apps/run/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::app {
std::vector<Assignment> read_toml(const std::string& path) {
  const toml::table table = parse_toml(path);
  std::vector<std::pair<unsigned, Assignment>> lines;
  for (const auto& [key, value] : table) {
    const unsigned line = key.source().begin.line;
    const std::string where = fmt::format("{}:{}: {}", path, line, key.str());
    lines.emplace_back(line,
                       Assignment{std::string(key.str()), setting_text(value, where, setting_named(key.str(), where).separator), where});
  }
  // The table is sorted by key; errors should come in the order of the file.
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Assignment> settings;
  for (auto& [line, assignment] : lines) settings.push_back(std::move(assignment));
  return settings;
}

}  // namespace quarkstar::app
