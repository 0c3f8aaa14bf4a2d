#pragma once
// Messages of kernels between hosts: a GPU leaves a face in host memory and a flag, a thread of its rank's host sends it, another receives
// it and raises the flag that the reader's GPU waits for. No host submits anything for it.
#include "runtime/gpu/gpu_flags.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace quarkstar::runtime::mpi {

class Job;

/// Words that a GPU and a thread of the host tell each other by. What the writer had written before is visible to who reads the word.
inline GpuFlag load_flag(const GpuFlag* flag) {
  return std::atomic_ref<GpuFlag>(*const_cast<GpuFlag*>(flag)).load(std::memory_order_acquire);
}
inline void store_flag(GpuFlag* flag, GpuFlag value) { std::atomic_ref<GpuFlag>(*flag).store(value, std::memory_order_release); }

/// The sending half of a mailbox between hosts. Its GPU writes message n (from 1) into the buffer when `room` has reached n - 1, then sets
/// `written` to n; the thread sends it and sets `room` to n when the buffer has left. Request: start() begins to send the buffer, done()
/// whether what was begun has ended.
template <class Request>
class ProxySend {
 public:
  ProxySend(const GpuFlag* written, GpuFlag* room, Request request) : written_(written), room_(room), request_(std::move(request)) {}

  /// Does what can be done without waiting; whether that was anything.
  bool advance() {
    if (!running_) {
      if (load_flag(written_) == sent_) return false;
      request_.start();
      return running_ = true;
    }
    if (!request_.done()) return false;
    running_ = false;
    store_flag(room_, ++sent_);
    return true;
  }
  /// Whether all that the GPU has written has left.
  bool at_rest() const { return !running_ && load_flag(written_) == sent_; }

 private:
  const GpuFlag* written_;
  GpuFlag* room_;
  Request request_;
  GpuFlag sent_ = 0;
  bool running_ = false;
};

/// The receiving half. A message is received into the buffer when `consumed` says that its GPU has read all that came before; then
/// `arrived` is the number of messages that have come.
template <class Request>
class ProxyReceive {
 public:
  ProxyReceive(GpuFlag* arrived, const GpuFlag* consumed, Request request)
      : arrived_(arrived), consumed_(consumed), request_(std::move(request)) {}

  bool advance() {
    if (!running_) {
      if (load_flag(consumed_) != received_) return false;
      request_.start();
      return running_ = true;
    }
    if (!request_.done()) return false;
    running_ = false;
    store_flag(arrived_, ++received_);
    return true;
  }

 private:
  GpuFlag* arrived_;
  const GpuFlag* consumed_;
  Request request_;
  GpuFlag received_ = 0;
  bool running_ = false;
};

/// The mailboxes of a rank that other hosts are at the other end of. They go by persistent requests of MPI, on a communicator of their own;
/// a request is made once and started for each message. A message is received as soon as there is room, before it is sent or not, so that
/// it needs no memory of MPI's. They live as long as the job: what has come to rest is used again by whoever opens the same mailboxes.
///
/// *No deadlock.* The thread that calls advance() waits for nothing, neither for a GPU nor for one message before another. A GPU waits for
/// room (an earlier message of the same mailbox has left, for which its receiver must have had room), or for a message that another GPU
/// writes earlier in the program. So a wait goes back in the order of the program until it comes to a rank that waits for nothing;
/// tests/protocol goes through all interleavings.
class Proxy {
 public:
  /// Collective: makes the communicator.
  explicit Proxy(Job& job);
  /// Gives up receives that nobody will send to. Collective; nothing may be under way.
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  /// The first of `count` tags that no other mailbox has: the same on every rank, because all ranks ask in the same order.
  int reserve_tags(int count);

  /// Memory is alive until the Proxy goes; flags are zero.
  void add_send(const void* data, std::size_t bytes, int to, int tag, const GpuFlag* written, GpuFlag* room);
  void add_receive(void* data, std::size_t bytes, int from, int tag, GpuFlag* arrived, const GpuFlag* consumed);

  /// Moves all that can move; whether that was anything. Calls MPI, so with the library in hand. For one thread at a time.
  bool advance();
  /// Whether every message that a GPU of this rank has written has left. From any thread.
  bool at_rest() const;

 private:
  struct Native;
  std::unique_ptr<Native> native_;
};

}  // namespace quarkstar::runtime::mpi
