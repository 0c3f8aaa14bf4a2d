#pragma once
// What the tests of apps/ share: a folder of their own, and a report with
// made-up results.
#include "apps/run/report.hpp"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace quarkstar::testing {

/// A new empty folder, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "quarkstar-app-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    const std::filesystem::directory_iterator all(path_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_file(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// Columns with a different number in every component.
inline Propagators counted_propagators(const Coord& extents) {
  Propagator propagator;
  for (int column = 0; column < 12; ++column) {
    HostField field(spinor_components, extents);
    for (std::size_t i = 0; i < field.data.size(); ++i) field.data[i] = {column + 0.001 * static_cast<double>(i), -0.5 * column};
    propagator.columns.push_back(std::move(field));
  }
  return {propagator};
}

/// A finished run of 12 columns on a small lattice.
inline app::RunReport made_up_report(const Coord& extents) {
  app::RunReport report;
  report.config.propagator_files = {"hdf5", "scidac"};
  report.config.gauge = "lat.<0>.nersc";  // must be escaped in HTML
  report.gauge = {"lat.<0>.nersc", "NERSC", extents, 0.59, 0.58, 0.01};
  report.started = "2024-01-01T00:00:00Z";
  report.host = "host";
  report.cpu_model = "A & B";
  for (int column = 0; column < 12; ++column) {
    SolveResult result;
    result.reason = StopReason::converged;
    result.iterations = 10 + column;
    result.true_residual = 1e-11;
    result.seconds = 0.5;
    result.flops = 1e9;
    result.bytes = 2e9;
    result.residual_history = {0.1, 1e-5, 1e-11};
    report.solves.push_back({column, result});
  }
  double height = 0;
  for (const char* name : {"pion", "rho_x", "rho_y", "rho_z"}) {
    std::vector<double> values;
    for (int t = 0; t < extents[3]; ++t) values.push_back(std::cosh(0.5 * t - 0.25 * extents[3]) + (height += 0.01));
    report.correlators.push_back(correlator_of(name, values));
  }
  report.correlators.push_back(correlator_of("pion_p1,0,0", report.correlators.front().values, std::vector<double>(extents[3], 0.125)));
  report.workers = {{"CPU 0", "CPU", {0, 1}, 0.9}};
  report.timeline = {{0, 0, "wilson.double.18.interior", 100, 140}, {0, 1, "blas.norm", 141, 150}};
  return report;
}

}  // namespace quarkstar::testing
