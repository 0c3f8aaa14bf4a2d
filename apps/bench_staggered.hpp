#pragma once
// Times the staggered Dslash as a solve runs it: through the task graph.
#include "apps/bench_timing.hpp"
#include "codelets/lattice/precision.hpp"
#include "codelets/smear/staggered_links.hpp"
#include "runtime/coord.hpp"
#include "runtime/session.hpp"

#include <string>

namespace quarkstar::app {

/// A staggered Dslash on one lattice, its links made once; t cut by the number of workers.
class StaggeredBench {
 public:
  /// action: hisq, asqtad or naive.
  StaggeredBench(runtime::Session& session, const Coord& lattice, const std::string& action);

  /// One application to `vectors` right-hand sides.
  DslashTiming time(Precision precision, int long_reals, int vectors, int repetitions) const;

 private:
  static smear::StaggeredLinks make_links(const runtime::Decomposition& decomposition, const std::string& action);
  runtime::Session& session_;
  runtime::Decomposition decomposition_;
  smear::StaggeredLinks links_;
};

}  // namespace quarkstar::app
