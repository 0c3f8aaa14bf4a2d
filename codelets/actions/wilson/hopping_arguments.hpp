#pragma once
// What a hopping kernel reads and writes: the contract between the codelet and the drivers of every architecture.
#include "codelets/arch/block_threads.hpp"
#include "codelets/stencil/arguments.hpp"
#include "codelets/stencil/epilogue.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace quarkstar::wilson {

using stencil::Launch;
using stencil::OutputSums;
using stencil::PackArguments;
using stencil::PackKernel;
using KernelChoice = stencil::Choice;  ///< link_reals: 18, 12 or 8

/// Faces hold what the sender has projected (face_words.hpp).
template <class F>
struct HoppingArguments : stencil::Arguments<F> {
  Real<F> phase_re[8], phase_im[8];  ///< boundary phase of a hop in each direction
};

/// With an epilogue's own behind them.
template <class F, class Epilogue>
struct HoppingArgumentsWith : HoppingArguments<F> {
  typename Epilogue::template Arguments<F> epilogue;
};
template <class F, class Epilogue>
using ArgumentsOf =
    std::conditional_t<std::is_empty_v<typename Epilogue::template Arguments<F>>, HoppingArguments<F>, HoppingArgumentsWith<F, Epilogue>>;

/// A register of lanes of an outer site, at a position of the list; next: the outer site after it, where it is asked for, or no_site.
struct SiteOfList {
  std::size_t outer, next;
  std::int64_t position;
  int lane0;
};

/// What a driver does with the hops' sums of several vectors at a site, one after the other.
template <class F>
struct SumsOfHops {
  Real<F>* r;  ///< of vector k at k % places, [place][register of lanes][component][re, im][lane]
  int places;
  void (*done)(void* driver, int k, const Real<F>* r);  ///< as soon as it is there
  void* driver;
};

/// The hops of a CPU kernel, which kernels of all epilogues share.
template <class F>
struct Hops {
  /// r = (H in)(x) of the only vector, [component][re, im][lane]; nullptr for rare blocks.
  void (*of_one_vector)(const HoppingArguments<F>& arguments, const SiteOfList& site, Real<F>* r) = nullptr;
  /// The same for `count` of several, for all lanes.
  void (*of_vectors)(const HoppingArguments<F>& arguments, const Hops& hops, const SiteOfList& site, const int* vectors, int count,
                     const SumsOfHops<F>& sums) = nullptr;
  int link_reals = 18, sign = 1, prefetch = 0;
  int first = 0, end = 8;  ///< directions; all of them, or one forward alone, which of_vectors() knows
  bool stream = false;     ///< results go past the cache
  friend bool operator==(const Hops&, const Hops&) = default;
};

/// A CPU kernel: a loop over sites which gives the sums of hops to an epilogue, and these hops.
template <class F, class Epilogue = stencil::LinearEpilogue>
struct HoppingKernel {
  using Arguments = ArgumentsOf<F, Epilogue>;
  void (*range)(const Arguments& arguments, std::int64_t begin, std::int64_t end, const std::int32_t* left_out, runtime::BinnedSum* sums,
                const Hops<F>& hops) = nullptr;
  Hops<F> hops{};
  /// As a stencil::Kernel.
  void operator()(const Arguments& arguments, std::int64_t begin, std::int64_t end, const std::int32_t* left_out,
                  runtime::BinnedSum* sums) const {
    range(arguments, begin, end, left_out, sums, hops);
  }
  friend bool operator==(const HoppingKernel&, const HoppingKernel&) = default;
};

/// The epilogue without hops over outer sites [begin, end); left_out as for a stencil::Kernel.
template <class F, class Epilogue>
using EpilogueKernel = void (*)(const ArgumentsOf<F, Epilogue>& arguments, int lanes, std::int64_t begin, std::int64_t end,
                                const std::int32_t* left_out);

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
