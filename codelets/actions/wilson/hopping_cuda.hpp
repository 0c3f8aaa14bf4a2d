#pragma once
// Launches of the hopping kernels on a CUDA worker's stream.
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Computes `count` list entries; status: device pointer to the solver's flags or nullptr. Sums go to sum_tables().
template <class F, class Epilogue>
void launch_hopping(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t count,
                    const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);

/// The epilogue without hops, on `outer_sites` outer sites.
template <class F, class Epilogue>
void launch_epilogue(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t outer_sites,
                     const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);

/// Gathers `count` face sites.
template <class F>
void launch_pack(const wilson::PackChoice& choice, const wilson::PackArguments<F>& arguments, std::int64_t count, const std::int32_t* stop,
                 runtime::CudaStream stream);

}  // namespace quarkstar::cuda
