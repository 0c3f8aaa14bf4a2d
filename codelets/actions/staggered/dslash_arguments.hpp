#pragma once
// What a staggered Dslash kernel reads and writes: the contract between the codelet and the drivers of every architecture.
#include "codelets/actions/staggered/colour_field.hpp"
#include "codelets/arch/memory_access.hpp"
#include "codelets/field/number_format.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <cstdint>

namespace quarkstar::staggered {

/// Sums that a kernel can take over its results on the way out, each for every vector: first all norms, then all dots.
struct OutputSums {
  bool norm = false;  ///< sum |out|^2
  bool dot = false;   ///< sum Re <y, out>
  int count(int vectors) const { return ((norm ? 1 : 0) + (dot ? 1 : 0)) * vectors; }
};

/// Words of a colour vector, a lane.
template <class F>
inline constexpr int vector_words = NumberFormat<F>::site_words(ColourField::reals);

/// out_v(x) = diagonal_v x_v(x) + scale_v (D in_v)(x) on a list of outer sites of one parity of one block, for every vector v. With vectors
/// in lanes (ColourField) a group of them is in the place of a vector, its vectors in that of lanes, and links have one lane.
template <class F>
struct DslashArguments {
  using T = Real<F>;
  const std::uint32_t* near;     ///< [outer site * 8 + direction], neighbour_entry, one hop
  const std::uint32_t* far;      ///< the same, three hops
  const std::uint32_t* sites;    ///< outer sites to compute; nullptr: 0, 1, 2, ...
  const std::uint32_t* near_at;  ///< [i * 8 + direction], position in the face; read where an entry is flagged
  const std::uint32_t* far_at;
  const F* fat;        ///< [outer site][direction][word][lane]; what multiplies the neighbour in that direction
  const F* far_links;  ///< nullptr: none
  const F* in;         ///< [outer site][vector][word][lane], the other parity
  const T* faces[8];   ///< [position][vector][6][face lane]; nullptr: not cut
  F* out;
  const F* x;  ///< nullptr: out_v = scale_v D in_v
  const F* y;  ///< for OutputSums::dot
  T diagonal[most_vectors], scale[most_vectors];
  T long_factor;  ///< of load_long_link()
  T near_factor;  ///< in half precision: unit of fat links over that of long links
  int stride[4];  ///< LaneGrid::stride
  int vectors;
  OutputSums sums;
  bool stream_out;  ///< on CPUs: arch::Stores::streaming; out aligned to 64 bytes
};

/// Kernel over list positions [begin, end). left_out: nullptr, or for each vector non-zero where nobody needs its result.
/// sums: OutputSums::count() sums to merge into.
template <class F>
using DslashKernel = void (*)(const DslashArguments<F>& arguments, std::int64_t begin, std::int64_t end, const std::int32_t* left_out,
                              runtime::BinnedSum* sums);

/// Gathers the face that a neighbour reads in one direction: out[position][vector][6][face lane].
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

/// How a kernel is launched; no bit depends on it. 0: the GPU launcher's own choice.
struct Launch {
  int block_threads = 0;        ///< threads of a block at most: a kernel takes no more than room_of() says
  int vectors_a_thread = 0;     ///< right-hand sides for which a thread holds a link: 1, 2, 3, 4 or 8
  arch::MemoryAccess memory{};  ///< of a CPU kernel
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Without a measurement. On CPUs the kernel for several vectors lives on each hop asking for the next one's lines (1.2 to 1.6 times the
/// speed of one without on AVX2; docs/results/2026-11-22-avx2-staggered.md); for one vector the hardware does as well on its own (0.95
/// to 1.04), and the next kernel finds results in the cache.
constexpr Launch default_launch(int vectors) { return {0, 0, {vectors > 1 ? 1 : 0, arch::Stores::plain}}; }

/// Which instantiation: lanes of the block, stored reals of a long link (0: none).
struct KernelChoice {
  int lanes, long_reals;
  Launch launch{};
  int vectors_in_lanes = 1;  ///< then without lanes of sites, on CPUs, and with long links of 18 reals or none
};

}  // namespace quarkstar::staggered
