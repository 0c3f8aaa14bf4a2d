#pragma once
// Memory of a GPU that the program around us has allocated, by whatever means and in whatever CUDA context.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace quarkstar::runtime {

/// Throws Error(input) naming `argument` unless each address is one of a GPU: of its own memory or of managed memory. Any thread; also in a
/// build without CUDA, for the driver is loaded when it is first needed. It is asked once for all arrays of one allocation.
void require_foreign_memory(std::span<const void* const> addresses, std::string_view argument);
inline void require_foreign_memory(const void* address, std::string_view argument) { require_foreign_memory({&address, 1}, argument); }

/// Whether kernels that this process launches on a device, by number, can use memory of a GPU, so many bytes at each address: it is the
/// device's, and belongs to the device's own context or, as that of a pool, to none. In other contexts they would need the owner's leave.
/// Nor where fewer bytes are there: a copy then says so, where a kernel would take the context along.
bool kernels_reach(std::span<const void* const> addresses, std::size_t bytes, int device);
inline bool kernels_reach(const void* address, std::size_t bytes, int device) { return kernels_reach({&address, 1}, bytes, device); }

/// Waits for what is enqueued on `stream`, a CUstream of the context that the memory belongs to (nullptr: its default stream), before
/// kernels on streams of our own use the memory. Throws as copy_foreign().
void wait_for_foreign(const void* address, void* stream);
/// Whether they are one stream of one context: its default stream has two names, nullptr and CU_STREAM_LEGACY.
inline bool is_one_stream(const void* a, const void* b) {
  const auto number = [](const void* stream) { return stream == nullptr ? std::uintptr_t{1} : reinterpret_cast<std::uintptr_t>(stream); };
  return number(a) == number(b);
}

/// Rows of `width` bytes, each `pitch` bytes after the one before, in GPU memory and in host memory alike.
struct ForeignRows {
  void* device = nullptr;
  void* host = nullptr;
  std::size_t width = 0, pitch = 0, rows = 0;
};

enum class ForeignCopy { to_host, to_device };

/// Copies rows, and nothing between them, in the context that the memory belongs to. The copy is enqueued on `stream`, a CUstream of that
/// context (nullptr: its default stream), so what is enqueued there before comes before it; it has ended when this returns. The context of
/// this thread is as before. Throws Error(environment) with the driver's words where it fails: also of work that was enqueued before.
void copy_foreign(const ForeignRows& what, ForeignCopy direction, void* stream);

}  // namespace quarkstar::runtime
