#pragma once
#include "codelets/field/transfer_site.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Field <- arrays in the memory of this GPU, for the vectors of one parity of one block, with the bits of a CPU; and back.
template <class F>
void launch_load(F* field, const transfer::ArrayTask& task, runtime::CudaStream stream);
template <class F>
void launch_store(const F* field, const transfer::ArrayTask& task, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
