#pragma once
// What all fuzz targets demand: any bytes either are read or give one Error(input) in one printable line.
#include "codelets/io/byte_source.hpp"
#include "codelets/io/gauge_file.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>

namespace quarkstar::fuzzing {

inline std::unique_ptr<format::ByteSource> input(const std::uint8_t* data, std::size_t size) {
  return format::from_memory("input", std::as_bytes(std::span(data, size)));
}

/// Runs `action`; ends the process if it throws anything but a proper Error(input).
template <class Action>
void demand_clear_error(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string_view line = error.what();
    const bool printable = std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (error.kind() != ErrorKind::input || !printable || line.find("input") == std::string_view::npos) std::abort();
  }
}

/// Reads the whole configuration; wrong checksums are only noted, so that the links behind them are decoded too.
inline void read_gauge_from(const std::uint8_t* data, std::size_t size) {
  format::GaugeReadOptions options;
  options.checksums = format::ChecksumPolicy::report;
  demand_clear_error([&] { (void)format::read_gauge(format::GaugeFile(input(data, size), options)); });
}

}  // namespace quarkstar::fuzzing
