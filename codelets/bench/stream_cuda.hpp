#pragma once
#include <cstddef>

namespace quarkstar::bench {

/// Triad a = b + s c of doubles on a GPU, best of several passes, GB/s (1e9 bytes), 24 bytes an element. Three arrays of bytes_per_array.
/// Throws Error(environment) when the device has no room for them. In a build without CUDA: 0.
double measure_triad_on_gpu(int device, std::size_t bytes_per_array, int repetitions);

}  // namespace quarkstar::bench
