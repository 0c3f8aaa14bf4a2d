#include "runtime/graph/wait_for_tasks.hpp"

#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/system/clock.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/sanitizer.hpp"

#include <starpu.h>

#include <optional>
#include <thread>

namespace quarkstar::runtime {

void wait_for_tasks(const Handle& handle, bool use_caller) {
  std::optional<mpi::Waits> waits;
  if (!use_caller) waits.emplace();
  if (starpu_task_get_current() != nullptr)  // StarPU would end the process
    throw Error(ErrorKind::internal, "wait_for_tasks", "a task waits for others, and maybe for itself", "wait outside of tasks");
  if (starpu_data_acquire_on_node(handle.state(), STARPU_ACQUIRE_NO_NODE, STARPU_RW) != 0)
    throw Error(ErrorKind::internal, "wait_for_tasks", "the runtime does not give the data", "report this");
  starpu_data_release_on_node(handle.state(), STARPU_ACQUIRE_NO_NODE);
  GraphFailure::throw_if_any();
}

void wait_for_all_tasks_of_caller() {
  Session& session = Session::current();
  if (session.gpu_count() > 0) {
    // To copy a field takes a GPU some 10 us, and to wake a thread that sleeps takes longer. Where CPUs work their threads need the cores.
    constexpr double longest_us = 200;
    const double end = now_us() + longest_us;
    while (starpu_task_nsubmitted() > 0 && now_us() < end) std::this_thread::yield();
  }
  starpu_task_wait_for_all();
  happens_after(&session);
  GraphFailure::throw_if_any();
}

}  // namespace quarkstar::runtime
