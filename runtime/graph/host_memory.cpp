#include "runtime/graph/host_memory.hpp"

#include "runtime/simulate/simulate.hpp"
#include "runtime/system/large_pages.hpp"
#include "runtime/system/memory.hpp"
#include "runtime/system/sanitizer.hpp"

#include <spdlog/spdlog.h>
#include <starpu.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <set>

namespace quarkstar::runtime {
namespace {

bool pin_memory = false;
std::mutex unpinned_mutex;
std::set<const void*> unpinned;  ///< pieces that the driver would not pin

/// Whether a piece is registered with the GPUs' driver.
bool is_pinned(int flags) { return pin_memory && (flags & STARPU_MALLOC_PINNED) != 0; }

int allocate(unsigned, void** memory, std::size_t bytes, int flags) {
  // Pages are registered whole, and once: of two small pieces on one page the second would stay unregistered, and every copy of it would
  // go through the driver's own buffer while its worker waits.
  constexpr std::size_t page = 4096;
  *memory = simulate::active   ? simulate::allocate(bytes)
            : is_pinned(flags) ? allocate_pages((bytes + page - 1) / page * page, page)
                               : allocate_pages(bytes);
  if (*memory == nullptr) return -ENOMEM;
  if (is_pinned(flags) && starpu_memory_pin(*memory, bytes) != 0) {
    const std::lock_guard lock(unpinned_mutex);
    if (unpinned.insert(*memory).second && unpinned.size() == 1)
      spdlog::warn("memory of the host cannot be pinned, so copies to GPUs are slow; allow more with `ulimit -l`");
  }
  end_access(*memory, true);
  count_host_memory(bytes, true);
  return 0;
}

int deallocate(unsigned, void* memory, std::size_t bytes, int flags) {
  begin_access(memory, true);
  if (is_pinned(flags)) {
    const std::lock_guard lock(unpinned_mutex);
    if (unpinned.erase(memory) == 0 && starpu_memory_unpin(memory, bytes) != 0)
      spdlog::warn("the driver does not give up {} bytes of pinned memory", bytes);
  }
  if constexpr (simulate::active) simulate::deallocate(memory, bytes);
  else std::free(memory);
  count_host_memory(bytes, false);
  return 0;
}

}  // namespace

void give_host_memory(bool pins) {
  pin_memory = pins;
  starpu_malloc_set_hooks(allocate, deallocate);
}

}  // namespace quarkstar::runtime
