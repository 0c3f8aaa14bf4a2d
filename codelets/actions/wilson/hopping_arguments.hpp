#pragma once
// What a hopping kernel reads and writes: the contract between the codelet and the drivers of every architecture.
#include "codelets/actions/staggered/colour_field.hpp"
#include "codelets/arch/block_threads.hpp"
#include "codelets/arch/memory_access.hpp"
#include "codelets/field/number_format.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <cstdint>

namespace quarkstar::wilson {

using staggered::most_vectors;

/// Sums that a kernel can take over its results on the way out, each for every vector: first all norms, then all real parts of the dots,
/// then all imaginary parts.
struct OutputSums {
  bool norm = false;  ///< sum |out|^2
  bool dot = false;   ///< sum <y, out>: real and imaginary part
  int count(int vectors) const { return ((norm ? 1 : 0) + (dot ? 2 : 0)) * vectors; }
};

/// out_v(x) = diagonal_v x_v(x) + scale_v (H in_v)(x) on a list of outer sites of one parity of one block, for every vector v. F: the
/// fields' number format.
template <class F>
struct HoppingArguments {
  using T = Real<F>;
  const std::uint32_t* neighbours;  ///< [outer site * 8 + direction], neighbour_entry
  const std::uint32_t* sites;       ///< outer sites to compute; nullptr: 0, 1, 2, ...
  const std::uint32_t* faces_at;    ///< [i * 8 + direction], position in the face; read where an entry is flagged
  const F* links;                   ///< [outer site][direction][word][lane]
  const F* in;                      ///< [outer site][vector][word][lane], the other parity
  const T* faces[8];                ///< [position][vector][12][face lane], from the sender's read_projected(); nullptr: not cut
  F* out;                           ///< aligned to 64 bytes where streaming stores are asked for
  const F* x;                       ///< nullptr: out_v = scale_v H in_v
  const F* y;                       ///< for OutputSums::dot
  T diagonal[most_vectors], scale[most_vectors];
  int stride[4];               ///< LaneGrid::stride
  T phase_re[8], phase_im[8];  ///< boundary phase of a hop in each direction
  int vectors;
  OutputSums sums;
};

/// Kernel over list positions [begin, end). sums: OutputSums::count(vectors) sums to merge into.
template <class F>
using HoppingKernel = void (*)(const HoppingArguments<F>& arguments, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums);

/// Gathers the face that a neighbour reads in `direction`: out[position][vector][12][face lane] = projected spinor.
template <class F>
struct PackArguments {
  const std::uint32_t* sites;  ///< outer sites on the edge, in face order
  const F* in;
  Real<F>* out;
  int stride;  ///< of the face's direction
  int vectors;
};
template <class F>
using PackKernel = void (*)(const PackArguments<F>& arguments, std::int64_t begin, std::int64_t end);

/// Which pack: lanes of the block, direction in which the face's reader looks, +1 for H or -1 for its adjoint; remote: the reader sits on
/// another worker.
struct PackChoice {
  int lanes, direction, sign;
  bool remote = false;
  bool pairs = false;  ///< as KernelChoice::pairs
};

/// On CPUs without a measurement: each hop asks for the next one's lines (a prototype gained 15 to 25 % on two cores of an AVX-512 Xeon),
/// and the next kernel finds results in the cache.
inline constexpr arch::MemoryAccess default_memory_access{1, arch::Stores::plain};

/// Threads of a GPU block where nobody chose, for a kernel of so many threads: measured on an H200 (docs/results),
/// where small lattices and double precision want smaller blocks to fill the multiprocessors evenly.
constexpr int usual_block_threads(bool is_double, std::int64_t threads) {
  constexpr std::int64_t large = 1 << 17;
  return !is_double && threads >= large ? arch::most_block_threads : 128;
}

/// Which instantiation: lanes of the block, stored reals of a link, +1 for H or -1 for its adjoint. Interior and boundary sites
/// share it: only hops whose table entry is flagged look further.
struct KernelChoice {
  int lanes, link_reals, sign;
  int block_threads = 0;                              ///< of a GPU kernel; 0: its own choice
  arch::MemoryAccess memory = default_memory_access;  ///< of a CPU kernel
  bool pairs = false;                                 ///< GPUs: links and fields have pairs of words side by side (word_place())
};

}  // namespace quarkstar::wilson
