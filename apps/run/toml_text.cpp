#include "apps/run/toml_text.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace quarkstar::app {
namespace {

std::string scalar_text(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  throw Error(ErrorKind::input, where, "the value has a type that no setting takes",
              "use a string, a number, true or false, a list of them, or { t = \"antiperiodic\" }");
}

}  // namespace

std::string setting_text(const toml::node& node, const std::string& where, std::string_view separator) {
  std::vector<std::string> parts;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& element : *list) {
      const toml::array* numbers = element.as_array();  // such as a momentum
      const auto is_number = [](const toml::node& node) { return node.is_number(); };
      const bool is_one = numbers != nullptr && separator != "," && std::all_of(numbers->begin(), numbers->end(), is_number);
      parts.push_back(is_one ? setting_text(element, where) : scalar_text(element, where));
    }
  } else if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table) parts.push_back(fmt::format("{}={}", key.str(), scalar_text(value, where)));
  } else {
    return scalar_text(node, where);
  }
  return fmt::format("{}", fmt::join(parts, separator));
}

void in_order(const toml::table& table, const std::function<void(const std::string& key, const toml::node& value, unsigned line)>& body) {
  std::vector<std::pair<unsigned, std::string>> order;
  for (const auto& [key, value] : table) order.emplace_back(key.source().begin.line, std::string(key.str()));
  std::stable_sort(order.begin(), order.end());
  for (const auto& [line, key] : order) body(key, *table.get(key), line);
}

const toml::table& table_of(const toml::node& node, const std::string& where) {
  if (const toml::table* table = node.as_table()) return *table;
  throw Error(ErrorKind::input, where, "this is a table",
              fmt::format("write it as [{}] above its keys", where.substr(where.rfind(' ') + 1)));
}

toml::table parse_toml(const std::string& path, std::string_view page) {
  try {
    return toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    const bool opened = error.source().begin.line > 0;
    throw Error(ErrorKind::input, opened ? fmt::format("{}:{}", path, error.source().begin.line) : path, std::string(error.description()),
                opened ? fmt::format("see {} for the keys and an example", page) : "check the path");
  }
}

}  // namespace quarkstar::app
