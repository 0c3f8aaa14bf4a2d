#include "runtime/gpu/several_gpus.hpp"

#if defined(QUARKSTAR_CUDA) || defined(QUARKSTAR_SIMULATION)
#include "runtime/gpu/gpu_lanes.hpp"
#include "runtime/gpu/gpu_program.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/simulate/gpu_program.hpp"

#include <starpu.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#endif

namespace quarkstar::runtime {

#if !defined(QUARKSTAR_CUDA) && !defined(QUARKSTAR_SIMULATION)
bool reach_each_other(const std::vector<int>&) { return false; }
bool can_run_across_gpus(const std::vector<Batch::Part>&) { return false; }
bool submit_across_gpus(const std::vector<Batch::Part>&, const Replays&) { return false; }
#else
namespace {

#ifdef QUARKSTAR_SIMULATION
void run_across_gpus(Call&) {}
#endif

void no_cpu_version(Call&) {}

/// A codelet whose buffers live on these memory nodes: StarPU asks for them by codelet, not by task. Few patterns occur.
const Codelet& codelet_for(const std::vector<int>& nodes) {
  struct Pattern {
    std::vector<int> nodes;
    Codelet codelet{"several_gpus", no_cpu_version, run_across_gpus};
  };
  static std::map<std::vector<int>, std::unique_ptr<Pattern>> patterns;
  std::unique_ptr<Pattern>& pattern = patterns[nodes];
  if (!pattern) {
    pattern = std::make_unique<Pattern>();
    pattern->nodes = nodes;
    starpu_codelet& native = *pattern->codelet.native();
    native.cpu_funcs[0] = nullptr;
    native.where = STARPU_CUDA;
    native.specific_nodes = 1;
    native.dyn_nodes = pattern->nodes.data();
#ifdef QUARKSTAR_SIMULATION
    simulate::describe_gpu_programs(pattern->codelet);
#endif
    const GraphFailure::RunsOthers runs_others(pattern->codelet);
  }
  return pattern->codelet;
}

}  // namespace

bool reach_each_other(const std::vector<int>& workers) {
  for (const int a : workers) {
    if (Session::current().worker(a).kind != Worker::Kind::cuda) return false;
    for (const int b : workers)
      if (a != b && !devices_reach_each_other(starpu_worker_get_devid(a), starpu_worker_get_devid(b))) return false;
  }
  return true;
}

bool can_run_across_gpus(const std::vector<Batch::Part>& parts) {
  const Session& session = Session::current();
  if (!session.keeps_owners() || parts.size() < 2 || parts_timed_apart()) return false;
  const std::vector<int> owners = owners_of(parts);
  if (has_messages(parts) ? owners.size() != 1 : owners.size() < 2) return false;
  for (const Batch::Part& part : parts)
    if (part.codelet == nullptr ? part.mailbox == nullptr : part.codelet->cuda() == nullptr) return false;
  return reach_each_other(owners);
}

bool submit_across_gpus(const std::vector<Batch::Part>& parts, const Replays& replays) {
  const std::vector<int> owners = owners_of(parts);
  auto work = std::make_unique<GpuProgram>(GpuProgram{Program(parts, replays), {}, owners, {}, {}, {}, {}, has_messages(parts)});
  if (work->has_messages) {
    auto plan = plan_mailboxes(work->program);
    if (!plan) return false;
    work->mailboxes = *std::move(plan);
    const mpi::GpuPeers& peers = Session::current().messages()->peers();
    work->over_ranks = peers.sum_exchange();
    work->leaves_out_refreshes = peers.leaves_out_refreshes() && refreshes_have_own_mailboxes(work->program, work->mailboxes);
  }
  for (const int owner : owners) work->cuda_devices.push_back(starpu_worker_get_devid(owner));
  for (const Access& access : work->program.accesses) work->bytes.push_back(access.handle->bytes());

  std::vector<ScheduleStep> steps = schedule_steps(work->program, owners);
  if (work->has_messages) place_messages(steps, work->mailboxes);
  const auto reads_only = [](const ScheduleStep::Use& use) { return !use.writes; };
  for (std::size_t i = 0; i < steps.size(); ++i) {  // scalar steps with sums; another task on a state may read a state, which is everywhere
    ScheduleStep& step = steps[i];
    const bool is_scalar_step = work->program.steps[i].part.placement.role != Role::work;
    step.exchanges = step.everywhere && is_scalar_step && owners.size() <= SumExchange::most_devices &&
                     std::any_of(step.uses.begin(), step.uses.end(), reads_only);
  }
  auto schedule = schedule_lanes(steps, static_cast<int>(owners.size()), static_cast<int>(work->program.accesses.size()));
  if (!schedule) return false;
  work->schedule = *std::move(schedule);
#ifdef QUARKSTAR_SIMULATION
  work->times = simulate::times_of(*work);
#endif

  std::vector<int> nodes;
  for (const int device : work->schedule.home)
    nodes.push_back(static_cast<int>(starpu_worker_get_memory_node(static_cast<unsigned>(owners[static_cast<std::size_t>(device)]))));
  if (work->has_messages) {
    mpi::Messages& messages = *Session::current().messages();
    work->program.accesses.push_back(inout(messages.device_order()));
    nodes.push_back(nodes.front());
    messages.wait_idle();
  }
  const std::size_t tasks = work->program.steps.size();  // of the parts, those that are no messages
  const GpuProgram* argument = work.get();
  submit(codelet_for(nodes), argument, work->program.accesses, work->program.cost, {.owner = owners.front()});
  work.release();  // the task owns it now
  Session::current().events().count_fused(tasks);
  return true;
}
#endif

}  // namespace quarkstar::runtime
