#pragma once
// A Markov chain of SU(3) gauge configurations with the Wilson action, run through the task graph.
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/handle.hpp"

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
/// The links stay where they are, in the caller's HostGauge. What the graph tracks are tokens, one of 64 bytes for each
/// (block, parity, mu): a task takes the token of the links that it writes as inout and those of all links that its
/// staples read as in, in the neighbouring blocks too, diagonal ones included. That orders the tasks completely and is
/// all that the graph is needed for: the codelets run on CPU workers only, in one address space, so no data has to
/// move, and StarPU's hand-over of a token from one worker to the next also makes the links written before it visible.
///
/// Random numbers are keyed by (seed, sweep index, global site, mu, subgroup): the configuration has the same bits for
/// any decomposition, number of workers and policy, and a chain can be continued from a stored double-precision
/// configuration by going on with the sweep index. Cost per link: heatbath about 3650 flop, overrelaxation about 3150,
/// both 2880 bytes without cache reuse.
class Heatbath {
 public:
  /// gauge: updated in place; must outlive this object, and nobody else may touch it between submit_*() and wait().
  /// Needs a running session, which must outlive this object too.
  /// Throws Error(input) for bad settings or links that are not SU(3) within 1e-4, ShapeError for other extents.
  Heatbath(const runtime::Decomposition& decomposition, HostGauge& gauge, const HeatbathSettings& settings);
  ~Heatbath() { wait(); }
  Heatbath(const Heatbath&) = delete;
  Heatbath& operator=(const Heatbath&) = delete;

  /// One heatbath and overrelaxation_per_heatbath overrelaxations of every link; the links are final on return.
  /// sweep_index: from 0; the same index draws the same random numbers. Throws Error(internal) for a negative one.
  void sweep(std::int64_t sweep_index);

  /// The parts of a sweep. They return once their tasks are submitted.
  void submit_heatbath(std::int64_t sweep_index);
  void submit_overrelaxation();
  /// Blocks until all updates submitted so far are done. Then the links may be read.
  void wait();

 private:
  void submit(const runtime::Codelet& codelet, runtime::Cost per_link, std::int64_t sweep_index);

  runtime::Decomposition decomposition_;
  HostGauge& gauge_;
  HeatbathSettings settings_;
  std::vector<runtime::Handle> tokens_;        ///< by token_index()
  std::vector<runtime::AccessList> accesses_;  ///< of the task that updates the links of a token, by token_index()
};

}  // namespace quarkstar::heatbath
