// A stand-in for the CUDA driver (libcuda.so.1), for tests of what is done with a caller's device memory: that memory cannot be reached by
// the host's own loads and stores, belongs to a context, which must be the current one where it is copied, and what is enqueued on a stream
// happens when the stream is waited for and no earlier. One device without kernels.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace {

using Address = unsigned long long;
constexpr int success = 0, invalid_value = 1, no_memory = 2, not_initialized = 3, invalid_context = 201, illegal_address = 700;

struct Context {
  int number;
};
struct Stream {
  Context* context;
  std::deque<std::function<void()>> work;
};
struct Piece {
  std::size_t bytes;
  Context* context;  // nullptr: of a pool
};

std::mutex mutex;
bool is_running = false;
Context primary{0};
int primary_users = 0;
thread_local std::vector<Context*> current;
std::map<Address, Piece> pieces;
std::vector<Stream*> streams;
Stream default_stream{nullptr, {}};

/// Device addresses, and the same bytes where the stand-in reaches them.
struct Memory {
  static constexpr std::size_t bytes = std::size_t{1} << 28;
  std::byte *there = nullptr, *here = nullptr;
  std::size_t used = 0;
  Memory() {
    const int file = memfd_create("fake_cuda", 0);
    if (file < 0 || ftruncate(file, bytes) != 0) return;
    there = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0));
    here = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
  }
};
Memory& memory() {
  static Memory only;
  return only;
}

const Piece* piece_of(Address address) {
  auto next = pieces.upper_bound(address);
  if (next == pieces.begin()) return nullptr;
  --next;
  return address < next->first + next->second.bytes ? &next->second : nullptr;
}
Context* now() { return current.empty() ? nullptr : current.back(); }

/// Where the stand-in reaches `bytes` at an address; nullptr where the context may not, or where there are fewer.
std::byte* reach(Address address, std::size_t bytes, int& code) {
  const auto first = reinterpret_cast<std::uintptr_t>(memory().there);
  if (address < first || address >= first + Memory::bytes) return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
  const Piece* const piece = piece_of(address);
  if (piece == nullptr || piece_of(address + bytes - 1) != piece) code = invalid_value;
  else if (piece->context != nullptr && piece->context != now()) code = invalid_context;
  return memory().here + (address - first);
}

/// nullptr, and 1: the default stream. 2 is that of a thread.
Stream* stream_of(void* stream) {
  const auto number = reinterpret_cast<std::uintptr_t>(stream);
  return number < 2 ? &default_stream : number == 2 ? nullptr : static_cast<Stream*>(stream);
}
void drain(Stream& stream) {
  while (!stream.work.empty()) {
    stream.work.front()();
    stream.work.pop_front();
  }
}
/// What waits for the default stream waits for the others: they are blocking streams.
void wait(Stream& stream) {
  if (&stream == &default_stream)
    for (Stream* const other : streams) drain(*other);
  drain(stream);
}
int enqueue(void* stream, std::function<void()> work) {
  Stream* const queue = stream_of(stream);
  if (queue == nullptr || now() == nullptr) return invalid_context;
  if (queue->context != nullptr && queue->context != now()) return invalid_context;
  queue->work.push_back(std::move(work));
  return success;
}

}  // namespace

struct Copy2d {
  std::size_t from_x, from_y;
  unsigned from_type;
  const void* from_host;
  Address from;
  void* from_array;
  std::size_t from_pitch, to_x, to_y;
  unsigned to_type;
  void* to_host;
  Address to;
  void* to_array;
  std::size_t to_pitch, width, rows;
};

extern "C" {

int cuInit(unsigned) {
  is_running = true;
  return success;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return is_running ? success : not_initialized;
}
int cuGetErrorString(int code, const char** text) {
  *text = code == invalid_context   ? "invalid device context"
          : code == no_memory       ? "out of memory"
          : code == illegal_address ? "an illegal memory access was encountered"
                                    : "invalid argument";
  return success;
}

int cuCtxCreate_v2(Context** context, unsigned, int) {
  static int contexts = 0;
  *context = new Context{++contexts};
  current.push_back(*context);
  return success;
}
int cuCtxGetCurrent(Context** context) {
  *context = now();
  return success;
}
int cuCtxPushCurrent_v2(Context* context) {
  current.push_back(context);
  return success;
}
int cuCtxPopCurrent_v2(Context** context) {
  if (current.empty()) return invalid_context;
  *context = current.back();
  current.pop_back();
  return success;
}
int cuCtxSynchronize() {
  const std::lock_guard lock(mutex);
  wait(default_stream);
  return success;
}
int cuDevicePrimaryCtxRetain(Context** context, int) {
  ++primary_users;
  *context = &primary;
  return success;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --primary_users;
  return success;
}
/// Of this test: retains that nothing has followed.
int fake_cuda_primary_users() { return primary_users; }

int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  Memory& all = memory();
  if (now() == nullptr || all.here == nullptr) return invalid_context;
  constexpr std::size_t page = 4096;
  const std::size_t whole = (bytes + page - 1) / page * page + page;
  if (all.used + whole > Memory::bytes) return no_memory;
  *address = reinterpret_cast<std::uintptr_t>(all.there + all.used);
  std::memset(all.here + all.used, 0x5a, whole);
  all.used += whole;
  pieces[*address] = {bytes, now()};
  return success;
}
int cuMemAllocAsync(Address* address, std::size_t bytes, void*) {
  const int code = cuMemAlloc_v2(address, bytes);
  if (code == success) pieces[*address].context = nullptr;
  return code;
}
int cuMemFree_v2(Address address) {
  const std::lock_guard lock(mutex);
  return pieces.erase(address) == 1 ? success : invalid_value;
}
/// Of this test: pieces that are not freed.
int fake_cuda_pieces() { return static_cast<int>(pieces.size()); }

int cuPointerGetAttribute(void* value, int attribute, Address address) {
  const std::lock_guard lock(mutex);
  const Piece* const piece = piece_of(address);
  if (piece == nullptr) return invalid_value;
  if (attribute == 1) *static_cast<Context**>(value) = piece->context;
  else if (attribute == 2) *static_cast<unsigned*>(value) = 2;
  else if (attribute == 9) *static_cast<int*>(value) = 0;
  else return invalid_value;
  return success;
}

int cuStreamCreate(Stream** stream, unsigned) {
  if (now() == nullptr) return invalid_context;
  *stream = new Stream{now(), {}};
  streams.push_back(*stream);
  return success;
}
int cuStreamGetCtx(Stream* stream, Context** context) {
  *context = stream->context;
  return success;
}
int cuStreamSynchronize(void* stream) {
  const std::lock_guard lock(mutex);
  Stream* const queue = stream_of(stream);
  if (queue == nullptr) return invalid_context;
  wait(*queue);
  return success;
}
int cuMemcpyAsync(Address to, Address from, std::size_t bytes, void* stream) {
  const std::lock_guard lock(mutex);
  int code = success;
  std::byte *const target = reach(to, bytes, code), *const source = reach(from, bytes, code);
  return code != success ? code : enqueue(stream, [=] { std::memcpy(target, source, bytes); });
}
int cuMemcpy2DAsync_v2(const Copy2d* copy, void* stream) {
  const std::lock_guard lock(mutex);
  int code = success;
  const Copy2d c = *copy;
  std::byte *const target = reach(c.to, (c.rows - 1) * c.to_pitch + c.width, code), *const source =
                                                                                        reach(c.from, (c.rows - 1) * c.from_pitch + c.width,
                                                                                              code);
  if (code != success) return code;
  return enqueue(stream, [=] {
    for (std::size_t row = 0; row < c.rows; ++row) std::memcpy(target + row * c.to_pitch, source + row * c.from_pitch, c.width);
  });
}
int cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, void* stream) {
  const std::lock_guard lock(mutex);
  int code = success;
  std::byte* const target = reach(to, bytes, code);
  return code != success ? code : enqueue(stream, [=] { std::memset(target, value, bytes); });
}
}
