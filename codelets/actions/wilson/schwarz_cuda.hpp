#pragma once
// Launches of Schwarz domains on a CUDA worker's stream.
#include "codelets/actions/wilson/schwarz_arguments.hpp"
#include "codelets/field/vector_status.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Of a block's fields and links.
struct SchwarzLayout {
  int lanes, link_reals;
  bool chunked;  ///< Lattice::chunked()
};

/// All domains of a block of so many outer sites of one parity, and all of its vectors; a domain's working memory (schwarz_memory() of one
/// lane and its sums) is at most most_gpu_domain_bytes. status: device pointer to the flags of the solver, or nullptr.
template <class F>
void launch_schwarz(const SchwarzLayout& layout, const wilson::SchwarzArguments<F>& arguments, std::int64_t outer_sites,
                    const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
