#pragma once
// The contract between the smearing codelets and the kernels of every architecture.
#include "codelets/arch/dispatch.hpp"
#include "codelets/gauge/block_links.hpp"
#include "codelets/gauge/smear/coefficients.hpp"

#include <cstdint>

namespace quarkstar {

namespace smear {

/// out = smeared links (fat) or weighted three-link products (naik) of in, on the sites inside the border.
struct SmearArguments {
  double* out;
  const double* in;
  gauge::LinkShape out_shape, in_shape;  ///< equal extents; in: with the border that is read
  PathWeights weights;                   ///< of the fat links
  double naik_weight;
  bool naik;
};

/// Over rows [begin, end) of LinkShape::rows(), all four directions.
using SmearKernel = void (*)(const SmearArguments& arguments, std::int64_t begin, std::int64_t end);

}  // namespace smear

#define QUARKSTAR_DECLARE_SMEAR(architecture) \
  namespace architecture {                    \
  smear::SmearKernel smear_kernel();          \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_SMEAR)
#undef QUARKSTAR_DECLARE_SMEAR

}  // namespace quarkstar
