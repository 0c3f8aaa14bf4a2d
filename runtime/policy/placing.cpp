#include "runtime/policy/placing.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/observe/codelet_costs.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/system/sanitizer.hpp"

#include <atomic>
#include <climits>
#include <cmath>
#include <thread>

namespace quarkstar::runtime {
namespace {

std::atomic<bool> idle_workers_yield{false};

void stop_nothing(unsigned) {}
void workers_changed(unsigned, int*, unsigned) {}

starpu_task* pop_nothing(unsigned) {  // workers empty their own lists before they ask the policy
  placing::idle();
  return nullptr;
}

double measured_gbs(Session& session, int worker) {
  if (const double own = session.events().measured_gbs(worker); own > 0) return own;
  const Worker& here = session.worker(worker);
  for (int other = 0; other < static_cast<int>(session.workers().size()); ++other)
    if (const double gbs = session.events().measured_gbs(other); gbs > 0 && session.worker(other).kind == here.kind)
      return gbs * here.bandwidth_gbs / session.worker(other).bandwidth_gbs;
  return 0;
}

}  // namespace

void yield_when_idle(bool yields) { idle_workers_yield = yields; }

namespace placing {

void allow_any_priority(unsigned context) {
  starpu_sched_ctx_set_min_priority(context, INT_MIN);
  starpu_sched_ctx_set_max_priority(context, INT_MAX);
}

void idle() {
  if (idle_workers_yield.load(std::memory_order_relaxed)) std::this_thread::yield();
}

const detail::TaskRecord* record_of(const starpu_task* task) {
  happens_after(task);
  const bool ours =
      task->cl_arg != nullptr && task->cl != nullptr && task->cl->model != nullptr && task->cl->model->type == STARPU_PER_WORKER;
  return ours ? static_cast<const detail::TaskRecord*>(task->cl_arg) : nullptr;
}

bool can_execute(const starpu_task* task, int worker) {
  return starpu_worker_can_execute_task(static_cast<unsigned>(worker), const_cast<starpu_task*>(task), 0) != 0;
}

int owner_of(const starpu_task* task) {
  if (task->execute_on_a_specific_worker) return static_cast<int>(task->workerid);
  const detail::TaskRecord* record = record_of(task);
  const int owner = record != nullptr ? record->placement.owner : 0;
  const auto workers = static_cast<int>(starpu_worker_get_count());
  if (owner >= 0 && owner < workers && can_execute(task, owner)) return owner;
  for (int worker = 0; worker < workers; ++worker)
    if (can_execute(task, worker)) return worker;
  return 0;
}

double expected_us(starpu_task* task, int worker) {
  const detail::TaskRecord* record = record_of(task);
  if (record == nullptr) return 1;
  Session& session = Session::current();
  const Worker& here = session.worker(worker);
  const Worker& home = session.worker(owner_of(task));
  const bool remote = here.kind == Worker::Kind::cpu && home.kind == Worker::Kind::cpu && here.device != home.device;
  const CodeletCosts* costs = CodeletCosts::of_session();
  double us = costs != nullptr ? costs->predicted_us(worker, record->codelet->name(), record->cost.bytes) : 0;
  if (const double gbs = us > 0 ? 0 : measured_gbs(session, worker); gbs > 0) us = 1e-3 * record->cost.bytes / gbs;
  if (!(us > 0)) us = starpu_task_worker_expected_length(task, static_cast<unsigned>(worker), task->sched_ctx, 0);
  if (!std::isfinite(us) || !(us > 0)) us = 1;
  return remote ? 2 * us : us;
}

double moving_us(starpu_task* task, int worker) {
  const unsigned here = starpu_worker_get_memory_node(static_cast<unsigned>(worker));
  const unsigned home = starpu_worker_get_memory_node(static_cast<unsigned>(owner_of(task)));
  if (here == home) return 0;
  double us = starpu_task_expected_data_transfer_time_for(task, static_cast<unsigned>(worker));
  const auto count = static_cast<int>(STARPU_TASK_GET_NBUFFERS(task));
  for (int i = 0; i < count; ++i)
    if ((STARPU_TASK_GET_MODE(task, i) & STARPU_W) != 0)
      us += starpu_transfer_predict(here, home, starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, i)));
  return std::isfinite(us) ? us : 0;
}

int push_to(int worker, starpu_task* task) {
  if (starpu_get_prefetch_flag() && task->nbuffers > 0) starpu_prefetch_task_input_for(task, static_cast<unsigned>(worker));
  return starpu_push_local_task(worker, task, task->priority);
}

int push_to_owner(starpu_task* task) { return push_to(owner_of(task), task); }

starpu_sched_policy policy_that_places(const char* name, const char* description, int (*push)(starpu_task*)) {
  starpu_sched_policy policy{};
  policy.init_sched = allow_any_priority;
  policy.deinit_sched = stop_nothing;
  policy.add_workers = workers_changed;
  policy.remove_workers = workers_changed;
  policy.push_task = push;
  policy.pop_task = pop_nothing;
  policy.prefetches = 1;
  policy.policy_name = name;
  policy.policy_description = description;
  return policy;
}

}  // namespace placing
}  // namespace quarkstar::runtime
