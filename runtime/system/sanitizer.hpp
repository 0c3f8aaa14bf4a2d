#pragma once
// Hand-overs told to ThreadSanitizer. StarPU and libgomp are not compiled with it, so it cannot see what they order; what a task may
// rely on is said here instead, and no more: a task that writes what it declared `in` is a reported race. Empty in every other build.

#if defined(__SANITIZE_THREAD__)
#define QUARKSTAR_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define QUARKSTAR_TSAN
#endif
#endif

#ifdef QUARKSTAR_TSAN
#include <sanitizer/tsan_interface.h>
/// For a function whose own reads and writes libgomp orders. What it calls is watched.
#define QUARKSTAR_UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define QUARKSTAR_UNWATCHED
#endif

namespace quarkstar::runtime {

#ifdef QUARKSTAR_TSAN
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif

/// What this thread did so far happens before whatever follows happens_after() of the same address on any thread.
inline void happens_before([[maybe_unused]] const void* address) {
#ifdef QUARKSTAR_TSAN
  if (address != nullptr) __tsan_release(const_cast<void*>(address));
#endif
}
inline void happens_after([[maybe_unused]] const void* address) {
#ifdef QUARKSTAR_TSAN
  if (address != nullptr) __tsan_acquire(const_cast<void*>(address));
#endif
}

/// Use of a handle's memory, from begin_access to end_access: after all earlier writers and, for a writer, all earlier readers.
/// Memory that StarPU hands on from one handle to the next keeps its address, and so its order.
inline void begin_access(const void* memory, bool writes) {
  happens_after(memory);
  if (writes && memory != nullptr) happens_after(static_cast<const char*>(memory) + 1);
}
inline void end_access(const void* memory, bool writes) {
  happens_before(writes || memory == nullptr ? memory : static_cast<const char*>(memory) + 1);
}

}  // namespace quarkstar::runtime
