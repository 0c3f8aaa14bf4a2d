#pragma once
// What a hopping kernel reads and writes: the contract between the codelet and the drivers of every architecture.
#include "codelets/arch/block_threads.hpp"
#include "codelets/stencil/arguments.hpp"

#include <cstdint>

namespace quarkstar::wilson {

using stencil::Launch;
using stencil::OutputSums;
using stencil::PackArguments;
using stencil::PackKernel;
using KernelChoice = stencil::Choice;  ///< link_reals: 18, 12 or 8

/// Faces hold 12 reals, from the sender's read_projected().
template <class F>
struct HoppingArguments : stencil::Arguments<F> {
  Real<F> phase_re[8], phase_im[8];  ///< boundary phase of a hop in each direction
};

template <class F>
using HoppingKernel = stencil::Kernel<HoppingArguments<F>>;

/// Which pack: lanes of the block, direction in which the face's reader looks, +1 for H or -1 for its adjoint; remote: the reader sits on
/// another worker.
struct PackChoice {
  int lanes, direction, sign;
  bool remote = false;
  bool chunked = false;  ///< as stencil::Choice::chunked
};

/// On CPUs without a measurement: each hop asks for the next one's lines (a prototype gained 15 to 25 % on two cores of an AVX-512 Xeon),
/// and the next kernel finds results in the cache.
inline constexpr Launch default_launch{0, 0, {1, arch::Stores::plain}};

/// Threads of a GPU block where nobody chose, for a kernel of so many threads: measured on an H200 (docs/results),
/// where small lattices and double precision want smaller blocks to fill the multiprocessors evenly.
constexpr int usual_block_threads(bool is_double, std::int64_t threads) {
  constexpr std::int64_t large = 1 << 17;
  return !is_double && threads >= large ? arch::most_block_threads : 128;
}

}  // namespace quarkstar::wilson
