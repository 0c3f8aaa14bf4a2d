#include "apps/print_tables.hpp"

#include <fmt/format.h>

#include <cmath>

namespace quarkstar::app {
namespace {

std::string mass_text(const std::vector<double>& mass, std::size_t t) {
  return t < mass.size() && std::isfinite(mass[t]) ? fmt::format("{:.6f}", mass[t]) : "-";
}

void print_solves(const RunReport& report) {
  const bool staggered = report.config.is_staggered();
  fmt::print("{:>6} {:>8} {:>6} {:>10} {:>15} {:>9} {:>8} {:>8}\n", "column", staggered ? "mass" : "spin", "colour", "iterations",
             "|b - M x|/|b|", "seconds", "GFLOP/s", "GB/s");
  for (const ColumnReport& c : report.solves)
    fmt::print("{:>6} {:>8} {:>6} {:>10} {:>15.3e} {:>9.4f} {:>8.2f} {:>8.2f}\n", c.column,
               c.mass ? fmt::format("{}", *c.mass) : fmt::format("{}", c.column / 3), c.column % 3, c.result.iterations, c.result.true_residual,
               c.result.seconds, c.gflops(), c.gbs());
}

void print_correlators(const RunReport& report) {
  fmt::print("\n{:>3}", "t");
  for (const CorrelatorReport& c : report.correlators) fmt::print(" {:>20}", c.name);
  fmt::print(" {:>14} {:>14}\n", "a m_pi (log)", "a m_pi (cosh)");
  const CorrelatorReport& pion = report.correlators.front();
  for (std::size_t t = 0; t < pion.values.size(); ++t) {
    fmt::print("{:>3}", t);
    for (const CorrelatorReport& c : report.correlators) fmt::print(" {:>20.12e}", c.values[t]);
    fmt::print(" {:>14} {:>14}\n", mass_text(pion.log_mass, t), mass_text(pion.cosh_mass, t));
  }
}

}  // namespace

void print_report(const RunReport& report) {
  print_solves(report);
  if (!report.correlators.empty()) print_correlators(report);
}

}  // namespace quarkstar::app
