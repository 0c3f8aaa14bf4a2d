#pragma once
// `quarkstar-sim bench submission --ranks N`: what an iteration costs each rank of a large job, all ranks in one
// process.
#include "runtime/simulate/machine.hpp"

#include <string>
#include <vector>

namespace quarkstar::app {

/// Whether these arguments (without the machine) ask for it.
bool asks_for_job(const std::vector<char*>& arguments);

/// Its flags.
std::string help_on_job();

/// Runs it on the nodes of a machine, read from `file`, and returns the exit code. Throws Error(input) for flags and
/// machines that cannot be used, Error(environment) where the library of the ranks or smpirun is missing.
int simulate_job(const std::string& file, const std::vector<char*>& arguments);

}  // namespace quarkstar::app
