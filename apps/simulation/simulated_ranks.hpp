#pragma once
// `quarkstar-sim bench solver --ranks N` and `quarkstar-sim bench scaling`: replayed batches of ranks with a GPU each, on nodes of a
// machine, of which one process stands for all (runtime/simulate/rank_times.hpp).
#include "runtime/cut/coord.hpp"

#include <string>
#include <vector>

namespace quarkstar::app {

/// Takes "--ranks N" out of the arguments of `bench solver`; 0: it is not there. Throws Error(input) for what is no number of ranks.
int take_ranks(std::vector<char*>& arguments);

/// Runs `bench solver` as the first of so many ranks; returns its exit code. Throws Error(input) for a machine whose GPUs have no way to
/// each other.
int simulate_ranks(const std::string& file, int ranks, std::vector<char*> arguments);

/// Whether these arguments (without the machine) ask for `bench scaling`.
bool asks_for_scaling(const std::vector<char*>& arguments);
std::string help_on_scaling();
/// Runs `bench solver --ranks N` for each N in a process of its own, and prints what an iteration takes, how well that scales and what
/// limits it. Throws Error(input) for flags that cannot be used.
int simulate_scaling(const std::string& file, const std::vector<char*>& arguments);

/// The lattice whose parts on `ranks` ranks have the extents of `part`: along t as many as a node has GPUs, then along z, y, x, t in turn.
Coord weak_lattice(const Coord& part, int ranks, int gpus);

}  // namespace quarkstar::app
