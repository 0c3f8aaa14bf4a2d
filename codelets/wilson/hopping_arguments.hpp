#pragma once
// What a hopping kernel reads and writes: the contract between the codelet and the drivers of every architecture.
#include <cstdint>

#include "runtime/binned_sum.hpp"

namespace quarkstar::wilson {

/// Sums that a kernel can take over its results on the way out, in this order.
struct OutputSums {
  bool norm = false;  ///< sum |out|^2
  bool dot = false;   ///< sum <y, out>: real and imaginary part
  int count() const { return (norm ? 1 : 0) + (dot ? 2 : 0); }
};

/// out(x) = diagonal * x(x) + scale * (H in)(x) on a list of outer sites of one parity of one block.
template <class T>
struct HoppingArguments {
  const std::uint32_t* neighbours;  ///< [outer site * 8 + direction], neighbour_entry
  const std::uint32_t* sites;       ///< outer sites to compute; nullptr: 0, 1, 2, ...
  const std::uint32_t* faces_at;    ///< [i * 8 + direction], position in the face; read where an entry is flagged
  const T* links;                   ///< [outer site][direction][real][lane]
  const T* in;                      ///< [outer site][24][lane], the other parity
  const T* faces[8];                ///< [position][12][face lane], projected by the sender; nullptr: not cut
  T* out;
  const T* x;                       ///< nullptr: out = scale * H in
  const T* y;                       ///< for OutputSums::dot
  T diagonal, scale;
  int stride[4];                    ///< LaneGrid::stride
  T phase_re[8], phase_im[8];       ///< boundary phase of a hop in each direction
  OutputSums sums;
};

/// Kernel over list positions [begin, end). sums: OutputSums::count() sums to merge into.
template <class T>
using HoppingKernel = void (*)(const HoppingArguments<T>& arguments, std::int64_t begin, std::int64_t end,
                               runtime::BinnedSum* sums);

/// Gathers the face that a neighbour reads in `direction`: out[position][12][face lane] = projected spinor.
template <class T>
struct PackArguments {
  const std::uint32_t* sites;  ///< outer sites on the edge, in face order
  const T* in;
  T* out;
  int stride;                  ///< of the face's direction
};
template <class T>
using PackKernel = void (*)(const PackArguments<T>& arguments, std::int64_t begin, std::int64_t end);

/// Which instantiation: lanes of the block, stored reals of a link, +1 for H or -1 for its adjoint. Interior and boundary sites
/// share it: only hops whose table entry is flagged look further.
struct KernelChoice {
  int lanes, link_reals, sign;
};

}  // namespace quarkstar::wilson
