#pragma once
// What a staggered Dslash kernel reads and writes: the contract between the codelet and the drivers of every architecture.
#include "codelets/field/host_field.hpp"
#include "codelets/stencil/arguments.hpp"

namespace quarkstar::staggered {

using stencil::Launch;
using stencil::OutputSums;
using KernelChoice = stencil::Choice;  ///< link_reals: of a long link (0: none); with vectors in lanes 18 or none

/// Words of a colour vector, a lane.
template <class F>
inline constexpr int vector_words = NumberFormat<F>::site_words(2 * colour_components);

/// Near hops are those of stencil::Arguments, over one site.
template <class F>
struct DslashArguments : stencil::Arguments<F> {
  const std::uint32_t* far;  ///< [outer site * 8 + direction], neighbour_entry, three hops
  const std::uint32_t* far_at;
  const F* far_links;   ///< nullptr: none
  Real<F> long_factor;  ///< of load_long_link()
  Real<F> near_factor;  ///< in half precision: unit of fat links over that of long links
};

template <class F>
using DslashKernel = stencil::Kernel<DslashArguments<F>>;
using stencil::PackArguments;
using stencil::PackKernel;

/// Without a measurement. On CPUs the kernel for several vectors lives on each hop asking for the next one's lines (1.2 to 1.6 times the
/// speed of one without on AVX2; docs/results/2026-11-22-avx2-staggered.md); for one vector the hardware does as well on its own (0.95
/// to 1.04), and the next kernel finds results in the cache.
constexpr Launch default_launch(int vectors) { return {0, 0, {vectors > 1 ? 1 : 0, arch::Stores::plain}}; }

}  // namespace quarkstar::staggered
