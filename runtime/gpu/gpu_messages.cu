#include "runtime/gpu/cuda_launch.cuh"
#include "runtime/gpu/gpu_flags.cuh"
#include "runtime/gpu/gpu_messages.hpp"

#include <cuda_runtime.h>

#include <algorithm>

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

template <class Action>
void enqueue(const std::vector<Mailbox>& mailboxes, CudaStream stream, const char* what) {
  for (std::size_t first = 0; first < mailboxes.size(); first += most_gpu_flags) {
    const std::size_t count = std::min<std::size_t>(mailboxes.size() - first, most_gpu_flags);
    MailboxList list{};
    std::copy_n(mailboxes.begin() + static_cast<std::ptrdiff_t>(first), count, list.at);
    launch_overlapping(mailbox_kernel<Action>, 1, static_cast<unsigned>(count), stream, list);
  }
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
                             reinterpret_cast<const void*>(mailbox_kernel<Consumed>), reinterpret_cast<const void*>(known_words_kernel)})
    cudaFuncGetAttributes(&attributes, kernel);
  check_launch("kernels of messages");
}

void enqueue_room(const std::vector<Mailbox>& to, CudaStream stream) { enqueue<Room>(to, stream, "wait for room in a mailbox"); }
void enqueue_sent(const std::vector<Mailbox>& to, CudaStream stream) { enqueue<Sent>(to, stream, "message to another GPU"); }
void enqueue_arrival(const std::vector<Mailbox>& from, CudaStream stream) { enqueue<Arrival>(from, stream, "wait for a message"); }
void enqueue_consumed(const std::vector<Mailbox>& from, CudaStream stream) { enqueue<Consumed>(from, stream, "answer to a message"); }

void enqueue_known_words(std::uint64_t* words, std::uint64_t seed, std::size_t count, CudaStream stream) {
  known_words_kernel<<<64, 256, 0, stream>>>(words, seed, count);
  check_launch("known words");
}

}  // namespace quarkstar::runtime
