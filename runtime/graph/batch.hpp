#pragma once
// Coarsening: many submissions become one task where there is nothing to schedule between them.
#include "runtime/graph/codelet.hpp"

#include <functional>
#include <vector>

namespace quarkstar::runtime {

struct Mailbox;

/// Of a batch that comes again and again: how often a task may replay it before it ends.
struct Replays {
  int most = 1;
  const Handle* state =
      nullptr;  ///< begins with the GraphStatus that ends the replays; one of the batch's handles. Without: `most` replays
};

/// While a Batch lives, the submitting thread's tasks are collected. When it ends, and all of them belong to one worker, they are
/// submitted as one task that runs them in order; where they are of one block, on the worker that the policy chooses: StarPU then costs one
/// task instead of hundreds, and a policy decides about milliseconds of work (`static-unfused` alone sees each task). On a GPU the second
/// batch with the same work is captured as a CUDA graph and later ones replay it. Under a policy that keeps_owners() (`static`, `adaptive`)
/// so are the tasks of several GPUs that reach each other's memory, and where CPUs own blocks beside GPUs, they become one task for each
/// stretch of an owner's work between two exchanges. Otherwise they are submitted one by one.
///
/// On several ranks whose GPUs reach each other (mpi::Messages::by_device) messages and sums over ranks are collected too and become steps
/// of the task, except in the first batch of a kind, which loads kernels. Ranks must end batches in the same order. On other ranks nothing
/// waits for the end of the batch: tasks are submitted as they come, and the batch keeps only what they cost.
class Batch {
 public:
  Batch();
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Submits what has been collected. replays: of a batch whose work goes on where it ended, for tasks that replay a CUDA graph (others run
  /// once): as one task hands over to the next, a GPU idles 0.3 ms, several GPUs 1 ms. Throws what submission throws.
  Cost submit(const Replays& replays = {});

  /// Whether batches of this session may be replayed; the same on all ranks. No where every task is looked at: in traces and recorded
  /// graphs.
  static bool can_be_replayed();

  struct Part {
    const Codelet* codelet = nullptr;  ///< nullptr: a message
    std::vector<std::byte> arguments{};
    AccessList accesses{};
    Cost cost{};
    Placement placement{};
    bool counted = true;  ///< false: a copy of a scalar step, which the first owner's counts
    /// A sum is a scalar step that exchanges its sums with those of other ranks.
    enum class Kind { task, sum, send, receive } kind = Kind::task;
    const Mailbox* mailbox = nullptr;  ///< of a message; nullptr: it cannot go from GPU to GPU
    std::function<void()> unfused{};   ///< of what is no task of one rank: submits it where the batch is not one task
  };
  void add(Part part) { parts_.push_back(std::move(part)); }
  /// Whether tasks wait here until submit(); otherwise add() takes parts without arguments, and the tasks go their own way.
  bool tasks_wait() const { return waits_; }
  /// What has been collected so far.
  const std::vector<Part>& parts() const { return parts_; }

  /// The batch that is collecting, or nullptr.
  static Batch* current();
  /// Which one it is of those of this thread, from 0.
  int number() const { return number_; }

 private:
  bool can_fuse() const;
  bool waits_;
  int number_;
  std::vector<Part> parts_;
};

/// Whether other ranks take part.
bool has_messages(const std::vector<Batch::Part>& parts);

}  // namespace quarkstar::runtime
