// Through the driver, without its headers or its library at build time: https://docs.nvidia.com/cuda/cuda-driver-api/. CUDA's runtime would
// make a context of its own in each thread that asks it, where the program may have another.
#include "runtime/gpu/foreign_memory.hpp"

#include "runtime/system/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace quarkstar::runtime {
namespace {

using Address = unsigned long long;
using Opaque = void*;
constexpr int success = 0;
constexpr int of_context = 1, of_memory_type = 2, of_device = 9, of_first = 11, of_size = 12;  // CU_POINTER_ATTRIBUTE_*
constexpr unsigned host_memory = 1, any_memory = 4;                                            // CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED

/// CUDA_MEMCPY2D.
struct Copy2d {
  std::size_t from_x = 0, from_y = 0;
  unsigned from_type = any_memory;
  const void* from_host = nullptr;
  Address from = 0;
  Opaque from_array = nullptr;
  std::size_t from_pitch = 0;
  std::size_t to_x = 0, to_y = 0;
  unsigned to_type = any_memory;
  void* to_host = nullptr;
  Address to = 0;
  Opaque to_array = nullptr;
  std::size_t to_pitch = 0;
  std::size_t width = 0, rows = 0;
};

/// The functions that are used, with the signatures of cuda.h.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*attribute_of_pointer)(void*, int, Address) = nullptr;
  int (*retain)(Opaque*, int) = nullptr;
  int (*release)(int) = nullptr;
  int (*push)(Opaque) = nullptr;
  int (*pop)(Opaque*) = nullptr;
  int (*context_of_stream)(Opaque, Opaque*) = nullptr;
  int (*wait_for_context)() = nullptr;
  int (*wait_for_stream)(Opaque) = nullptr;
  int (*copy)(Address, Address, std::size_t, Opaque) = nullptr;
  int (*copy_rows)(const Copy2d*, Opaque) = nullptr;
  int (*error_text)(int, const char**) = nullptr;
  std::string obstacle;  ///< why it cannot be used; "": it can

  Driver() {
    constexpr const char* name = "libcuda.so.1";
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);  // for ever: its threads may be at work
    if (library == nullptr) {
      obstacle = fmt::format("this machine has no CUDA driver ({})", name);
      return;
    }
    const auto find = [&](const char* symbol, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
      if (function == nullptr && obstacle.empty()) obstacle = fmt::format("the CUDA driver, {}, has no {}", name, symbol);
    };
    find("cuInit", init);
    find("cuPointerGetAttribute", attribute_of_pointer);
    find("cuDevicePrimaryCtxRetain", retain);
    find("cuDevicePrimaryCtxRelease_v2", release);
    find("cuCtxPushCurrent_v2", push);
    find("cuCtxPopCurrent_v2", pop);
    find("cuStreamGetCtx", context_of_stream);
    find("cuCtxSynchronize", wait_for_context);
    find("cuStreamSynchronize", wait_for_stream);
    find("cuMemcpyAsync", copy);
    find("cuMemcpy2DAsync_v2", copy_rows);
    find("cuGetErrorString", error_text);
    if (!obstacle.empty()) return;
    if (const int code = init(0); code != success) obstacle = fmt::format("the CUDA driver cannot be used: {}", text_of(code));
  }

  /// Whether the driver knows what it is asked of an address.
  template <class Value>
  bool tells(const void* address, int attribute, Value& value) const {
    return attribute_of_pointer(&value, attribute, reinterpret_cast<std::uintptr_t>(address)) == success;
  }
  std::string text_of(int code) const {
    const char* text = nullptr;
    if (error_text(code, &text) != success || text == nullptr) return fmt::format("error {}", code);
    return text;
  }
};

const Driver& driver() {
  static const auto* const only = new Driver;
  return *only;
}

void check(int code, const char* what) {
  if (code != success)
    throw Error(ErrorKind::environment, "GPU memory of the caller", fmt::format("{} failed: {}", what, driver().text_of(code)),
                "check the address and the stream, and what was enqueued there before");
}

/// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are no handles. The latter is a stream of the thread that names it, which is another one here
/// than the program's.
const Opaque default_stream = reinterpret_cast<Opaque>(std::uintptr_t{1}), of_thread = reinterpret_cast<Opaque>(std::uintptr_t{2});

/// Makes a context this thread's while it lives: that of a stream, or else that of an address; of memory that belongs to none, as that of a
/// pool, the device's own.
class ContextOf {
 public:
  ContextOf(const void* address, Opaque stream) {
    const Driver& cuda = driver();
    Opaque context = nullptr;
    if (stream != nullptr && stream != default_stream && stream != of_thread) {
      check(cuda.context_of_stream(stream, &context), "to find the context of the stream");
    } else if (!cuda.tells(address, of_context, context) || context == nullptr) {
      int device = 0;
      check(cuda.attribute_of_pointer(&device, of_device, reinterpret_cast<std::uintptr_t>(address)), "to find the device");
      check(cuda.retain(&context, device), "to take the device's context");
      retained_ = device;
    }
    if (const int code = cuda.push(context); code != success) {
      give_back();
      check(code, "to enter the context");
    }
  }
  ~ContextOf() {
    Opaque context = nullptr;
    driver().pop(&context);
    give_back();
  }
  ContextOf(const ContextOf&) = delete;
  ContextOf& operator=(const ContextOf&) = delete;

 private:
  void give_back() const {
    if (retained_ >= 0) driver().release(retained_);
  }
  int retained_ = -1;
};

/// What the driver has allocated in one piece, or nothing.
struct Allocation {
  Address first = 0;
  std::size_t size = 0;
  bool has(const void* address, std::size_t bytes) const {
    const Address at = reinterpret_cast<std::uintptr_t>(address);
    return at >= first && at - first < size && bytes <= size - (at - first);
  }
};

Allocation allocation_of(const void* address) {
  Allocation found;
  const Driver& cuda = driver();
  if (!cuda.tells(address, of_first, found.first) || !cuda.tells(address, of_size, found.size)) return {};
  return found;
}

}  // namespace

void require_foreign_memory(std::span<const void* const> addresses, std::string_view argument) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::input, Parameter(argument), fmt::format("it is said to be in GPU memory, but {}", why),
                "give an address of GPU memory, or copy the field to the host");
  };
  const Driver& cuda = driver();
  if (!cuda.obstacle.empty()) refuse(cuda.obstacle);
  Allocation before;
  for (const void* address : addresses) {
    if (before.has(address, 1)) continue;
    unsigned type = 0;
    if (!cuda.tells(address, of_memory_type, type)) refuse("the CUDA driver does not know the address");
    if (type == host_memory) refuse("the CUDA driver says that the address is one of the host");
    if (addresses.size() > 1) before = allocation_of(address);
  }
}

bool kernels_reach(std::span<const void* const> addresses, std::size_t bytes, int device) {
  const Driver& cuda = driver();
  if (!cuda.obstacle.empty()) return false;
  Allocation before;
  Opaque own = nullptr;
  for (const void* address : addresses) {
    if (before.has(address, bytes)) continue;
    int its = -1;
    if (!cuda.tells(address, of_device, its) || its != device) return false;
    before = allocation_of(address);
    if (!before.has(address, bytes)) return false;
    Opaque context = nullptr;
    if (!cuda.tells(address, of_context, context) || context == nullptr) continue;
    if (own == nullptr) {
      check(cuda.retain(&own, device), "to take the device's context");
      cuda.release(device);
    }
    if (context != own) return false;
  }
  return true;
}

void copy_foreign(const ForeignRows& what, ForeignCopy direction, void* stream) {
  if (what.rows == 0) return;
  const Driver& cuda = driver();
  const ContextOf context(what.device, stream);
  if (stream == of_thread) {  // all streams are waited for
    check(cuda.wait_for_context(), "to wait for the context");
    stream = nullptr;
  }
  auto from = reinterpret_cast<std::uintptr_t>(what.device), to = reinterpret_cast<std::uintptr_t>(what.host);
  if (direction == ForeignCopy::to_device) std::swap(from, to);
  if (what.width == what.pitch || what.rows == 1) {
    check(cuda.copy(to, from, what.pitch * (what.rows - 1) + what.width, stream), "the copy");
  } else {
    Copy2d copy;
    copy.from = from;
    copy.to = to;
    copy.from_pitch = copy.to_pitch = what.pitch;
    copy.width = what.width;
    copy.rows = what.rows;
    check(cuda.copy_rows(&copy, stream), "the copy");
  }
  check(cuda.wait_for_stream(stream), "to wait for the stream");
}

void wait_for_foreign(const void* address, void* stream) {
  if (!is_one_stream(stream, nullptr)) {
    const ContextOf context(address, stream);
    check(stream == of_thread ? driver().wait_for_context() : driver().wait_for_stream(stream), "to wait for the stream");
    return;
  }
  // A byte is copied, since the default stream waits for others when something is enqueued there.
  std::byte byte{};
  copy_foreign({const_cast<void*>(address), &byte, 1, 1, 1}, ForeignCopy::to_host, stream);
}

}  // namespace quarkstar::runtime
