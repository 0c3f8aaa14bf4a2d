// The `static` policy. StarPU keeps a priority list for each worker; pushing to the owner's list is all there is to do.
#include <starpu.h>
#include <starpu_scheduler.h>

#include <atomic>
#include <climits>
#include <thread>

#include "runtime/policy/policy.hpp"
#include "runtime/sanitizer.hpp"
#include "runtime/task_record.hpp"

namespace quarkstar::runtime {
namespace {

void start(unsigned context) {
  starpu_sched_ctx_set_min_priority(context, INT_MIN);
  starpu_sched_ctx_set_max_priority(context, INT_MAX);
}

void stop(unsigned) {}
void workers_changed(unsigned, int*, unsigned) {}

int worker_of(const starpu_task* task) {
  happens_after(task);
  if (task->execute_on_a_specific_worker) return static_cast<int>(task->workerid);
  const bool ours = task->cl_arg != nullptr && task->cl != nullptr && task->cl->model != nullptr &&
                    task->cl->model->type == STARPU_PER_WORKER;
  const int owner = ours ? static_cast<const detail::TaskRecord*>(task->cl_arg)->placement.owner : 0;
  const auto workers = static_cast<int>(starpu_worker_get_count());
  const auto can_execute = [task](int worker) {
    return starpu_worker_can_execute_task(static_cast<unsigned>(worker), const_cast<starpu_task*>(task), 0) != 0;
  };
  if (owner >= 0 && owner < workers && can_execute(owner)) return owner;
  // The owner lacks an implementation (a CPU-only codelet of a GPU's block), or the decomposition was made for more
  // workers than this session has: the first worker that can. StarPU refuses tasks that none can execute.
  for (int worker = 0; worker < workers; ++worker)
    if (can_execute(worker)) return worker;
  return 0;
}

int push(starpu_task* task) {
  const int worker = worker_of(task);
  if (starpu_get_prefetch_flag() && task->nbuffers > 0)
    starpu_prefetch_task_input_for(task, static_cast<unsigned>(worker));
  return starpu_push_local_task(worker, task, task->priority);
}

std::atomic<bool> idle_workers_yield{false};

starpu_task* pop(unsigned) {  // workers empty their own lists before they ask the policy
  if (idle_workers_yield.load(std::memory_order_relaxed)) std::this_thread::yield();
  return nullptr;
}

}  // namespace

void yield_when_idle(bool yields) { idle_workers_yield = yields; }

starpu_sched_policy& static_policy() {
  static starpu_sched_policy policy = [] {
    starpu_sched_policy filled{};
    filled.init_sched = start;
    filled.deinit_sched = stop;
    filled.add_workers = workers_changed;
    filled.remove_workers = workers_changed;
    filled.push_task = push;
    filled.pop_task = pop;
    filled.prefetches = 1;
    filled.policy_name = "static";
    filled.policy_description = "quarkstar: every block has an owner";
    return filled;
  }();
  return policy;
}

}  // namespace quarkstar::runtime
