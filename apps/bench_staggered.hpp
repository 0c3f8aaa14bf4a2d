#pragma once
// Times the staggered Dslash as a solve runs it: through the task graph.
#include "apps/bench_solver.hpp"
#include "apps/bench_timing.hpp"
#include "codelets/lattice/precision.hpp"
#include "codelets/smear/staggered_links.hpp"
#include "codelets/staggered/dslash_arguments.hpp"
#include "codelets/staggered/host_colour.hpp"
#include "runtime/coord.hpp"
#include "runtime/session.hpp"

#include <string>

namespace quarkstar::app {

/// Settings of a staggered Dslash that change its speed only.
struct StaggeredTuning {
  Coord tile{};  ///< order of sites in memory (Lattice)
  staggered::Launch launch{};
};

/// A staggered Dslash on one lattice, its links made once.
class StaggeredBench {
 public:
  /// action: hisq, asqtad or naive, of a hot configuration: close to a mass of zero CG converges about as slowly as in physics.
  /// blocks: their number in each direction; zeros: t cut by the number of workers.
  StaggeredBench(runtime::Session& session, const Coord& lattice, const std::string& action, const Coord& blocks = {});

  /// One application to `vectors` right-hand sides.
  DslashTiming time(Precision precision, int long_reals, int vectors, const StaggeredTuning& tuning, int repetitions) const;

  /// Conjugate gradient for `vectors` right-hand sides as `solve` runs it, with reliable updates below double precision, ended after
  /// `iterations`. Flops, bytes and tasks are those of whole solves over their iterations, refreshes included.
  SolverTiming time_cg(Precision precision, int long_reals, int vectors, int iterations, int repetitions) const;

 private:
  static smear::StaggeredLinks make_links(runtime::Session& session, const runtime::Decomposition& decomposition, const std::string& action);
  HostColour wave() const;
  runtime::Session& session_;
  runtime::Decomposition decomposition_;
  smear::StaggeredLinks links_;
};

}  // namespace quarkstar::app
