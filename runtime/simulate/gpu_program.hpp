#pragma once
// Programs over several GPUs whose time is computed.
#include "runtime/gpu/gpu_program.hpp"
#include "runtime/simulate/lane_times.hpp"

#include <vector>

namespace quarkstar::runtime::simulate {

/// When each scheduled step begins and ends, from 0 on.
std::vector<Interval> times_of(const GpuProgram& work);

/// Tasks of this codelet have the address of a GpuProgram as their arguments: they last until its last step ends, and
/// delete it.
void describe_gpu_programs(const Codelet& codelet);

}  // namespace quarkstar::runtime::simulate
