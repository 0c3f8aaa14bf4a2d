#pragma once
#include "codelets/quark_smear/colours_site.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// move_colours() for a block, in device memory.
template <class Spinors, class Colours>
void launch_colours(Spinors* spinors, Colours* colours, const quark_smear::ColoursTask& task, runtime::CudaStream stream);

/// write_hop_links() for a block.
void launch_hop_links(double* even, double* odd, const double* links, const quark_smear::HopLinksTask& task, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
