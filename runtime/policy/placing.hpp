#pragma once
// What policies of ours ask about a task, and what several of them do alike.
#include "runtime/graph/task_record.hpp"

#include <starpu.h>
#include <starpu_scheduler.h>

namespace quarkstar::runtime::placing {

/// What was said at submission; nullptr for a helper task of StarPU's own.
const detail::TaskRecord* record_of(const starpu_task* task);

/// Whether the worker has an implementation of the task and may run it (only_on_gpus()).
bool can_execute(const starpu_task* task, int worker);

/// The worker that a task belongs to: the owner of its block, or, where that has no implementation (a CPU-only codelet of a GPU's block) or
/// is no worker of this session, the first that can. StarPU refuses tasks that none can execute.
int owner_of(const starpu_task* task);

/// Microseconds that the task is expected to take on that worker, without moving data: as tasks of its codelet took there
/// (runtime/observe/codelet_costs.hpp); else its bytes over what the worker's recent tasks showed, over what another worker of its kind
/// showed in proportion to their predicted bandwidths, or by the cost model while nothing was measured. Twice as long on a CPU worker of
/// another NUMA domain than the owner's, which StarPU does not see: memory of another domain is taken to give half the speed. 1 for helper
/// tasks, of which nothing is known.
double expected_us(starpu_task* task, int worker);

/// Microseconds that moving the task's data to that worker's memory takes, and what it writes back to its owner's; 0 where both have one
/// memory.
double moving_us(starpu_task* task, int worker);

/// For init_sched: tasks of this scheduling context may have any priority.
void allow_any_priority(unsigned context);

/// What an idle worker does before it looks again (yield_when_idle).
void idle();

/// Puts the task into the list of that worker, from which it takes urgent tasks first, and fetches its data.
int push_to(int worker, starpu_task* task);

/// push_to() the owner.
int push_to_owner(starpu_task* task);

/// A policy of this name whose tasks are placed by `push` when they are ready, with any priorities and without queues of its own; the other
/// functions can be replaced. Both texts must live as long as the program.
starpu_sched_policy policy_that_places(const char* name, const char* description, int (*push)(starpu_task*));

}  // namespace quarkstar::runtime::placing
