#include "runtime/graph/wait_for_tasks.hpp"

#include "runtime/mpi/guest.hpp"

#include <starpu.h>

namespace quarkstar::runtime {

void wait_for_tasks(const Handle& handle) {
  const mpi::Waits waits;
  starpu_data_acquire_on_node(handle.state(), STARPU_ACQUIRE_NO_NODE, STARPU_RW);
  starpu_data_release_on_node(handle.state(), STARPU_ACQUIRE_NO_NODE);
}

}  // namespace quarkstar::runtime
