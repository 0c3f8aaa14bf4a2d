#pragma once
#include "codelets/field/convert_site.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/lattice/block_shape.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// to <- from for the vectors of one parity of one block: another number format, another lane grid. vectors: whose flags in `status` let
/// them be left out.
template <int Components, class To, class From>
void launch_convert(To* to, const From* from, const BlockShape& to_shape, const BlockShape& from_shape, int parity, int vectors,
                    const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
