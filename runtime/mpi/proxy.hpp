#pragma once
// Messages of kernels between hosts: a GPU leaves a piece of a face in host memory and a flag, a thread of its rank's host sends it,
// another receives it and raises the flag that the reader's GPU waits for. No host submits anything for it.
#include "runtime/gpu/gpu_flags.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace quarkstar::runtime::mpi {

class Job;

/// Words that a GPU and a thread of the host tell each other by. What the writer had written before is visible to who reads the word.
inline GpuFlag load_flag(const GpuFlag* flag) {
  return std::atomic_ref<GpuFlag>(*const_cast<GpuFlag*>(flag)).load(std::memory_order_acquire);
}
inline void store_flag(GpuFlag* flag, GpuFlag value) { std::atomic_ref<GpuFlag>(*flag).store(value, std::memory_order_release); }

/// What is known of one end of a message that comes again and again between two hosts; the request itself is MPI's.
/// Sending: the GPU writes message n (from 1) into the buffer when `told` has reached n - 1, then sets `watched` to n; it is sent, and when
/// the buffer has left, `told` becomes n. Receiving: message n is received into the buffer when the GPU has set `watched` to n - 1, having
/// read all that came before; when it has come, `told` becomes n.
struct ProxyEnd {
  bool sends;
  const GpuFlag* watched;  ///< set by the GPU
  GpuFlag* told;           ///< seen by the GPU
  GpuFlag count = 0;       ///< messages that have left, or come
  bool running = false;

  bool may_start() const { return !running && (load_flag(watched) == count) != sends; }
  void end() {
    running = false;
    store_flag(told, ++count);
  }
  /// Whether all that the GPU has written has left.
  bool at_rest() const { return !sends || (!running && load_flag(watched) == count); }
};

/// The messages between a rank's GPU and those of other hosts, each a piece of a face with flags of its own. They go by persistent requests
/// of MPI; a request is made once and started for each message. A message is received as soon as there is room, before it is sent or not,
/// so that it needs no memory of MPI's. Of requests that are under way MPI is asked in one call, which moves all of them. They live as long
/// as the job: what has come to rest is used again by whoever opens the same mailboxes.
///
/// *No deadlock.* The thread that calls advance() waits for nothing, neither for a GPU nor for one message before another. A GPU waits for
/// room (an earlier message of the same mailbox has left, for which its receiver must have had room), or for a message that another GPU
/// writes earlier in the program. So a wait goes back in the order of the program until it comes to a rank that waits for nothing;
/// tests/protocol goes through all interleavings.
class Proxy {
 public:
  explicit Proxy(Job& job);
  /// Gives up receives that nobody will send to. Collective; nothing may be under way.
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  /// The number of a new set of messages, with tags of its own: those of a halo. Collective. A set has a communicator, because MPI looks
  /// through all receives of one that are posted before it finds a message's, and those of halos that rest are posted too.
  int open_set();

  /// Memory is alive until the Proxy goes; flags are zero. tag: another for each message of the set between two ranks, from 0 on.
  void add_send(int set, const void* data, std::size_t bytes, int to, int tag, const GpuFlag* written, GpuFlag* room);
  void add_receive(int set, void* data, std::size_t bytes, int from, int tag, GpuFlag* arrived, const GpuFlag* consumed);

  /// Moves all that can move; whether that was anything. Calls MPI, so with the library in hand. For one thread at a time.
  bool advance();
  /// Whether every message that a GPU of this rank has written has left. From any thread.
  bool at_rest() const;

 private:
  struct Native;
  std::unique_ptr<Native> native_;
};

}  // namespace quarkstar::runtime::mpi
