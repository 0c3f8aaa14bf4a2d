#pragma once
// Coarsening: many submissions become one task where there is nothing to schedule between them.
#include <vector>

#include "runtime/codelet.hpp"

namespace quarkstar::runtime {

/// While a Batch lives, the submitting thread's tasks are collected. When it ends, and all of them belong to one worker under the
/// `static` policy, they are submitted as one task that runs them in order: StarPU then costs one task instead of hundreds. On a GPU the
/// second batch with the same work is captured as a CUDA graph and later ones replay it. So are the tasks of several GPUs that reach
/// each other's memory. Where CPUs own blocks beside GPUs, they become one task for each stretch of an
/// owner's work between two exchanges. Otherwise they are submitted one by one. On several ranks nothing waits for the end of the batch: tasks are
/// submitted as they come, and the batch keeps only what they cost.
class Batch {
 public:
  Batch();
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Submits what has been collected. Throws what submission throws.
  Cost submit();

  struct Part {
    const Codelet* codelet;
    std::vector<std::byte> arguments;
    AccessList accesses;
    Cost cost;
    Placement placement;
    bool counted = true;  ///< false: a copy of a scalar step, which the first owner's counts
  };
  void add(Part part) { parts_.push_back(std::move(part)); }
  /// Whether tasks wait here until submit(); otherwise add() takes parts without arguments and accesses, and the tasks go their own way.
  bool tasks_wait() const { return waits_; }
  /// What has been collected so far.
  const std::vector<Part>& parts() const { return parts_; }

  /// The batch that is collecting, or nullptr.
  static Batch* current();

 private:
  bool can_fuse() const;
  bool waits_;
  std::vector<Part> parts_;
};

}  // namespace quarkstar::runtime
