#include "runtime/gpu/cuda_launch.cuh"
#include "runtime/gpu/gpu_flags.cuh"
#include "runtime/gpu/gpu_messages.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

namespace quarkstar::runtime {
namespace {

struct MailboxList {
  Mailbox at[most_gpu_flags];
};

// What the ends do with a mailbox, each in one thread.
struct Room {
  static __device__ void run(const Mailbox& m) { wait_for(m.consumed, *m.count, {m.late, m.patience_ns}); }
};
struct Sent {
  static __device__ void run(const Mailbox& m) {
    // The end of earlier kernels of the stream comes before this one, and release makes both visible everywhere in that order.
    __threadfence_system();
    FlagWord(*m.arrived).store(++*m.count, cuda::memory_order_release);
  }
};
struct Arrival {
  static __device__ void run(const Mailbox& m) { wait_for(m.arrived, *m.count + 1, {m.late, m.patience_ns}); }
};
struct Consumed {
  static __device__ void run(const Mailbox& m) {
    __threadfence_system();
    FlagWord(*m.consumed).store(++*m.count, cuda::memory_order_release);
  }
};

template <class Action>
__global__ void mailbox_kernel(const __grid_constant__ MailboxList list) {
  wait_for_predecessors_alone();
  Action::run(list.at[threadIdx.x]);
}

// What the ends do with piece p of a relayed mailbox, before it is copied and afterwards.
struct Outgoing {
  static __device__ const void* from(const Mailbox& m) { return m.data; }
  static __device__ void* to(const Mailbox& m) { return m.relay; }
  static __device__ void wait(const Mailbox& m, unsigned p) { wait_for(m.consumed + p, m.count[p], {m.late, m.patience_ns}); }
  static __device__ GpuFlag* told(const Mailbox& m, unsigned p) { return m.arrived + p; }
};
struct Incoming {
  static __device__ const void* from(const Mailbox& m) { return m.relay; }
  static __device__ void* to(const Mailbox& m) { return m.data; }
  static __device__ void wait(const Mailbox& m, unsigned p) { wait_for(m.arrived + p, m.count[p] + 1, {m.late, m.patience_ns}); }
  static __device__ GpuFlag* told(const Mailbox& m, unsigned p) { return m.consumed + p; }
};

constexpr int relay_threads = 512, words_in_flight = 8;
constexpr std::size_t most_relay_blocks = 2;

/// Blocks y = 0 .. gridDim.y - 1 take the pieces of mailbox blockIdx.x in turn: few, because they may wait long, beside an interior. Host
/// memory is far away, so a thread has several words on their way at once.
template <class Direction>
__global__ void __launch_bounds__(relay_threads) relay_kernel(const __grid_constant__ MailboxList list) {
  wait_for_predecessors_alone();
  const Mailbox& m = list.at[blockIdx.x];
  for (unsigned piece = blockIdx.y; piece * m.piece < m.bytes; piece += gridDim.y) {
    const std::size_t begin = piece * m.piece;
    const auto words = static_cast<unsigned>((min(m.piece, m.bytes - begin) + sizeof(uint4) - 1) / sizeof(uint4));
    if (threadIdx.x == 0) Direction::wait(m, piece);
    __syncthreads();
    const uint4* const from = static_cast<const uint4*>(Direction::from(m)) + begin / sizeof(uint4);
    uint4* const to = static_cast<uint4*>(Direction::to(m)) + begin / sizeof(uint4);
    for (unsigned i = threadIdx.x; i < words; i += words_in_flight * relay_threads) {
      uint4 word[words_in_flight];
#pragma unroll
      for (unsigned k = 0; k < words_in_flight; ++k)
        if (i + k * relay_threads < words) word[k] = __ldcv(from + i + k * relay_threads);
#pragma unroll
      for (unsigned k = 0; k < words_in_flight; ++k)
        if (i + k * relay_threads < words) to[i + k * relay_threads] = word[k];
    }
    __syncthreads();
    if (threadIdx.x > 0) continue;
    __threadfence_system();
    FlagWord(*Direction::told(m, piece)).store(++m.count[piece], cuda::memory_order_release);
  }
}

/// enqueue_some(list, count) for all mailboxes that are relayed, or for all others.
template <class Enqueue>
void for_lists(const std::vector<Mailbox>& mailboxes, bool relayed, Enqueue&& enqueue_some) {
  MailboxList list{};
  unsigned count = 0;
  for (const Mailbox& mailbox : mailboxes) {
    if ((mailbox.relay != nullptr) != relayed) continue;
    list.at[count++] = mailbox;
    if (count == most_gpu_flags) enqueue_some(list, std::exchange(count, 0));
  }
  if (count > 0) enqueue_some(list, count);
}

template <class Action>
void enqueue(const std::vector<Mailbox>& mailboxes, CudaStream stream, const char* what) {
  for_lists(mailboxes, false,
            [stream](const MailboxList& list, unsigned count) { launch_overlapping(mailbox_kernel<Action>, 1, count, stream, list); });
  check_launch(what);
}

template <class Direction>
void relay(const std::vector<Mailbox>& mailboxes, CudaStream stream, const char* what) {
  for_lists(mailboxes, true, [stream](const MailboxList& list, unsigned count) {
    std::size_t pieces = 0;
    for (unsigned i = 0; i < count; ++i) pieces = std::max(pieces, (list.at[i].bytes + list.at[i].piece - 1) / list.at[i].piece);
    const auto blocks = static_cast<unsigned>(std::min(pieces, most_relay_blocks));
    launch_overlapping(relay_kernel<Direction>, dim3(count, blocks), relay_threads, stream, list);
  });
  check_launch(what);
}

__global__ void known_words_kernel(std::uint64_t* words, std::uint64_t seed, std::size_t count) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += static_cast<std::size_t>(gridDim.x) * blockDim.x)
    words[i] = known_word(seed, i);
}

}  // namespace

void load_gpu_messages() {
  cudaFuncAttributes attributes{};
  for (const void* kernel : {reinterpret_cast<const void*>(mailbox_kernel<Room>), reinterpret_cast<const void*>(mailbox_kernel<Sent>),
                             reinterpret_cast<const void*>(mailbox_kernel<Arrival>),
                             reinterpret_cast<const void*>(mailbox_kernel<Consumed>), reinterpret_cast<const void*>(relay_kernel<Outgoing>),
                             reinterpret_cast<const void*>(relay_kernel<Incoming>), reinterpret_cast<const void*>(known_words_kernel)})
    cudaFuncGetAttributes(&attributes, kernel);
  check_launch("kernels of messages");
}

void enqueue_room(const std::vector<Mailbox>& to, CudaStream stream) { enqueue<Room>(to, stream, "wait for room in a mailbox"); }
void enqueue_sent(const std::vector<Mailbox>& to, CudaStream stream) {
  enqueue<Sent>(to, stream, "message to another GPU");
  relay<Outgoing>(to, stream, "message to another host");
}
void enqueue_arrival(const std::vector<Mailbox>& from, CudaStream stream) {
  enqueue<Arrival>(from, stream, "wait for a message");
  relay<Incoming>(from, stream, "message from another host");
}
void enqueue_consumed(const std::vector<Mailbox>& from, CudaStream stream) { enqueue<Consumed>(from, stream, "answer to a message"); }

void enqueue_known_words(std::uint64_t* words, std::uint64_t seed, std::size_t count, CudaStream stream) {
  known_words_kernel<<<64, 256, 0, stream>>>(words, seed, count);
  check_launch("known words");
}

}  // namespace quarkstar::runtime
