#pragma once
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/lattice/block_shape.hpp"
#include "runtime/gpu/cuda.hpp"

#include <array>

namespace quarkstar::cuda {

/// The links of one block, of both parities.
struct BlockLinks {
  BlockShape shape;
  Box block;
  Coord lattice;
  std::array<double, 4> factors;  ///< of each direction's links
  int reals;                      ///< 18 or 12
  bool chunked;                   ///< Lattice::chunked()
};

/// even, odd <- the links of `gauge` that touch the block's sites, times their factors, with the bits of write_link(). The
/// host's are read until the stream has ended.
template <class F>
void launch_load_links(F* even, F* odd, const HostGauge& gauge, const BlockLinks& links, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
