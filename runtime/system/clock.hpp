#pragma once
// Time as the machine that runs has it.
namespace quarkstar::runtime {

/// Microseconds since some point in the past; in a simulation, of the simulated machine. Needs a session there.
double now_us();

}  // namespace quarkstar::runtime
