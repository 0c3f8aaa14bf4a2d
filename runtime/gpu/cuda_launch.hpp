#pragma once

namespace quarkstar::runtime {

/// Whether kernels on the calling worker's GPU may be launched with launch_overlapping()'s attribute: they were compiled for compute
/// capability 9.0 or later, so that wait_for_predecessors() is in them, and $QUARKSTAR_OVERLAP is not `off`.
bool kernels_can_overlap();

}  // namespace quarkstar::runtime
