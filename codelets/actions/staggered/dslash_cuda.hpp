#pragma once
// Launches of the staggered kernels on a CUDA worker's stream.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/field/vector_status.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Computes `count` list entries; status: device pointer to the solver's flags or nullptr. Sums go to sum_tables().
template <class F>
void launch_dslash(const staggered::KernelChoice& choice, const staggered::DslashArguments<F>& arguments, std::int64_t count,
                   const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);

/// Gathers `count` face sites for a reader that looks forward or backward. remote: into another GPU's memory.
template <class F>
void launch_colour_pack(int lanes, bool forward, bool remote, const staggered::PackArguments<F>& arguments, std::int64_t count,
                        const std::int32_t* stop, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
