#pragma once
#include "codelets/field/convert_site.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/lattice/block_shape.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Where the vectors of a block are stored.
struct BlockOfVectors {
  BlockShape shape;
  VectorPlaces places;
};

/// to <- from for the vectors of one parity of one block: another number format, another lane grid, as many vectors in lanes. status: whose
/// flags let vectors be left out.
template <int Components, class To, class From>
void launch_convert(To* to, const From* from, const BlockOfVectors& to_block, const BlockOfVectors& from_block, int parity,
                    const VectorStatus* status, Obedience obedience, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
