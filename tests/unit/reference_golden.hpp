#pragma once
// Where the reference data are, and how the reference tests read them.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/gauge_file.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::reference {

/// The folder of reference data (docs/conventions.md, section 12): $QUARKSTAR_DATA, else ../shared/data beside the source tree; without
/// one, says so in one line and returns nothing.
inline std::optional<std::filesystem::path> data_directory(const std::string& test_case) {
  const char* named = std::getenv("QUARKSTAR_DATA");
  const std::filesystem::path folder = named ? named : QUARKSTAR_SOURCE_DIR "/../shared/data";
  if (std::filesystem::exists(folder / "golden.json")) return folder;
  std::cout << "SKIPPED " << test_case << ": no reference data\n";
  return std::nullopt;
}

inline nlohmann::json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream);
}

/// Every |actual[t] / expected[t] - 1| < tolerance.
inline void check_correlator(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t t = 0; t < actual.size(); ++t) {
    CAPTURE(t);
    CAPTURE(actual[t]);
    CAPTURE(expected[t]);
    CHECK(std::abs(actual[t] / expected[t] - 1.0) < tolerance);
  }
}

}  // namespace quarkstar::reference
