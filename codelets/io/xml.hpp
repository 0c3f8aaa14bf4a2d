#pragma once
// The small XML documents inside SciDAC and ILDG files, read even where they are not well-formed.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarkstar::format {

/// How the documents that we write begin.
constexpr std::string_view xml_declaration = R"(<?xml version="1.0" encoding="UTF-8"?>)";

/// Flat view of an XML document: the elements that contain text only, by name. Namespace prefixes are dropped.
///
/// Real files carry documents without a closing tag, with text before the declaration, or cut short. Where the parser
/// gives up, elements are found by scanning the text for <name>value<, as QIO itself does.
class XmlValues {
 public:
  /// where: file and record, for messages.
  XmlValues(std::string where, std::string_view text);

  const std::string& where() const noexcept { return where_; }
  bool well_formed() const noexcept { return well_formed_; }
  /// Name and trimmed text of each element, in document order.
  const std::vector<std::pair<std::string, std::string>>& values() const noexcept { return values_; }

  /// Text of the first element of that name.
  std::optional<std::string> text(std::string_view name) const;
  /// The same as an integer; Error(input) if it is there but is none.
  std::optional<std::int64_t> integer(std::string_view name) const;
  /// The same as a list of integers separated by blanks.
  std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;
  /// The same as a hexadecimal 32-bit number.
  std::optional<std::uint32_t> hex32(std::string_view name) const;

  /// Error(input): element `name` is not what was expected.
  [[noreturn]] void reject(std::string_view name, std::string_view expected) const;

 private:
  std::string where_;
  bool well_formed_ = false;
  std::vector<std::pair<std::string, std::string>> values_;
};

/// Text with &, <, > replaced by entities.
std::string xml_escape(std::string_view text);

}  // namespace quarkstar::format
