#pragma once
#include "runtime/gpu/pinned_arrays.hpp"
#include "runtime/system/large_pages.hpp"

#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace quarkstar::runtime {

/// For std::vector: memory of allocate_pages(), or a kept array (KeptArrays), and new elements have no value unless one is given. Pages of
/// 4 KiB, and zeros written by one thread, take longer to make than a GPU takes for what comes into them: 0.47 s for the staggered links of
/// 24^3 x 48 (docs/results/2026-11-28-set-up-h200.md).
template <class T>
struct PageAllocator {
  static_assert(std::is_trivially_copyable_v<T>);
  using value_type = T;

  PageAllocator() = default;
  template <class U>
  explicit PageAllocator(const PageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    void* memory = take_kept_array(count * sizeof(T));
    if (memory == nullptr) memory = allocate_pages(count * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { free_array(memory); }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) > 0) ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    else ::new (static_cast<void*>(at)) U;
  }
  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};

/// Of numbers of a whole lattice.
template <class T>
using LargeArray = std::vector<T, PageAllocator<T>>;

}  // namespace quarkstar::runtime
