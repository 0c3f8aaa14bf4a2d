#pragma once
// A Markov chain of SU(3) gauge configurations with the Wilson action, run through the task graph.
#include "codelets/gauge/gauge_field.hpp"
#include "runtime/graph/codelet.hpp"

#include <cstdint>
#include <vector>

namespace quarkstar::heatbath {

struct HeatbathSettings {
  double beta = 6.0;  ///< 6/g^2, finite and >= 0
  std::uint64_t seed = 1;
  int overrelaxation_per_heatbath = 4;
};

/// SU(3) pseudo-heatbath and overrelaxation for S = -(beta/3) sum_p Re tr U_p on a periodic lattice.
///
/// A sweep updates every link once by heatbath (Cabibbo-Marinari over three SU(2) subgroups, Kennedy-Pendleton in each;
/// then projected back onto SU(3)) and overrelaxation_per_heatbath times by microcanonical reflection in the same
/// subgroups. Links of one direction mu and one parity do not meet in a staple, so they are updated together: a task is
/// (mu, parity, block), its sites are split over the worker's team, and mu, parity follow each other in a fixed order.
///
/// After each such update the borders take over the links that it changed where staples read them, those of other ranks as messages. Tasks
/// of updates copy them: one task per update and block, but where the direction of the links is cut.
///
/// Random numbers are keyed by (seed, sweep index, global site, mu, subgroup): the configuration has the same bits for
/// any decomposition, number of workers and policy, and a chain can be continued from a stored double-precision
/// configuration by going on with the sweep index. Cost per link: heatbath about 3650 flop, overrelaxation about 3150,
/// both 2880 bytes without cache reuse. CPU and GPU, with the same bits.
class Heatbath {
 public:
  /// links: updated in place; with a border, which this fills. Must outlive this object, as the running session must. On several ranks all
  /// call all of it. Throws Error(input) for bad settings or links that are not SU(3) within 1e-4, ShapeError for no border.
  Heatbath(gauge::GaugeField& links, const HeatbathSettings& settings);

  /// One heatbath and overrelaxation_per_heatbath overrelaxations of every link; returns when they are done.
  /// sweep_index: from 0; the same index draws the same random numbers. Throws Error(internal) for a negative one.
  void sweep(std::int64_t sweep_index);

  /// The parts of a sweep. They return once their tasks are submitted.
  void submit_heatbath(std::int64_t sweep_index);
  void submit_overrelaxation();
  /// Blocks until all updates submitted so far are done and borders are filled; to be called before others read the links and before this
  /// object goes.
  void wait();

 private:
  void submit(const runtime::Codelet& codelet, runtime::Cost per_link, std::int64_t sweep_index);

  gauge::GaugeField& links_;
  std::vector<gauge::BorderExchange> borders_;   ///< [2 mu + parity]: after the update of U_mu on that parity
  gauge::BorderExchange* unfinished_ = nullptr;  ///< the last one, while its last copies are left to the next update's tasks:
  std::vector<gauge::BorderExchange::OfBlock> before_;
  HeatbathSettings settings_;
};

}  // namespace quarkstar::heatbath
