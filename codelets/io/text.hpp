#pragma once
// Strict conversion of header text: the whole text must be the number, nothing else.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quarkstar::format {

/// Text without blanks, line ends and NULs at both ends.
inline std::string_view trim(std::string_view text) {
  constexpr std::string_view blank(" \t\r\n\f\v\0", 7);
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Decimal integer, or nothing if the text is not one or does not fit into 64 bits.
inline std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = trim(text);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Hexadecimal 32-bit number with or without 0x.
inline std::optional<std::uint32_t> parse_hex32(std::string_view text) {
  text = trim(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Finite real number.
inline std::optional<double> parse_real(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Text from a file as plain ASCII: anything else than printable characters, blanks and line ends becomes '?'.
inline std::string plain_text(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    const bool plain = (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
    if (!plain) c = '?';
  }
  return result;
}

/// Text from a file made fit for a message: at most 80 characters, unprintable ones as '?'.
inline std::string printable(std::string_view text) {
  std::string result(text.substr(0, 80));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  if (text.size() > 80) result += "...";
  return result;
}

}  // namespace quarkstar::format
