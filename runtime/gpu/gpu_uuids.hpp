#pragma once
// Names of GPUs that stay theirs whatever numbers they have.
#include <string>
#include <vector>

namespace quarkstar::runtime {

/// Of the GPUs that gpus() lists, in its order, what $CUDA_VISIBLE_DEVICES takes: "GPU-8a5f...", of a part of a GPU "MIG-...". Empty
/// without a driver or in a build without CUDA; "" where the driver tells nothing of a GPU: no entry for that list, which ends there.
std::vector<std::string> gpu_uuids();

}  // namespace quarkstar::runtime
