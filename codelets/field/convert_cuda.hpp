#pragma once
#include "codelets/lattice/block_shape.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// to <- from for one parity of one block: another number format, another lane grid. idle: device pointer to the flag that stops it, or
/// nullptr.
template <class To, class From>
void launch_convert(To* to, const From* from, const BlockShape& to_shape, const BlockShape& from_shape, int parity,
                    const std::int32_t* idle, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
