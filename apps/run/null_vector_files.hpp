#pragma once
// Multigrid's null vectors in a folder, so that later runs need no set-up.
#include "apps/run/config.hpp"
#include "runtime/cut/decomposition.hpp"

#include <functional>
#include <string>
#include <vector>

namespace quarkstar::app {

/// Folders of null vectors of other configurations, masses or set-ups.
std::vector<std::string> null_vector_starts(const RunConfig& config);
void set_null_vector_starts(RunConfig& config, const std::vector<std::string>& folders);

/// The operator whose null vectors they are.
struct NullVectorsOf {
  std::string equation;         ///< RunOperator::equation
  double mass = 0;              ///< where the action names masses, and they are in no equation
  bool one_of_several = false;  ///< of a run, which files are then told by
};

/// In the folder config.multigrid_setup, one file a null vector, with the form and the checks of restart files (Checkpoint). Files of
/// another mass than that of the operator, and else the same, are where its set-up begins, and stay as they are. A file of another
/// configuration or action, of other aggregates or of another set-up is refused: Error(input) that says what differs.
/// Where none are there yet, those of the first folder of null_vector_starts() that has as many are where the set-up begins. Where the
/// folder itself is one of these nothing in it is refused but damaged files: it is a start like them, and written over.
/// begun: is told where it began, for reports, if not with noise or its own null vectors; a message says so too.
NullVectorFiles null_vector_files(const RunConfig& config, const runtime::Decomposition& decomposition, const NullVectorsOf& of,
                                  std::function<void(const std::string& where)> begun = {});

/// Removes those in a folder, and the folder where nothing else is in it. What cannot be removed stays.
void remove_null_vectors(const std::string& folder);

}  // namespace quarkstar::app
