#pragma once
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/lattice/block_shape.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::staggered {

/// How the links of one hop length are stored in a block.
struct BlockLinks {
  BlockShape shape;
  Box block;
  Coord lattice;
  int reals, hops;
  double size;  ///< |c| of long links, the largest component of fat links
};

/// even, odd <- the links of `host` that touch the block's sites, as write_stored_link() stores them. The host's are read until the
/// stream has ended.
template <class F>
void launch_load_links(F* even, F* odd, const HostGauge& host, const BlockLinks& links, runtime::CudaStream stream);

}  // namespace quarkstar::staggered
