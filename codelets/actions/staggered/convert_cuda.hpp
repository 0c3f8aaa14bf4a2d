#pragma once
#include "codelets/actions/staggered/vector_status.hpp"
#include "codelets/lattice/block_shape.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// to <- from for the colour vectors of one parity of one block: another number format, another lane grid.
template <class To, class From>
void launch_convert_vectors(To* to, const From* from, const BlockShape& to_shape, const BlockShape& from_shape, int parity, int vectors,
                            const staggered::VectorStatus* status, staggered::Obedience obedience, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
