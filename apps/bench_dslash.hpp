#pragma once
// Times the Wilson Dslash as a solve runs it: through the task graph.
#include "codelets/lattice/host_spinor.hpp"
#include "codelets/lattice/precision.hpp"
#include "codelets/wilson/tuning.hpp"
#include "runtime/coord.hpp"
#include "runtime/session.hpp"

namespace quarkstar::app {

/// A lattice cut in t by the number of workers that own blocks.
runtime::Decomposition bench_decomposition(const Coord& lattice, const runtime::Session& session);

struct DslashCase {
  Coord lattice;
  Precision precision;
  int link_reals;
  wilson::HoppingTuning tuning;
  int repetitions;  ///< timed passes; each is as many applications as fill about a tenth of a second
};

struct DslashTiming {
  double best_gflops = 0, median_gflops = 0;  ///< 1320 flop a site
  double best_gbs = 0;                        ///< compulsory bytes
  double microseconds_per_task = 0;           ///< wall time outside the kernels, a task
};

/// Any non-zero field will do, but zeros would run faster than real data on some machines. Components have a modulus about 1.
HostSpinor wavy_spinor(const Coord& lattice);

DslashTiming time_dslash(runtime::Session& session, const DslashCase& c);

}  // namespace quarkstar::app
