#pragma once
// One task for the work of several GPUs.
#include <memory>
#include <vector>

#include "runtime/batch.hpp"

namespace quarkstar::runtime {

/// Whether these parts can be one task over several GPUs of this process: `static` policy, every owner a GPU, every part with a GPU
/// version, at least two owners, each able to write into the others' memory, parts not timed apart. Always false in builds without CUDA.
bool can_run_across_gpus(const std::vector<Batch::Part>& parts);

/// Submits the parts as one task of the first owner's worker that enqueues every part on its owner's GPU. Order between GPUs is kept by
/// events, in graphs by flags, faces are written straight into their reader's memory, scalar steps are taken by every GPU from the same numbers. The task is
/// captured as one CUDA graph over all devices when it comes again. Returns false, with nothing submitted, when the parts do not fit
/// (an ordinary part writes what scalar steps write).
bool submit_across_gpus(const std::vector<Batch::Part>& parts);

}  // namespace quarkstar::runtime
