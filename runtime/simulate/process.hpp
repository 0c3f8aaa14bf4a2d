#pragma once
// Starts a program as a simulated one.
#include "runtime/simulate/machine.hpp"

namespace quarkstar::runtime::simulate {

/// Makes the machine known to the runtime, in a folder of its own that goes when the program ends, and runs the program (starpu_main) under
/// SimGrid. Returns its exit code. argv: without what only the caller understands. Throws as write_platform() does.
int run(const Machine& machine, int argc, char** argv);

}  // namespace quarkstar::runtime::simulate
