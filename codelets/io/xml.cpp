#include "codelets/io/xml.hpp"

#include "codelets/io/text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>

namespace quarkstar::format {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

std::string_view local_name(std::string_view name) {
  const auto colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

struct Collector final : pugi::xml_tree_walker {
  Values values;

  bool for_each(pugi::xml_node& node) override {
    if (node.type() != pugi::node_element) return true;
    const bool has_children = static_cast<bool>(node.find_child([](pugi::xml_node c) { return c.type() == pugi::node_element; }));
    if (!has_children) values.emplace_back(local_name(node.name()), trim(node.text().get()));
    return true;
  }
};

/// Elements of a text that is not XML: every <name ...>value that runs up to the next '<'.
Values scan(std::string_view text) {
  Values values;
  std::size_t position = 0;
  while ((position = text.find('<', position)) != std::string_view::npos) {
    const auto close = text.find_first_of("<>", position + 1);
    if (close == std::string_view::npos) break;
    std::string_view tag = trim(text.substr(position + 1, close - position - 1));
    position = close;
    if (text[close] == '<' || tag.empty() || tag.front() == '/' || tag.front() == '?' || tag.back() == '/') continue;
    tag = tag.substr(0, tag.find_first_of(" \t\r\n"));
    const auto next = text.find('<', close + 1);
    const std::string_view value = trim(text.substr(close + 1, next == std::string_view::npos ? next : next - close - 1));
    if (!value.empty()) values.emplace_back(local_name(tag), value);
  }
  return values;
}

}  // namespace

XmlValues::XmlValues(std::string where, std::string_view text) : where_(std::move(where)) {
  pugi::xml_document document;
  well_formed_ = static_cast<bool>(document.load_buffer(text.data(), text.size()));
  if (well_formed_) {
    Collector collector;
    document.traverse(collector);
    values_ = std::move(collector.values);
  } else {
    values_ = scan(text);
  }
}

std::optional<std::string> XmlValues::text(std::string_view name) const {
  const auto found = std::find_if(values_.begin(), values_.end(), [&](const auto& value) { return value.first == name; });
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> XmlValues::integer(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto number = parse_integer(*value);
  if (!number) reject(name, "an integer");
  return number;
}

std::optional<std::vector<std::int64_t>> XmlValues::integers(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  constexpr std::size_t most_numbers = 16;
  std::vector<std::int64_t> numbers;
  for (std::string_view rest = trim(*value); !rest.empty();) {
    const auto end = std::min(rest.find_first_of(" \t\r\n"), rest.size());
    const auto number = parse_integer(rest.substr(0, end));
    if (!number || numbers.size() == most_numbers) reject(name, "a short list of integers");
    numbers.push_back(*number);
    rest = trim(rest.substr(end));
  }
  return numbers;
}

std::optional<std::uint32_t> XmlValues::hex32(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto number = parse_hex32(*value);
  if (!number) reject(name, "a hexadecimal 32-bit number");
  return number;
}

void XmlValues::reject(std::string_view name, std::string_view expected) const {
  throw Error(ErrorKind::input, where_,
              fmt::format("<{}> is not {} ({} = {})", name, expected, name, printable(text(name).value_or("nothing"))),
              "the file is damaged or not of this kind: copy it again");
}

std::string xml_escape(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace quarkstar::format
