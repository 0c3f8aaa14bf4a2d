#pragma once
// Multigrid's null vectors in a folder, so that later runs need no set-up.
#include "apps/run/config.hpp"
#include "runtime/cut/decomposition.hpp"

#include <optional>
#include <string>

namespace quarkstar::app {

/// In the folder config.multigrid_setup, one file a null vector, with the form and the checks of restart files (Checkpoint). A file of
/// another operator, of other aggregates or of another set-up is refused: Error(input). equation: of the operator; mass: what tells it from
/// the others of a run.
NullVectorFiles null_vector_files(const RunConfig& config, const runtime::Decomposition& decomposition, const std::string& equation,
                                  std::optional<double> mass);

}  // namespace quarkstar::app
