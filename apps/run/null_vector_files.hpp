#pragma once
// Multigrid's null vectors in a folder, so that later runs need no set-up.
#include "apps/run/config.hpp"
#include "runtime/cut/decomposition.hpp"

#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

/// Folders of null vectors of other configurations or masses.
std::vector<std::string> null_vector_starts(const RunConfig& config);
void set_null_vector_starts(RunConfig& config, const std::vector<std::string>& folders);

/// In the folder config.multigrid_setup, one file a null vector, with the form and the checks of restart files (Checkpoint). A file of
/// another operator, of other aggregates or of another set-up is refused: Error(input). equation: of the operator; mass: what tells it from
/// the others of a run.
/// Where none are there yet, those of the first folder of null_vector_starts() that has as many are where the set-up begins.
NullVectorFiles null_vector_files(const RunConfig& config, const runtime::Decomposition& decomposition, const std::string& equation,
                                  std::optional<double> mass);

/// Removes those in a folder, and the folder where nothing else is in it. What cannot be removed stays.
void remove_null_vectors(const std::string& folder);

}  // namespace quarkstar::app
