// The `energy` policy. A ready task goes where it costs the fewest joules (energy_choice.hpp): devices with few GFLOP/s per watt get work
// only where that ends the whole so much earlier that the idle power saved is worth more; else they stay idle.
#include "runtime/graph/session.hpp"
#include "runtime/policy/energy_choice.hpp"
#include "runtime/policy/placing.hpp"
#include "runtime/policy/policy.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

namespace quarkstar::runtime {
namespace energy {
namespace {

/// What has been given to a worker and is not done.
struct Load {
  double free_at_us = 0;
  int tasks = 0;
};

std::mutex mutex;  ///< of the loads; held while no lock of StarPU's is taken
std::vector<Load> loads;

void start(unsigned context) {
  placing::allow_any_priority(context);
  const std::lock_guard lock(mutex);
  loads.assign(starpu_worker_get_count(), {});
}

double base_watts(const Session& session) {
  double watts = session.host_watts();
  for (const Worker& worker : session.workers()) watts += worker.power.idle;
  return watts;
}

std::vector<EnergyCandidate> candidates_for(starpu_task* task, const Session& session) {
  std::vector<EnergyCandidate> candidates;
  const int owner = placing::owner_of(task);
  for (int worker = 0; worker < static_cast<int>(session.workers().size()); ++worker) {
    if (!placing::can_execute(task, worker)) continue;
    const PowerDraw& power = session.worker(worker).power;
    candidates.push_back({.worker = worker,
                          .takes_us = placing::expected_us(task, worker) + placing::moving_us(task, worker),
                          .extra_watts = power.busy - power.idle,
                          .owner = worker == owner});
  }
  return candidates;
}

int push(starpu_task* task) {
  const Session& session = Session::current();
  std::vector<EnergyCandidate> candidates = candidates_for(task, session);
  if (candidates.empty()) return -ENODEV;
  const double base = base_watts(session), now_us = starpu_timing_now();
  EnergyCandidate chosen;
  {
    const std::lock_guard lock(mutex);
    double all_free_at_us = now_us;
    for (const Load& load : loads) all_free_at_us = std::max(all_free_at_us, load.free_at_us);
    for (EnergyCandidate& candidate : candidates)
      candidate.free_at_us = std::max(now_us, loads[static_cast<std::size_t>(candidate.worker)].free_at_us);
    chosen = candidates[least_energy(candidates, all_free_at_us, base)];
    Load& load = loads[static_cast<std::size_t>(chosen.worker)];
    load.free_at_us = chosen.free_at_us + chosen.takes_us;
    ++load.tasks;
  }
  return placing::push_to(chosen.worker, task);
}

void finished(starpu_task* task, unsigned) {
  if (task->execute_on_a_specific_worker) return;  // such a task never passed through push()
  const auto worker = static_cast<std::size_t>(starpu_worker_get_id_check());
  const double now_us = starpu_timing_now();
  const std::lock_guard lock(mutex);
  if (--loads[worker].tasks == 0) loads[worker].free_at_us = now_us;  // predictions start afresh
}

}  // namespace
}  // namespace energy

starpu_sched_policy& energy_policy() {
  static starpu_sched_policy policy = [] {
    starpu_sched_policy filled = placing::policy_that_places("energy", "quarkstar: fewest joules", energy::push);
    filled.init_sched = energy::start;
    filled.post_exec_hook = energy::finished;
    return filled;
  }();
  return policy;
}

}  // namespace quarkstar::runtime
