#pragma once
// Everything that the outputs of a solve tell: filled while it runs, then written as JSON, HDF5, HTML and text.
#include "apps/config.hpp"
#include "codelets/lattice/host_spinor.hpp"

#include <string>
#include <vector>

namespace quarkstar::app {

/// The configuration that was solved on. Plaquettes and link trace are mean Re tr / 3.
struct GaugeSummary {
  std::string path, format;
  Coord extents{};
  double spatial_plaquette = 0, temporal_plaquette = 0, link_trace = 0;
};

/// One column of the propagator, column = 3 spin + colour of its source.
struct ColumnReport {
  int column = 0;
  SolveResult result;
  double gflops() const { return result.seconds > 0 ? result.flops / result.seconds * 1e-9 : 0; }
  double gbs() const { return result.seconds > 0 ? result.bytes / result.seconds * 1e-9 : 0; }
};

struct CorrelatorReport {
  std::string name;
  std::vector<double> values;               ///< t = 0..T-1 from the source
  std::vector<double> log_mass, cosh_mass;  ///< t = 0..T-2; not a number where undefined
};

struct WorkerReport {
  std::string name, kind;
  std::vector<int> cores;
  double busy = 0;  ///< part of the first column's wall time spent in tasks, 0..1
};

struct TimelineTask {
  int worker = 0, block = -1;
  std::string name;
  double begin_us = 0, end_us = 0;
};

struct RunReport {
  RunConfig config;
  GaugeSummary gauge;
  std::string started;  ///< UTC, ISO 8601
  std::string host, cpu_model, decomposition;
  double setup_seconds = 0, total_seconds = 0;
  std::vector<ColumnReport> solves;
  std::vector<CorrelatorReport> correlators;
  std::vector<WorkerReport> workers;
  std::vector<TimelineTask> timeline;  ///< consecutive tasks of the first column
  bool failed = false;                 ///< the last of `solves` did not converge; there are no correlators
};

/// The columns that were solved, in the order of RunReport::solves: this rank's part of them.
struct Propagator {
  std::vector<HostSpinor> fields;
};

/// "quarkstar 0.1.0 (abc1234), StarPU 1.4.10, g++ 12.2.0".
std::string version_line();

/// Host name, CPU and start time.
void describe_machine(RunReport& report);

/// Correlators and effective masses of a whole propagator (12 columns) on a lattice with `times` time slices, summed over ranks.
std::vector<CorrelatorReport> contract(const Propagator& propagator, int source_time, int times);

/// The whole columns on the root, from the parts of all ranks; nothing on the others.
Propagator gather(const Propagator& parts, const Coord& lattice);

}  // namespace quarkstar::app
