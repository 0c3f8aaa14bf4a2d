#pragma once

namespace quarkstar::tuning {

/// Bytes of its fields that a CPU owner's caches may keep from one application to the next.
inline constexpr double cached_bytes = 160.0 * (1 << 20);

}  // namespace quarkstar::tuning
