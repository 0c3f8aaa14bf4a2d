#pragma once
// A gauge configuration from a Markov chain, for `gauge generate` and `demo`.
#include "apps/run/run_watch.hpp"
#include "apps/run/session_defaults.hpp"
#include "codelets/gauge/heatbath/heatbath.hpp"
#include "codelets/io/gauge_writer.hpp"
#include "runtime/graph/session.hpp"

#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

struct GenerateConfig {
  Coord lattice{8, 8, 8, 16};
  heatbath::HeatbathSettings heatbath;
  int sweeps = 100;            ///< in all
  int thermalization = 50;     ///< the first of them, left out of the mean plaquette
  std::string start = "hot";   ///< hot or cold
  Coord blocks{0, 0, 0, 0};    ///< zeros: t cut by the number of workers, or of GPUs where there are any
  std::optional<Coord> ranks;  ///< grid of the job's ranks; none: the one with the smallest surface
  runtime::SessionOptions session = session_defaults();
};

struct Generated {
  HostGauge gauge;                 ///< of this rank's part and the layer around it
  format::GaugePart part;          ///< of the rank
  std::vector<double> plaquettes;  ///< mean Re tr / 3 after each sweep behind the thermalization
};

/// Runs the chain in a session of its own, with progress, told to `watch`. The configuration depends on lattice, heatbath, sweeps and
/// start alone, not on ranks, blocks, workers or devices. Collective. Throws Error(input) for odd extents, Interrupted where `watch` says
/// so.
Generated generate(const GenerateConfig& config, RunWatch& watch);

/// The same in a session that is running.
Generated generate(runtime::Session& session, const GenerateConfig& config, RunWatch& watch);

/// "0.59371(8)": mean and error in its last two digits at most.
std::string estimate_text(double mean, double error);

}  // namespace quarkstar::app
