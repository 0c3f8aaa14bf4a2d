#pragma once
#include "codelets/actions/domain_wall/slice_arguments.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// A SliceKernel on a CUDA worker's stream, over so many outer sites; right-hand sides that status leaves out are as there. chunked:
/// Field::chunked(); in_lanes: Lattice::slices_in_lanes().
template <class F>
void launch_slices(const domain_wall::SliceArguments<F>& arguments, bool chunked, bool in_lanes, std::int64_t outer_sites,
                   const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);

/// As launch_hopping(), with the products behind the hops.
template <class F>
void launch_slice_hopping(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, domain_wall::SliceEpilogue>& arguments,
                          std::int64_t count, const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);
/// The same where lanes hold the slices; not in half precision.
template <class F>
void launch_slice_hopping_in_lanes(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, domain_wall::SliceEpilogue>& arguments,
                                   std::int64_t count, const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
