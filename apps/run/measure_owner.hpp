#pragma once
#include "codelets/field/precision.hpp"
#include "runtime/cut/coord.hpp"
#include "runtime/graph/session.hpp"

namespace quarkstar::app {

/// The lattice, or a part with its proportions as far as possible where it has more than most_sites or takes more than half of the memory
/// of the worker's GPU: at most `widest` in every direction, and even.
Coord measured_part(const runtime::Session& session, int worker, const Coord& lattice, Precision precision, int link_reals, int widest,
                    double most_sites);

/// Stand-alone speed of one worker, GFLOP/s: the Dslash of a solve on `lattice`, the best of several short passes, with nobody else at
/// work. Large lattices are measured on a part of them (at most 2^19 sites, and half of a GPU's memory). Takes about half a second.
double measure_owner(runtime::Session& session, int worker, const Coord& lattice, Precision precision, int link_reals);

/// What the speed of a staggered Dslash depends on.
struct StaggeredProblem {
  bool hops_far = true;  ///< with long links
  Precision precision = Precision::double_;
  int long_reals = 18;
  int vectors = 1;  ///< right-hand sides
};

/// The same of the staggered Dslash.
double measure_staggered_owner(runtime::Session& session, int worker, const Coord& lattice, const StaggeredProblem& problem);

}  // namespace quarkstar::app
