#pragma once
// Messages between the task graphs of ranks: submitted like tasks, sent when the data are ready, waited for by no thread of ours.
#include "runtime/graph/handle.hpp"
#include "runtime/mpi/gpu_peers.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/mailboxes.hpp"
#include "runtime/mpi/tags.hpp"
#include "runtime/simulate/rank.hpp"
#include "runtime/simulate/waiting.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace quarkstar::runtime {
class Codelet;
}

namespace quarkstar::runtime::mpi {

/// Throws Error(input) for a face that MPI cannot count.
void require_countable(std::size_t bytes);

/// Places in the graph where a handle is sent, received, or summed over ranks. The graph orders them like tasks that
/// read or write the handle. A thread of this class makes the calls of MPI; it sleeps while there is nothing to do; a
/// guest of a program with one thread for MPI looks after them there (Funnel::set_step). In a simulation it is an actor, and MPI is
/// SimGrid's.
///
/// Why not StarPU's own MPI layer: it sends an envelope before each message and lets one envelope in at a time, its
/// thread polls without pause, and it ends the process with an assertion where we name the peer (docs/architecture.md has numbers).
///
/// Where every rank has a GPU of its own (by_device()), messages of a batch are steps of its program instead, sums are exchanged by its
/// scalar steps, and no host submits anything: runtime/gpu/gpu_messages.hpp, runtime/gpu/sum_exchange.hpp. The thread of this class serves
/// the pairs of ranks whose GPUs do not reach each other (Transports).
class Messages {
 public:
  Messages(Job& job, std::unique_ptr<GpuPeers> peers);
  /// Waits for the messages on their way.
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// The first of `count` numbers that no other message has while the pointer lives: the same on every rank, because all ranks ask, and let
  /// go, in the same order. Throws Error(environment) when there are not so many.
  std::shared_ptr<const int> reserve_tags(int count);

  /// What a message is, for diagnostics; the text must live for ever.
  struct Label {
    const char* what;
    int block = -1, direction = -1;
  };

  /// Whole handles, of equal length at both ends. mailbox: for batches where by_device(), else nullptr.
  void send(const Handle& handle, int to, int tag, const Label& label, const Mailbox* mailbox = nullptr);
  void receive(const Handle& handle, int from, int tag, const Label& label, const Mailbox* mailbox = nullptr);
  /// total <- sums over all ranks of `local`, both holding `count` BinnedSum, through the host (TwoStepSums). All ranks submit
  /// their sums in the same order.
  void sum(const Handle& total, const Handle& local, int count, const char* what);

  /// Whether batches may send from GPU to GPU: the same on every rank.
  bool by_device() const { return peers_->usable(); }
  GpuPeers& peers() { return *peers_; }
  const GpuPeers& peers() const { return *peers_; }
  /// Whether tasks and messages that are submitted now wait for the end of a batch.
  bool collected() const;
  /// TwoStepSums::obstacle() of sums through the host.
  std::string obstacle_to_shared_sums() const;
  /// For a watchdog; kept as long as others keep it.
  void watch(std::shared_ptr<const Mailboxes> mailboxes);
  /// "face of block 3 along -t from rank 2 (node12), tag 17, 4096 bytes"
  std::string describe(const Label& label, bool sent, int peer, int tag, std::size_t bytes) const;
  /// What tasks that send from GPU to GPU modify: ranks run them in the order of submission, because they wait for each other.
  const Handle& device_order() const { return device_order_; }

  /// Whether a batch of this kind comes for the first time.
  bool is_new(std::vector<const Codelet*> kind) { return kinds_.insert(std::move(kind)).second; }

  /// Blocks until nothing is on its way through the host.
  void wait_idle();
  /// Blocks until every face that a GPU of this rank has written for another host has left: tasks end before.
  void wait_sent();
  /// A guest's host waits again, so that GPUs may work.
  void wake();
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
  void post_send(const Handle& handle, int to, int tag, const Label& label);
  void post_receive(const Handle& handle, int from, int tag, const Label& label);
  void post(std::unique_ptr<Message> message);
  static void acquired(void* message) noexcept;
  void ready(Message* message);
  void run();
  bool look(Calls& calls);
  void complete(Message* message);

  Job& job_;
  std::unique_ptr<GpuPeers> peers_;
  Handle device_order_;
  std::vector<std::weak_ptr<const Mailboxes>> watched_;
  std::set<std::vector<const Codelet*>> kinds_;
  struct Numbers;
  std::shared_ptr<Numbers> numbers_;  ///< also of those who have reserved some
  std::int64_t next_sum_ = 0;
  mutable simulate::Mutex mutex_;
  simulate::Condition changed_, idle_;
  std::vector<Message*> ready_;   ///< their data can be used
  std::vector<Message*> posted_;  ///< all that are not complete, for diagnostics
  std::atomic<std::int64_t> pending_{0}, completed_{0};
  Totals totals_;
  bool ending_ = false;
  std::unique_ptr<Calls> calls_;
  simulate::MpiThread thread_;
};

}  // namespace quarkstar::runtime::mpi
