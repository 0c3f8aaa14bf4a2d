#pragma once
// Messages between the task graphs of ranks: submitted like tasks, sent when the data are ready, waited for by no thread of ours.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/handle.hpp"
#include "runtime/mpi/job.hpp"

namespace quarkstar::runtime::mpi {

/// Places in the graph where a handle is sent, received, or summed over ranks. The graph orders them like tasks that read or write the
/// handle. A thread of this class makes the calls of MPI; it sleeps while there is nothing to do.
///
/// Why not StarPU's own MPI layer: it sends an envelope before each message and lets one envelope in at a time, its thread polls
/// without pause, and it ends the process with an assertion where we name the peer (docs/starpu.md has the comparison).
class Messages {
 public:
  explicit Messages(Job& job);
  /// Waits for the messages on their way.
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// Numbers that no other message of this session has: the same on every rank, because all ranks ask in the same order.
  int reserve_tags(int count);

  /// What a message is, for diagnostics; the text must live for ever.
  struct Label {
    const char* what;
    int block = -1, direction = -1;
  };

  /// Whole handles, of equal length at both ends.
  void send(const Handle& handle, int to, int tag, const Label& label);
  void receive(const Handle& handle, int from, int tag, const Label& label);
  /// total <- sums over all ranks of `local`, both holding `count` BinnedSum. All ranks submit their sums in the same order.
  void sum(const Handle& total, const Handle& local, int count, const char* what);

  /// Blocks until nothing is on its way.
  void wait_idle();
  /// Messages that were submitted and not completed.
  std::int64_t pending() const { return pending_.load(); }

  struct Totals {
    std::int64_t messages = 0, bytes = 0, sums = 0;  ///< sent messages, their bytes, and sums over ranks
  };
  Totals totals() const;

  /// What is waited for, for a watchdog: "face of block 3 along -t from rank 2 (node12), tag 17, 4096 bytes", the longest first.
  std::vector<std::string> waiting() const;
  /// Grows whenever a message completes.
  std::int64_t progress() const { return completed_.load(); }

 private:
  struct Message;
  struct Calls;
  void post(std::unique_ptr<Message> message);
  static void acquired(void* message) noexcept;
  void ready(Message* message);
  void run();
  void complete(Message* message);

  Job& job_;
  int next_tag_ = 0, most_tags_ = 32767;
  std::int64_t next_sum_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::vector<Message*> ready_;    ///< their data can be used
  std::vector<Message*> posted_;   ///< all that are not complete, for diagnostics
  std::atomic<std::int64_t> pending_{0}, completed_{0};
  Totals totals_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace quarkstar::runtime::mpi
