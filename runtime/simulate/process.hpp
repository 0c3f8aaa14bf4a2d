#pragma once
// Starts a program as a simulated one.
#include "runtime/simulate/machine.hpp"

#include <string>
#include <vector>

namespace quarkstar::runtime::simulate {

/// Makes the machine known to the runtime, in a folder of its own that goes when the program ends, and runs the program (starpu_main) under
/// SimGrid. Returns its exit code. argv: without what only the caller understands. Throws as write_platform() does, and Error(environment)
/// where tasks wait for ever, as for memory that a GPU does not have.
int run(const Machine& machine, int argc, char** argv);

/// Runs a job of `ranks` processes of SimGrid's MPI (smpirun), one on each node of the machine's network, however many
/// nodes it has. program: a library whose main() is run_rank()'s (rank.hpp), loaded once for each rank. Returns its
/// exit code. Throws as write_platform() does, Error(environment) where smpirun is missing or is killed, and
/// Error(input) for paths with spaces.
int run_job(const Machine& machine, int ranks, const std::string& program, const std::vector<std::string>& arguments);

/// What a rank of such a job has: one node without its GPUs.
Machine one_rank_of(Machine machine);
/// What a rank with a GPU of its own sees: one node with one of its GPUs.
Machine one_gpu_of(Machine machine);

}  // namespace quarkstar::runtime::simulate
