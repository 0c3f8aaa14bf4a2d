#pragma once
// Times the Wilson and the staggered Dslash as a solve runs them: through the task graph.
#include "codelets/lattice/precision.hpp"
#include "codelets/smear/staggered_links.hpp"
#include "runtime/coord.hpp"
#include "runtime/session.hpp"

#include <string>

namespace quarkstar::app {

struct DslashCase {
  Coord lattice;
  Precision precision;
  int link_reals;
  Coord tile;       ///< wanted extents of a tile of outer sites (Lattice); 0: no limit
  int block_threads;  ///< of a GPU kernel; 0: its own choice
  int repetitions;  ///< timed passes; each is as many applications as fill about a tenth of a second
};

struct DslashTiming {
  double best_gflops = 0, median_gflops = 0;  ///< flop a site: Wilson 1320; staggered 1146, without long links 570
  double best_gbs = 0;                        ///< compulsory bytes
  double microseconds_per_task = 0;           ///< wall time outside the kernels, a task
};

DslashTiming time_dslash(runtime::Session& session, const DslashCase& c);

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
