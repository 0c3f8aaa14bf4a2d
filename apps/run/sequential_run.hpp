#pragma once
// Sequential propagators of a propagator that is complete, and their three-point functions.
#include "apps/run/config.hpp"
#include "apps/run/job_energy.hpp"
#include "apps/run/report.hpp"
#include "codelets/contract/three_point.hpp"
#include "codelets/quark_smear/smearers.hpp"
#include "solvers/solver.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace quarkstar::app {

/// What they are solved with.
struct SequentialRun {
  const RunConfig& config;
  const runtime::Decomposition& decomposition;
  Solver& solver;
  const contract::HopLinks* links;  ///< nullptr: no conserved current is wanted
  const QuarkSmearers* smearers;    ///< nullptr: no sink is smeared
  JobEnergyMeter* meter;            ///< nullptr: others are in flight, and what a solve has taken is told later
  Progress progress;
  std::function<bool()> ends;  ///< after each solve: whether the run is to end; the same on all ranks
};

/// The links of conserved currents, where the run wants some; nothing where it does not. gauge: outlives them.
std::optional<contract::HopLinks> hop_links(const RunConfig& config, const HostGauge* gauge);

/// Three-point functions of all hadrons of the configuration, for each sink, and the solves.
struct ThreePoints {
  std::vector<std::vector<Correlator>> of_sinks;
  std::vector<SequentialReport> solves;  ///< the last of which has not converged where `complete` is false and nothing ended the run
  bool complete = true;
};

/// columns: this rank's part of those of the propagator of this source and mass, all twelve. Copies of them are on the graph meanwhile.
/// Waits for the tasks. Under MPI all ranks call.
ThreePoints three_points_of(const SequentialRun& run, std::span<const HostField> columns, double mass, const Source& source);

}  // namespace quarkstar::app
