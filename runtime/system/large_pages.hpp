#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>

namespace quarkstar::runtime {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;

/// Memory to be released with std::free; nullptr when there is not enough. Aligned to a cache line, or to `alignment`; from 2 MiB on it
/// asks for huge pages: Dslash touches 17 streams at once and 4 KiB pages exhaust the TLB.
inline void* allocate_pages(std::size_t bytes, std::size_t alignment = 64) {
  const bool large = bytes >= huge_page;
  void* memory = nullptr;
  if (posix_memalign(&memory, large ? huge_page : alignment, bytes) != 0) return nullptr;
  if (large) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

}  // namespace quarkstar::runtime
