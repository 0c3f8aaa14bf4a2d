#pragma once
// Large arrays of the host (runtime/system/large_array.hpp) that GPUs copy from or to by themselves.
#include <cstddef>

namespace quarkstar::runtime {

/// Before a copy between a GPU and an array. The array is registered with the GPUs' driver, until it is freed: then copies need none of the
/// driver's own before them and run beside their caller. On one H200 that takes 8 ms for the 382 MB of links of 24^3 x 48, on huge pages
/// that are there, and a copy 8 ms instead of 50 to the GPU and 130 from it (docs/results/2026-12-01-h200-set-up.md). Where the driver
/// refuses it a warning says so once; without CUDA nothing happens. The caller's device is that of the copy. For any thread.
void pin_array(const void* array, std::size_t bytes);
/// std::free(), on any thread, whose device and context stay as they are; or the array is kept (KeptArrays).
void free_array(void* array) noexcept;

/// While one is there, registered arrays that are freed are kept and serve the next arrays of their sizes, as the links of a campaign's
/// next configuration: their pages are there, and copies of them need the driver's own no more. An array is kept only where the host has
/// twice as much memory left as all that are kept. One at a time.
class KeptArrays {
 public:
  KeptArrays();
  ~KeptArrays();
  KeptArrays(const KeptArrays&) = delete;
  KeptArrays& operator=(const KeptArrays&) = delete;
};
/// One that is kept, of exactly so many bytes; nullptr where there is none.
void* take_kept_array(std::size_t bytes) noexcept;

}  // namespace quarkstar::runtime
