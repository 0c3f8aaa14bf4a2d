#pragma once
// Launches of the hopping kernels on a CUDA worker's stream.
#include "codelets/actions/staggered/vector_status.hpp"
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Computes `count` list entries, as `status` (device memory or nullptr) and `obedience` say; what it leaves in vectors that are left out
/// means nothing. Sums go to sum_tables().
template <class F>
void launch_hopping(const wilson::KernelChoice& choice, const wilson::HoppingArguments<F>& arguments, std::int64_t count,
                    const staggered::VectorStatus* status, staggered::Obedience obedience, runtime::CudaStream stream);

/// Gathers `count` face sites of every vector; stop: device pointer to the stop flag or nullptr.
template <class F>
void launch_pack(const wilson::PackChoice& choice, const wilson::PackArguments<F>& arguments, std::int64_t count, const std::int32_t* stop,
                 runtime::CudaStream stream);

}  // namespace quarkstar::cuda
