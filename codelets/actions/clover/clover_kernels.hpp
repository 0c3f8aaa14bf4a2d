#pragma once
// The contract between the codelet that makes the clover term and the kernels of every architecture.
#include "codelets/actions/clover/plane_weights.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/gauge/block_links.hpp"

#include <cstdint>

namespace quarkstar {

namespace clover {

/// out: the 72 reals of C on the sites inside the border, in the places of four links; in: links with a border of one site or more.
struct TermArguments {
  double* out;
  const double* in;
  gauge::LinkShape out_shape, in_shape;
  PlaneWeights weights;
};
/// Over rows [begin, end) of LinkShape::rows().
using TermKernel = void (*)(const TermArguments& arguments, std::int64_t begin, std::int64_t end);

}  // namespace clover

#define QUARKSTAR_DECLARE_CLOVER_TERM(architecture) \
  namespace architecture {                          \
  clover::TermKernel clover_term_kernel();          \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_CLOVER_TERM)
#undef QUARKSTAR_DECLARE_CLOVER_TERM

}  // namespace quarkstar
