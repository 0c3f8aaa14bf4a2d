#pragma once
// How the reference tests read the reference data.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/gauge_file.hpp"
#include "tests/reference/data.hpp"

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
