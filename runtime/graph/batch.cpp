#include "runtime/graph/batch.hpp"

#include "runtime/gpu/conditional_graph.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/gpu/one_by_one.hpp"
#include "runtime/gpu/several_gpus.hpp"
#include "runtime/graph/graph_cache.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/program.hpp"
#include "runtime/graph/segments.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/observe/codelet_costs.hpp"
#include "runtime/observe/gpu_times.hpp"
#include "runtime/observe/task_graph.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/error.hpp"

#include <starpu.h>

#include <algorithm>
#include <memory>

namespace quarkstar::runtime {
namespace {

thread_local Batch* collecting = nullptr;
thread_local int begun = 0;

/// The codelet's, under which what such tasks cost is remembered.
constexpr const char* fused_name = "fused";

/// The first block that a part works on; -1: none does.
int first_block(const std::vector<Batch::Part>& parts) {
  for (const Batch::Part& part : parts)
    if (part.placement.block >= 0) return part.placement.block;
  return -1;
}

/// The task's program (it ends with the task) and, for each step, its buffers and call.
struct Unpacked {
  std::unique_ptr<Program> program;
  std::vector<std::vector<void*>> pointers;
  std::vector<Call> calls;

  explicit Unpacked(Call& call) : program(take_program(call)) {
    for (const Program::Step& step : program->steps) {
      pointers.emplace_back();
      for (const int buffer : step.buffers) pointers.back().push_back(call.buffer<void>(buffer));
      calls.push_back(call.part(pointers.back().data(), step.part.arguments.data()));
    }
  }
};

void run_fused(Call& call) {
  Unpacked task(call);
  double bytes = 0;  // of what was done
  const double begin_of_all = starpu_timing_now();
  for (std::size_t i = 0; i < task.calls.size(); ++i) {
    const double begin = starpu_timing_now();
    const Batch::Part& part = task.program->steps[i].part;
    detail::run_guarded(*part.codelet, part.codelet->cpu(), task.calls[i], part.placement);
    record_step(task.calls[i], task.program->steps[i], begin, Session::current().throttler().stretch(call.worker(), begin));
    if (!task.calls[i].skipped()) bytes += part.cost.bytes;
  }
  if (CodeletCosts* costs = CodeletCosts::of_session(); costs != nullptr)
    costs->record(call.worker(), fused_name, bytes, starpu_timing_now() - begin_of_all);
}

#ifdef QUARKSTAR_CUDA
/// One by one, with or without a mark after each.
void enqueue_parts(Call& call, Unpacked& task, bool marked) {
  for (std::size_t i = 0; i < task.calls.size(); ++i) {
    const Batch::Part& part = task.program->steps[i].part;
    enqueue_step(part, task.calls[i]);
    if (i + 1 == task.calls.size()) flush_sums(static_cast<CudaStream>(call.stream()));
    call.gpu_times()->add(event_of(part), marked);
  }
}

/// A scalar step, the refresh behind it as a conditional part of the graph, and the step behind that where there is one,
/// which cannot start before such a part has ended; returns how many steps. 0: nothing was enqueued, the refresh cannot be
/// such a part.
std::size_t enqueue_with_refresh(Unpacked& task, std::size_t step, std::size_t refresh, CudaStream stream) {
  const std::unique_ptr<ConditionalGraph> conditional = ConditionalGraph::make(stream);
  if (conditional == nullptr) return 0;
  const auto& steps = task.program->steps;
  Call scalar = task.calls[step];
  scalar.set_refresh_condition(conditional->condition());
  enqueue_step(steps[step].part, scalar);
  const CudaStream inside = conditional->begin().front();
  const OneByOne one_by_one;
  const std::size_t next = step + 1 + refresh;
  for (std::size_t i = step + 1; i < next; ++i) {
    Call call(task.pointers[i].data(), steps[i].part.arguments.data(), nullptr, inside, scalar.worker());
    enqueue_step(steps[i].part, call);
  }
  flush_sums(inside);
  conditional->end();
  if (next == steps.size()) return next - step;
  enqueue_step(steps[next].part, task.calls[next]);
  return next + 1 - step;
}

/// A few kernels that never come twice in a row: the host enqueues them while others run.
void run_joined_on_cuda(Call& call) {
  Unpacked task(call);
  enqueue_parts(call, task, parts_timed_apart() || batches_are_sampled());
}

void run_fused_on_cuda(Call& call) {
  Unpacked task(call);
  const auto stream = static_cast<CudaStream>(call.stream());
  GpuTimes& times = *call.gpu_times();
  const auto part = [&task](std::size_t i) -> const Batch::Part& { return task.program->steps[i].part; };
  if (parts_timed_apart()) return enqueue_parts(call, task, true);
  ProgramKey key;
  for (std::size_t i = 0; i < task.calls.size(); ++i) key.append(part(i), task.pointers[i]);
  const auto enqueue_all = [&](StepTimes* steps) {
    for (std::size_t i = 0; i < task.calls.size(); ++i) {
      // Marks cannot be in a conditional part.
      if (const std::size_t refresh = steps == nullptr ? refresh_behind(*task.program, i) : 0; refresh > 0)
        if (const std::size_t enqueued = enqueue_with_refresh(task, i, refresh, stream); enqueued > 0) {
          i += enqueued - 1;
          continue;
        }
      if (steps != nullptr) steps->begin_step(stream);
      enqueue_step(part(i), task.calls[i]);
      if (steps != nullptr) steps->end_step(stream, call.worker(), event_of(part(i)));
    }
    flush_sums(stream);
  };
  const GraphRun run = run_through_graph(key.take(), stream, enqueue_all, batches_are_sampled(), false, replay_limit(*task.program, call));
  times.take(run.steps);
  if (batches_are_sampled() || run.times > 1) times.join_unmarked();
  for (const Program::Step& step : task.program->steps) times.add(event_of(step.part, run.times), false);
}
const Codelet fused_codelet(fused_name, run_fused, run_fused_on_cuda), joined_codelet("joined", run_fused, run_joined_on_cuda);
#else
const Codelet fused_codelet(fused_name, run_fused), joined_codelet("joined", run_fused);
#endif

const GraphFailure::RunsOthers fused_runs_others(fused_codelet), joined_runs_others(joined_codelet);

const Program& program_in(const void* arguments) { return **static_cast<const Program* const*>(arguments); }

double simulated_us(const void* arguments, int worker, int teams) { return simulate::program_us(program_in(arguments), worker, teams); }

void finish_simulated(const void* arguments, int worker, double begin_us, double end_us) {
  const std::unique_ptr<const Program> program(&program_in(arguments));
  simulate::record_program(*program, worker, begin_us, end_us);
}

}  // namespace

Batch* Batch::current() { return collecting; }

bool has_messages(const std::vector<Batch::Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Batch::Part& part) { return part.kind != Batch::Part::Kind::task; });
}

// Messages through the host have their places among the tasks, which then cannot wait in a list.
Batch::Batch()
    : waits_(Session::current().messages() == nullptr || (Session::current().messages()->by_device() && !parts_timed_apart())),
      number_(begun) {
  if (collecting != nullptr)
    throw Error(ErrorKind::internal, "Batch", "another batch of this thread is collecting tasks", "submit that one first");
  collecting = this;
  ++begun;
}

Batch::~Batch() {
  if (collecting == this) collecting = nullptr;
}

bool Batch::can_fuse() const {
  const Session& session = Session::current();
  const std::string& policy = session.options().policy;
  if (!fuses_batches(policy) || parts_.size() < 2 || has_messages(parts_)) return false;
  const int owner = parts_.front().placement.owner, block = first_block(parts_);
  const bool keeps = session.keeps_owners();
  // Others may give the task to any worker, and are to see the tasks of several blocks: packs before interiors is theirs to decide.
  const bool on_cuda = keeps ? session.worker(owner).kind == Worker::Kind::cuda : session.gpu_count() > 0;
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    const bool same_block = keeps || part.placement.block < 0 || part.placement.block == block;
    return part.placement.owner == owner && same_block && (!on_cuda || part.codelet->cuda() != nullptr);
  });
}

bool Batch::can_be_replayed() {
  Session& session = Session::current();
  const std::string& policy = session.options().policy;
  // What a task is must not depend on the worker that a policy chooses: a CPU does a batch once.
  const bool one_place = session.gpu_count() == 1 && !session.cpus_join();
  return session.gpu_count() > 0 && (session.keeps_owners() || (fuses_batches(policy) && one_place)) &&
         (session.messages() == nullptr || session.messages()->by_device()) && !parts_timed_apart() && !batches_are_sampled() &&
         !GraphRecording::is_active();
}

Cost Batch::submit(const Replays& replays) {
  collecting = nullptr;
  Cost total;
  for (const Part& part : parts_) {
    total.flops += part.cost.flops;
    total.bytes += part.cost.bytes;
  }
  if (!waits_) return total;
  const bool fuse = can_fuse();
  const std::vector<Part> parts = std::move(parts_);
  if constexpr (simulate::active)
    for (const Codelet* codelet : {&fused_codelet, &joined_codelet}) simulate::describe(*codelet, {simulated_us, finish_simulated});
  const GraphRecording::Pause noted;
  if (fuse) {
    submit_program(fused_codelet, std::make_unique<Program>(parts, replays));
    return total;
  }
  // Ranks agree on what is new without a word, because they submit the same codelets in the same order; what differs between them (numbers
  // of sites, addresses) must not be looked at.
  bool is_new = false;
  if (has_messages(parts)) {
    std::vector<const Codelet*> kind;
    for (const Part& part : parts) kind.push_back(part.codelet);
    is_new = Session::current().messages()->is_new(std::move(kind));
  }
  if (!is_new && can_run_across_gpus(parts) && submit_across_gpus(parts, replays)) return total;
  if (can_join(parts) && submit_joined(joined_codelet, parts)) return total;
  for (const Part& part : parts) {
    if (part.unfused) part.unfused();
    else detail::submit(*part.codelet, part.arguments.data(), part.arguments.size(), part.accesses, part.cost, part.placement);
  }
  return total;
}

}  // namespace quarkstar::runtime
