#pragma once
// A batch of tasks as one program: its steps, and the memory that they share.
#include "runtime/gpu/lane_schedule.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/graph_cache.hpp"
#include "runtime/observe/events.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace quarkstar::runtime {

/// The parts of a fused task, with their buffers numbered among those of the whole.
struct Program {
  struct Step {
    Batch::Part part;
    std::vector<int> buffers;  ///< number in `accesses` of each access of the part
  };
  std::vector<Step> steps;
  AccessList accesses;  ///< each handle once, with the mode that covers all uses
  Cost cost;
  int most_replays = 1;
  int state = -1;  ///< number of the buffer that begins with the status that ends replays; -1: none does

  explicit Program(const std::vector<Batch::Part>& parts, const Replays& replays = {});
};

/// Owners of parts in ascending order; messages have none.
std::vector<int> owners_of(const std::vector<Batch::Part>& parts);

/// A program's steps for a schedule whose devices are these owners.
std::vector<ScheduleStep> schedule_steps(const Program& program, const std::vector<int>& owners);

/// What a program does to which memory, as bytes: equal keys mean that a captured graph can be replayed.
class ProgramKey {
 public:
  void append(const void* data, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    key_.insert(key_.end(), first, first + bytes);
  }
  /// One step on these buffers.
  void append(const Batch::Part& part, const std::vector<void*>& pointers) {
    append(&part.codelet, sizeof part.codelet);
    append(part.arguments.data(), part.arguments.size());
    append(pointers.data(), pointers.size() * sizeof(void*));
  }
  std::vector<std::byte> take() { return std::move(key_); }

 private:
  std::vector<std::byte> key_;
};

/// Records one step of a fused CPU task as an event.
void record_step(Call& part, const Program::Step& step, double begin_us, double end_us);

/// The event of a part that a GPU runs so many times; when is not known yet (GpuTimes::add).
Event event_of(const Batch::Part& part, int times = 1);

/// Of a program that a GPU is about to run.
ReplayLimit replay_limit(const Program& program, const Call& call);

/// Enqueues the kernels of a step of a GPU's program. Sums of the step before are finished by a scalar step itself, before
/// any other by flush_sums(), which the caller also owes at the end and before others learn how far the stream is.
void enqueue_step(const Batch::Part& part, Call& call);

/// How many steps behind a scalar step do nothing unless that has found a refresh due: they go by its state, and follow
/// each other; 0 behind others.
std::size_t refresh_behind(const Program& program, std::size_t step);

/// The same, but 0 where more of a refresh follows them, which goes by something else: what a whole refresh sends is
/// also received in it. Roles and states decide, which all ranks have in common.
std::size_t whole_refresh_behind(const Program& program, std::size_t step);

/// Whether GPUs time the parts of a batch one by one: then they are enqueued one by one, by the worker that owns them, and no CUDA graph
/// is replayed, because inside one nothing can be told apart.
bool parts_timed_apart();

/// Whether kernels are timed in a sample of the batches (SessionOptions::time_kernels, KernelMarks), and of the others only the whole.
bool batches_are_sampled();

/// Submits a task of the first step's owner whose argument is the program, which it owns from then on; urgent if a step is.
void submit_program(const Codelet& codelet, std::unique_ptr<Program> program);

/// The program that a task was submitted with; to be called once.
std::unique_ptr<Program> take_program(Call& call);

}  // namespace quarkstar::runtime
