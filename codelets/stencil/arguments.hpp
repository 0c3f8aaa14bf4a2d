#pragma once
// What a hopping kernel reads and writes: the contract between the driver and the kernels of every architecture.
#include "codelets/field/number_format.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/stencil/choice.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <cstdint>

namespace quarkstar::stencil {

/// out_v(x) = diagonal_v x_v(x) + scale_v (D in_v)(x) on a list of outer sites of one parity of one block, for every vector v. F: the
/// fields' number format. With vectors in lanes (Field) a group of them is in the place of a vector, its vectors in that of lanes, and
/// links have one lane.
template <class F>
struct Arguments {
  using T = Real<F>;
  const std::uint32_t* neighbours;  ///< [outer site * 8 + direction], neighbour_entry
  const std::uint32_t* sites;       ///< outer sites to compute; nullptr: 0, 1, 2, ...
  const std::uint32_t* faces_at;    ///< [i * 8 + direction], position in the face; read where an entry is flagged
  const F* links;                   ///< [outer site][direction][word][lane]
  const F* in;                      ///< [outer site][vector][word][lane], the other parity
  const T* faces[8];                ///< [position][vector][word, see FaceFormat][face lane]; nullptr: not cut
  F* out;                           ///< aligned to 64 bytes where streaming stores are asked for
  const F* x;                       ///< nullptr: out_v = scale_v D in_v
  const F* y;                       ///< for OutputSums::dot
  T diagonal[most_vectors], scale[most_vectors];
  int stride[4];  ///< LaneGrid::stride
  int vectors;
  OutputSums sums;
  bool stream_out;  ///< on CPUs: arch::Stores::streaming
};

/// Kernel over list positions [begin, end). left_out: nullptr, or for each vector non-zero where nobody needs its result. sums:
/// OutputSums::count() sums to merge into, sum s of vector v at s n + v.
template <class OfOperator>
using Kernel = void (*)(const OfOperator& arguments, std::int64_t begin, std::int64_t end, const std::int32_t* left_out,
                        runtime::BinnedSum* sums);

/// Gathers the face that a neighbour reads in one direction, as Arguments::faces.
template <class F>
struct PackArguments {
  const std::uint32_t* sites;  ///< outer sites of the face, in face order
  const F* in;
  Real<F>* out;
  int stride;  ///< of the face's direction
  int vectors;
};
template <class F>
using PackKernel = void (*)(const PackArguments<F>& arguments, std::int64_t begin, std::int64_t end);

}  // namespace quarkstar::stencil
