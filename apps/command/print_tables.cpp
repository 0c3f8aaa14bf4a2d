#include "apps/command/print_tables.hpp"

#include "apps/run/multigrid_report.hpp"
#include "codelets/actions/action_kind.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

namespace quarkstar::app {
namespace {

std::string mass_text(const std::vector<double>& mass, std::size_t t) {
  return t < mass.size() && std::isfinite(mass[t]) ? fmt::format("{:.6f}", mass[t]) : "-";
}

/// A line for the solves of each hadron and sink, which follow each other.
void print_sequential(const RunReport& report) {
  for (auto first = report.sequential.begin(), last = first; first != report.sequential.end(); first = last) {
    last = std::find_if(first, report.sequential.end(), [&](const SequentialReport& s) {
      return s.hadron != first->hadron || s.sink != first->sink || s.solve.mass != first->solve.mass;
    });
    ColumnReport whole = first->solve;
    whole.result = {};
    for (runtime::EnergyReading* reading : {&whole.energy.cpu, &whole.energy.gpu}) reading->joules = 0;
    for (const SequentialReport& s : std::span(first, last)) {
      whole.result.iterations += s.solve.result.iterations;
      whole.result.seconds += s.solve.result.seconds;
      whole.result.flops += s.solve.result.flops;
      whole.energy.cpu.joules += s.solve.energy.cpu.joules;
      whole.energy.gpu.joules += s.solve.energy.gpu.joules;
    }
    const runtime::EnergyReading energy = whole.energy.total();
    fmt::print("sequential {}, sink {}{}: {} solves, {} iterations, {:.4f} s, {:.2f} GFLOP/s{}\n", first->hadron, first->sink,
               first->solve.mass ? fmt::format(", {} {}", report.config.action->mass_key, *first->solve.mass) : "", last - first,
               whole.result.iterations, whole.result.seconds, whole.gflops(),
               energy.available() ? fmt::format(", {:.1f} J", energy.joules) : "");
  }
}

void print_multigrid(const RunReport& report, const OperatorReport& of) {
  if (of.levels.empty()) return;
  fmt::print("{}\n", multigrid_line(report, of));
  const auto print_row = [](std::span<const std::string> cells) {
    fmt::print("{:>9} {:>15} {:>8} {:>32} {:>14}\n", cells[0], cells[1], cells[2], cells[3], cells[4]);
  };
  print_row(multigrid_columns());
  for (const MultigridRow& row : multigrid_rows(report, of))
    print_row(std::vector{row.level, row.lattice, row.vectors, row.steps, row.seconds});
}

void print_solves(const RunReport& report) {
  const bool names_masses = report.config.action->names_masses;
  const int width = names_masses ? 8 : 4;
  fmt::print("{:>6} {:>{}} {:>6} {:>10} {:>15} {:>9} {:>8} {:>8} {:>11} {:>11}\n", "column",
             names_masses ? report.config.action->mass_key : "spin", width, "colour", "iterations", "|b - M x|/|b|", "seconds", "GFLOP/s",
             "GB/s", "J", "GFLOP/s/W");
  for (const ColumnReport& c : report.solves) {
    const EnergyText energy = energy_text(c);
    const std::string mass_or_spin = c.mass ? fmt::format("{}", *c.mass) : fmt::format("{}", c.column / 3);
    fmt::print("{:>6} {:>{}} {:>6} {:>10} {:>15.3e} {:>9.4f} {:>8.2f} {:>8.2f} {:>11} {:>11}\n", c.column, mass_or_spin, width,
               c.column % 3, c.result.iterations, c.result.true_residual, c.result.seconds, c.gflops(), c.gbs(), energy.joules,
               energy.gflops_per_watt);
  }
  print_sequential(report);
  for (const OperatorReport& of : report.operators) print_multigrid(report, of);
  if (report.solves.empty()) return;
  const ColumnReport& last = report.solves.back();
  fmt::print("{}\n{}\n", runtime_note(report, last), energy_note(last));
}

/// As many side by side as a line holds, with the effective mass of the first of all; of complex ones the real parts.
void print_correlators(const RunReport& report) {
  constexpr std::size_t in_a_row = 6;
  for (std::size_t begin = 0; begin < report.correlators.size(); begin += in_a_row) {
    const std::span row = std::span(report.correlators).subspan(begin, std::min(in_a_row, report.correlators.size() - begin));
    fmt::print("\n{:>3}", "t");
    for (const Correlator& c : row) fmt::print(" {:>20}", c.imaginary.empty() ? c.name : "Re " + c.name);
    const Correlator& first = row.front();
    if (begin == 0) fmt::print(" {:>15} {:>15}", fmt::format("a m_{} (log)", first.name), fmt::format("a m_{} (cosh)", first.name));
    fmt::print("\n");
    for (std::size_t t = 0; t < first.values.size(); ++t) {
      fmt::print("{:>3}", t);
      for (const Correlator& c : row) fmt::print(" {:>20.12e}", c.values[t]);
      if (begin == 0) fmt::print(" {:>15} {:>15}", mass_text(first.log_mass, t), mass_text(first.cosh_mass, t));
      fmt::print("\n");
    }
  }
  if (const std::string left_out = correlators_left_out(report.config); !left_out.empty()) fmt::print("not written: {}\n", left_out);
}

}  // namespace

void print_plan(const RunReport& report) {
  fmt::print("lattice: {}\n", report.decomposition);
  for (const DevicePart& part : report.devices.parts)
    fmt::print("  {}: {}{}\n", part.name, fmt::join(part.extents, "x"),
               part.gflops_alone > 0 ? fmt::format(", Dslash alone {:.1f} GFLOP/s", part.gflops_alone) : "");
  if (!report.devices.reason.empty()) fmt::print("  CPU share {:.1f} %: {}\n", 100 * report.devices.cpu_share, report.devices.reason);
  if (!report.devices.sharing.empty()) fmt::print("  share: {}\n", report.devices.sharing);
  fmt::print("memory, estimated:\n");
  for (const MemoryNeed& need : report.memory) fmt::print("  {}\n", memory_text(need));
  std::fflush(stdout);
}

void print_report(const RunReport& report) {
  if (!report.sources.empty()) fmt::print("source {}\n", text_of(report.config.source));
  print_solves(report);
  if (!report.correlators.empty()) print_correlators(report);
}

}  // namespace quarkstar::app
