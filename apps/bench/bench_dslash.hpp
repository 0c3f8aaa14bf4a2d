#pragma once
// Times the Wilson Dslash as a solve runs it: through the task graph.
#include "apps/bench/bench_timing.hpp"
#include "apps/run/device_plan.hpp"
#include "codelets/actions/wilson/tuning.hpp"
#include "codelets/field/host_spinor.hpp"
#include "codelets/field/precision.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/session.hpp"

#include <functional>
#include <list>

namespace quarkstar::app {

/// Host fields that a bench loads from, made once for each of the latest two lattices (a whole one and the part of it on which owners are
/// timed alone): on a large one that takes longer than all that is timed on it.
class BenchFields {
 public:
  /// A hot configuration.
  const HostGauge& links(const Coord& lattice, const runtime::Team& team);
  /// Any non-zero field will do, but zeros would run faster than real data on some machines. Components have a modulus about 1.
  const HostSpinor& wave(const Coord& lattice, const runtime::Team& team);

 private:
  struct OfLattice {
    Coord lattice{};
    HostGauge links;
    HostSpinor wave;
  };
  OfLattice& of(const Coord& lattice);

  std::list<OfLattice> kept_;  ///< latest first
};

/// Chooses settings for one lattice and its blocks.
using ChooseTuning = std::function<wilson::HoppingTuning(const wilson::TuningProblem& problem)>;

/// Blocks for the devices that the session's options ask for, with the stand-alone speed of each owner where there is a choice to make
/// (app::plan_devices), measured on the whole lattice or, where that has more than 2^21 sites, on such a part of it. On CPUs t is cut by
/// the number of workers.
PlannedLattice plan_dslash(runtime::Session& session, const Coord& lattice, Precision precision, int link_reals, const ChooseTuning& tuning,
                           int repetitions, BenchFields& fields);

/// repetitions: timed passes; each is as many applications as fill about a tenth of a second. most_lanes: of the layout.
DslashTiming time_dslash(runtime::Session& session, const wilson::TuningProblem& problem, const wilson::HoppingTuning& tuning,
                         int repetitions, BenchFields& fields, const runtime::HardwareCounters* counters = nullptr,
                         std::optional<int> most_lanes = {});

}  // namespace quarkstar::app
