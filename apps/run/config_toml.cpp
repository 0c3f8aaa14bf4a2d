// TOML files of `quarkstar solve`: every value becomes the text that the flag of the same name takes.
#include "apps/run/config.hpp"
#include "apps/run/toml_text.hpp"

#include <fmt/format.h>

namespace quarkstar::app {
std::vector<Assignment> read_toml(const std::string& path) {
  const toml::table table = parse_toml(path);
  std::vector<Assignment> settings;
  in_order(table, [&](const std::string& key, const toml::node& value, unsigned line) {
    const std::string where = fmt::format("{}:{}: {}", path, line, key);
    settings.push_back({key, setting_text(value, where, setting_named(key, where).separator), where});
  });
  return settings;
}

}  // namespace quarkstar::app
