#include "runtime/graph/wait_for_tasks.hpp"

#include "runtime/graph/graph_failure.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/system/error.hpp"

#include <starpu.h>

#include <optional>

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

}  // namespace quarkstar::runtime
