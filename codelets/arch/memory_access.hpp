#pragma once
// How a CPU kernel moves its fields. A speed setting: no bit depends on it.
#include <optional>
#include <string_view>

namespace quarkstar::arch {

/// plain: results go into the cache, as any store's. streaming: past it, in whole lines, which are then not read before they are written;
/// the next kernel finds them in memory only. Where an architecture has no such store, or a site's words fill no lines, plain is what is
/// done.
enum class Stores { plain, streaming };

struct MemoryAccess {
  int prefetch = 0;  ///< 1: software asks for the lines of hops to come, as far ahead as suits the kernel; 0: the hardware is on its own
  Stores stores = Stores::plain;
  friend bool operator==(const MemoryAccess&, const MemoryAccess&) = default;
};

/// Every one that kernels are compiled for.
inline constexpr MemoryAccess memory_accesses[] = {{0, Stores::plain}, {1, Stores::plain}, {0, Stores::streaming}, {1, Stores::streaming}};

inline constexpr std::string_view name_of(Stores stores) { return stores == Stores::plain ? "plain" : "streaming"; }

/// From the two numbers that a tune cache keeps: prefetch, 1 for streaming stores. Nothing where no kernel could run so.
constexpr std::optional<MemoryAccess> memory_access_from(int prefetch, int streaming) {
  if (prefetch < 0 || prefetch > 1 || streaming < 0 || streaming > 1) return std::nullopt;
  return MemoryAccess{prefetch, streaming == 1 ? Stores::streaming : Stores::plain};
}

}  // namespace quarkstar::arch
