#include "runtime/batch.hpp"

#include <starpu.h>

#include <algorithm>
#include <map>
#include <memory>

#include "runtime/graph_cache.hpp"
#include "runtime/session.hpp"

namespace quarkstar::runtime {
namespace {

thread_local Batch* collecting = nullptr;

/// The parts of a fused task with their buffers numbered among those of the whole.
struct Program {
  struct Step {
    Batch::Part part;
    std::vector<int> buffers;
  };
  std::vector<Step> steps;
};

/// The task's program (it ends with the task) and, for each step, its buffers and call.
struct Unpacked {
  std::unique_ptr<Program> program;
  std::vector<std::vector<void*>> pointers;
  std::vector<Call> calls;

  explicit Unpacked(Call& call) : program(*const_cast<Program**>(&call.arguments<Program*>())) {
    call.record_parts();
    for (const Program::Step& step : program->steps) {
      pointers.emplace_back();
      for (const int buffer : step.buffers) pointers.back().push_back(call.buffer<void>(buffer));
      calls.push_back(call.part(pointers.back().data(), step.part.arguments.data()));
    }
  }
};

void record(Call& part, const Program::Step& step, double begin) {
  Session::current().events().record(part.worker(), {step.part.codelet->name(), step.part.placement.block, begin, starpu_timing_now(),
                                                     part.skipped() ? Cost{} : step.part.cost, part.skipped()});
}

void run_fused(Call& call) {
  Unpacked task(call);
  for (std::size_t i = 0; i < task.calls.size(); ++i) {
    const double begin = starpu_timing_now();
    task.program->steps[i].part.codelet->cpu()(task.calls[i]);
    record(task.calls[i], task.program->steps[i], begin);
  }
}

#ifdef QUARKSTAR_CUDA
void run_fused_on_cuda(Call& call) {
  Unpacked task(call);
  // What the batch does to which memory: equal keys mean that a captured graph can be replayed.
  std::vector<std::byte> key;
  const auto append = [&key](const void* data, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    key.insert(key.end(), first, first + bytes);
  };
  for (std::size_t i = 0; i < task.calls.size(); ++i) {
    const Batch::Part& part = task.program->steps[i].part;
    append(&part.codelet, sizeof part.codelet);
    append(part.arguments.data(), part.arguments.size());
    append(task.pointers[i].data(), task.pointers[i].size() * sizeof(void*));
  }
  const double begin = starpu_timing_now();
  run_through_graph(std::move(key), static_cast<CudaStream>(call.stream()), [&task] {
    for (std::size_t i = 0; i < task.calls.size(); ++i) task.program->steps[i].part.codelet->cuda()(task.calls[i]);
  });
  for (std::size_t i = 0; i < task.calls.size(); ++i) record(task.calls[i], task.program->steps[i], begin);
}
const Codelet fused_codelet("fused", run_fused, run_fused_on_cuda);
#else
const Codelet fused_codelet("fused", run_fused);
#endif

void submit_fused(const std::vector<Batch::Part>& parts) {
  struct Use {
    int number;
    Access::Mode mode;
  };
  std::map<const void*, Use> uses;
  AccessList accesses;
  auto program = std::make_unique<Program>();
  Cost cost;
  const Placement placement = parts.front().placement;
  for (const Batch::Part& part : parts) {
    Program::Step step{part, {}};
    cost.flops += step.part.cost.flops;
    cost.bytes += step.part.cost.bytes;
    for (const Access& access : step.part.accesses) {
      const auto [at, fresh] = uses.try_emplace(access.handle->state(), Use{static_cast<int>(accesses.size()), access.mode});
      if (fresh) accesses.push_back(access);
      // Written first: the old contents are not needed, whatever follows. Read first and written later: both.
      else if (at->second.mode == Access::Mode::in && access.mode != Access::Mode::in)
        at->second.mode = accesses[static_cast<std::size_t>(at->second.number)].mode = Access::Mode::inout;
      step.buffers.push_back(at->second.number);
    }
    program->steps.push_back(std::move(step));
  }
  submit(fused_codelet, program.get(), accesses, cost, {.owner = placement.owner, .block = placement.block});
  program.release();  // the task owns it now
}

}  // namespace

Batch* Batch::current() { return collecting; }

// Messages between ranks have their places among the tasks, which then cannot wait in a list.
Batch::Batch() {
  if (Session::current().messages() == nullptr) collecting = this;
}

Batch::~Batch() { collecting = nullptr; }

bool Batch::can_fuse() const {
  const Session& session = Session::current();
  if (session.options().policy != "static" || parts_.size() < 2) return false;
  const int owner = parts_.front().placement.owner;
  const bool on_cuda = session.worker(owner).kind == Worker::Kind::cuda;
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.placement.owner == owner && (!on_cuda || part.codelet->cuda() != nullptr);
  });
}

Cost Batch::submit() {
  collecting = nullptr;
  Cost total;
  for (const Part& part : parts_) {
    total.flops += part.cost.flops;
    total.bytes += part.cost.bytes;
  }
  const bool fuse = can_fuse();
  const std::vector<Part> parts = std::move(parts_);
  if (fuse) submit_fused(parts);
  else
    for (const Part& part : parts)
      detail::submit(*part.codelet, part.arguments.data(), part.arguments.size(), part.accesses, part.cost, part.placement);
  return total;
}

}  // namespace quarkstar::runtime
