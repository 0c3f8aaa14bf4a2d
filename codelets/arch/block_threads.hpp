#pragma once
// How large blocks of GPU threads may be.

namespace quarkstar::arch {

/// A Dslash kernel takes whole warps up to this: more threads would not find registers.
inline constexpr int warp_threads = 32, most_block_threads = 256;

/// Whether a kernel could run in blocks of so many threads; 0: its own choice.
constexpr bool is_block_size(int threads) { return threads >= 0 && threads <= most_block_threads && threads % warp_threads == 0; }

/// Throws Error(input) where it could not.
void require_block_size(int threads);

}  // namespace quarkstar::arch
