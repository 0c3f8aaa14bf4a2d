// The `halo-first` policy. Every worker has a queue of its own: packs and boundaries before interiors, the shortest first, because others
// wait for them and a pack is shorter than a boundary. A worker whose queue is empty takes a task from another's only where that pays:
// where the owner would end it later than the thief has brought its data, run it and brought the result back.
#include "runtime/policy/placing.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/policy/steal.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace quarkstar::runtime {
namespace halo_first {
namespace {

/// A task that is ready and waits for its owner.
struct Waiting {
  starpu_task* task;
  bool urgent;
  double expected_us;            ///< on the owner
  std::vector<float> moving_us;  ///< to each memory node and back; empty where there is one
};

bool goes_before(const Waiting& a, const Waiting& b) {
  if (a.urgent != b.urgent) return a.urgent;
  return a.urgent && a.expected_us < b.expected_us;
}

struct alignas(64) Queue {
  std::vector<Waiting> tasks;
  double busy_until_us = 0;               ///< predicted
  std::atomic<int> length{0};             ///< of tasks
  std::uint64_t nothing_to_steal_at = 0;  ///< `changes` when this worker last found nothing; its own thread's
};

std::mutex mutex;  ///< of the queues; held while no lock of StarPU's is taken
std::unique_ptr<Queue[]> queues;
int workers = 0;
std::atomic<std::uint64_t> changes{0};  ///< of what there is to steal

void start(unsigned context) {
  placing::allow_any_priority(context);
  workers = static_cast<int>(starpu_worker_get_count());
  queues = std::make_unique<Queue[]>(static_cast<std::size_t>(workers));
  changes = 0;
}

void stop(unsigned) { queues.reset(); }

Queue& queue_of(int worker) { return queues[static_cast<std::size_t>(worker)]; }

/// What moving the task's data costs, for each memory node.
std::vector<float> costs_of_moving(starpu_task* task) {
  if (starpu_memory_nodes_get_count() < 2 || placing::record_of(task) == nullptr) return {};
  std::vector<float> costs(starpu_memory_nodes_get_count(), -1.0f);
  for (int worker = 0; worker < workers; ++worker)
    if (float& cost = costs[starpu_worker_get_memory_node(static_cast<unsigned>(worker))]; cost < 0)
      cost = static_cast<float>(placing::moving_us(task, worker));
  return costs;
}

int push(starpu_task* task) {
  const int owner = placing::owner_of(task);
  const detail::TaskRecord* record = placing::record_of(task);
  if (starpu_get_prefetch_flag() && task->nbuffers > 0) starpu_prefetch_task_input_for(task, static_cast<unsigned>(owner));
  Waiting waiting{task, record != nullptr && record->placement.urgent, placing::expected_us(task, owner), costs_of_moving(task)};
  {
    const std::lock_guard lock(mutex);
    Queue& queue = queue_of(owner);
    queue.tasks.insert(std::upper_bound(queue.tasks.begin(), queue.tasks.end(), waiting, goes_before), std::move(waiting));
    starpu_push_task_end(task);
    queue.length = static_cast<int>(queue.tasks.size());
    ++changes;
  }
  starpu_wake_worker_relax_light(owner);
#if !defined(STARPU_NON_BLOCKING_DRIVERS) || defined(STARPU_SIMGRID)
  for (int worker = 0; worker < workers; ++worker)  // elsewhere idle workers look without being told
    if (worker != owner) starpu_wake_worker_relax_light(worker);
#endif
  return 0;
}

/// Takes a task out of a queue, whose lock is held.
starpu_task* take(Queue& from, std::vector<Waiting>::iterator which) {
  starpu_task* task = which->task;
  from.tasks.erase(which);
  from.length = static_cast<int>(from.tasks.size());
  return task;
}

/// The task of all others' queues that is won by most, or nullptr. The lock is held.
starpu_task* steal(int thief, double now_us) {
  Queue* victim = nullptr;
  std::vector<Waiting>::iterator best;
  double most = 0, takes_us = 0;
  const unsigned node = starpu_worker_get_memory_node(static_cast<unsigned>(thief));
  for (int owner = 0; owner < workers; ++owner) {
    if (owner == thief) continue;
    Queue& queue = queue_of(owner);
    double begins_us = std::max(now_us, queue.busy_until_us);
    for (auto waiting = queue.tasks.begin(); waiting != queue.tasks.end(); ++waiting) {
      if (placing::record_of(waiting->task) != nullptr && placing::can_execute(waiting->task, thief)) {
        const Loot loot{begins_us, waiting->expected_us, placing::expected_us(waiting->task, thief),
                        waiting->moving_us.empty() ? 0.0 : static_cast<double>(waiting->moving_us[node])};
        if (const double gain = gain_of_stealing(loot, now_us); gain > most) {
          victim = &queue;
          best = waiting;
          most = gain;
          takes_us = loot.moving_us + loot.thief_takes_us;
        }
      }
      begins_us += waiting->expected_us;
    }
  }
  if (victim == nullptr) return nullptr;
  queue_of(thief).busy_until_us = now_us + takes_us;
  return take(*victim, best);
}

starpu_task* pop(unsigned) {
  const int worker = starpu_worker_get_id_check();
  Queue& own = queue_of(worker);
  // While nobody pushes or begins a task no theft becomes worth while: the same gain only shrinks as time passes.
  if (own.length == 0 && own.nothing_to_steal_at == changes) {
    placing::idle();
    return nullptr;
  }
  const double now_us = starpu_timing_now();
  const std::lock_guard lock(mutex);
  if (!own.tasks.empty()) {
    // A GPU's worker takes tasks ahead, one at a time.
    const double expected_us = own.tasks.front().expected_us;
    const bool ahead = starpu_worker_get_type(worker) == STARPU_CUDA_WORKER;
    own.busy_until_us = (ahead ? std::clamp(own.busy_until_us, now_us, now_us + expected_us) : now_us) + expected_us;
    if (own.tasks.size() > 1) ++changes;
    return take(own, own.tasks.begin());
  }
  starpu_task* task = steal(worker, now_us);
  if (task == nullptr) own.nothing_to_steal_at = changes;
  return task;
}

}  // namespace
}  // namespace halo_first

starpu_sched_policy& halo_first_policy() {
  static starpu_sched_policy policy = [] {
    starpu_sched_policy filled =
        placing::policy_that_places("halo-first", "quarkstar: halo before interior, stealing where it pays", halo_first::push);
    filled.init_sched = halo_first::start;
    filled.deinit_sched = halo_first::stop;
    filled.pop_task = halo_first::pop;
    return filled;
  }();
  return policy;
}

}  // namespace quarkstar::runtime
