#pragma once
#include "apps/run/config.hpp"
#include "codelets/actions/action_kind.hpp"
#include "codelets/field/precision.hpp"
#include "runtime/cut/coord.hpp"
#include "runtime/graph/session.hpp"

namespace quarkstar::app {

/// What the speed of a hopping operator depends on.
struct OwnerProblem {
  const ActionKind& action;
  Precision precision = Precision::double_;
  int link_reals = 18;
  int vectors = 1;              ///< right-hand sides
  SettingValues settings = {};  ///< of an action with a fifth dimension: those of the run
};

/// The action's settings of a run where vectors have a fifth dimension, on which the Dslash depends by them; else none.
SettingValues settings_of_slices(const RunConfig& config);

/// Stand-alone speed of one worker, GFLOP/s: the Dslash of a solve on `lattice`, the best of several short passes, with nobody else at
/// work. Large lattices are measured on a part of them (at most 2^19 sites, and half of a GPU's memory). Takes about half a second.
double measure_owner(runtime::Session& session, int worker, const Coord& lattice, const OwnerProblem& problem);

}  // namespace quarkstar::app
