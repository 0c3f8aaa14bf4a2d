// TOML files of `quarkstar solve`: every value becomes the text that the flag of the same name takes.
#include "apps/config.hpp"
#include "runtime/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>

namespace quarkstar::app {
namespace {

std::string scalar_text(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  throw Error(ErrorKind::input, where, "the value has a type that no setting takes",
              "use a string, a number, true or false, a list of numbers, or { t = \"antiperiodic\" }");
}

/// Lists become "a,b", tables "key=a,key=b".
std::string text_of(const toml::node& node, const std::string& where) {
  std::vector<std::string> parts;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& element : *list) parts.push_back(scalar_text(element, where));
  } else if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table) parts.push_back(fmt::format("{}={}", key.str(), scalar_text(value, where)));
  } else {
    return scalar_text(node, where);
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

[[noreturn]] void throw_unknown_key(const std::string& where) {
  std::vector<std::string_view> keys;
  for (const Field& field : run_fields()) keys.push_back(field.key);
  throw Error(ErrorKind::input, where, "unknown key", fmt::format("use one of {}", fmt::join(keys, ", ")));
}

toml::table parse(const std::string& path) {
  try {
    return toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    const bool opened = error.source().begin.line > 0;
    throw Error(ErrorKind::input, opened ? fmt::format("{}:{}", path, error.source().begin.line) : path,
                std::string(error.description()),
                opened ? "see docs/usage.md for the keys and an example" : "check the path");
  }
}

}  // namespace

std::vector<Assignment> read_toml(const std::string& path) {
  const toml::table table = parse(path);
  std::vector<std::pair<unsigned, Assignment>> lines;
  for (const auto& [key, value] : table) {
    const unsigned line = key.source().begin.line;
    const std::string where = fmt::format("{}:{}: {}", path, line, key.str());
    if (find_field(key.str()) == nullptr) throw_unknown_key(where);
    lines.emplace_back(line, Assignment{std::string(key.str()), text_of(value, where), where});
  }
  // The table is sorted by key; errors should come in the order of the file.
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Assignment> settings;
  for (auto& [line, assignment] : lines) settings.push_back(std::move(assignment));
  return settings;
}

}  // namespace quarkstar::app
