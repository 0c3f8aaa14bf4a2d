#pragma once
#include "codelets/contract/contract_kernels.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Most momenta of a launch, whose sums of one time slice fit the sum tables.
int momenta_at_a_time(int channels);

/// Adds what the sites of one time slice of a block contribute to the sums of momenta [first, first + count) to sum_tables(), on a CUDA
/// worker's stream; the arguments' pointers are to device memory.
template <class Family>
void launch_contract(const contract::Arguments& arguments, int slice, int first, int count, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
