#pragma once
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// launch_hopping() of the hops forward along choice.forward_along alone: out_v = scale_v times them. F: double or float.
template <class F>
void launch_single_hop(const wilson::KernelChoice& choice, const wilson::HoppingArguments<F>& arguments, std::int64_t count,
                       const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
