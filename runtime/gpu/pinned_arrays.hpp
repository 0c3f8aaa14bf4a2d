#pragma once
// Large arrays of the host (runtime/system/large_array.hpp) that GPUs copy from or to by themselves.
#include <cstddef>

namespace quarkstar::runtime {

/// Registers an array with the GPUs' driver, until it is freed, unless that has been done: then copies run at the bus's speed (one H200: 50
/// GB/s instead of 6) and beside their caller. Where the driver refuses, or without CUDA, nothing happens, and copies are slow. Takes
/// about as long as one slow copy, so it pays where there are two. For any thread.
void pin_array(const void* array, std::size_t bytes);
/// Before an array is freed; nothing for one that is not registered. For any thread.
void unpin_array(const void* array) noexcept;

}  // namespace quarkstar::runtime
