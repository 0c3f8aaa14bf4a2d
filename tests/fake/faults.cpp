// Loaded before all others (LD_PRELOAD): makes the n-th of certain calls fail, once: C++ allocations of the whole process, C allocations
// and threads that libquarkstar.so asks for itself, and the start of StarPU. What StarPU, MPI, hwloc and libgomp ask for is theirs: they
// end the process where there is no memory, and nobody can change that from outside.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<long> seen{0}, fails{0};
std::atomic<bool> counts{false};

/// Whether this call is the one that fails.
bool fault() { return counts.load() && seen.fetch_add(1) + 1 == fails.load(); }

/// Whether the function that returns there is of libquarkstar.so, or of the C++ library that makes threads for it.
bool is_ours(const void* there, bool through_library = false) {
  Dl_info info;
  if (!counts.load() || dladdr(there, &info) == 0 || info.dli_fname == nullptr) return false;
  return std::strstr(info.dli_fname, "libquarkstar") != nullptr || (through_library && std::strstr(info.dli_fname, "libstdc++") != nullptr);
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fault()) return nullptr;
  return alignment <= alignof(std::max_align_t) ? __libc_malloc(bytes > 0 ? bytes : 1) : __libc_memalign(alignment, bytes > 0 ? bytes : 1);
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, usual); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return allocate_or_throw(bytes, static_cast<std::size_t>(alignment)); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, usual); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, usual); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" {

/// From now on calls are counted, and the n-th fails.
void faults_begin(long n) {
  seen = 0;
  fails = n;
  counts = true;
}
/// How many there were.
long faults_end() {
  counts = false;
  return seen;
}

void* malloc(std::size_t bytes) noexcept { return is_ours(__builtin_return_address(0)) && fault() ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t n, std::size_t bytes) noexcept {
  return is_ours(__builtin_return_address(0)) && fault() ? nullptr : __libc_calloc(n, bytes);
}
void* realloc(void* memory, std::size_t bytes) noexcept {
  return is_ours(__builtin_return_address(0)) && fault() ? nullptr : __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return is_ours(__builtin_return_address(0)) && fault() ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept {
  if (is_ours(__builtin_return_address(0)) && fault()) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory != nullptr ? 0 : ENOMEM;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  return is_ours(__builtin_return_address(0), true) && fault() ? EAGAIN : real(thread, attributes, start, argument);
}
int starpu_init(void* options) {
  using Function = int (*)(void*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "starpu_init"));
  return fault() ? -ENODEV : real(options);
}
}
