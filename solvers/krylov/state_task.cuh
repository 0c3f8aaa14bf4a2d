#pragma once
// Tasks on a recurrence's state on a GPU: one thread.
#include "runtime/gpu/cuda_launch.cuh"
#include "runtime/gpu/gpu_sums.hpp"
#include "solvers/krylov/state_task.hpp"

namespace quarkstar::detail {

template <class Task, class State>
__global__ void state_task_kernel(State* state, const VectorStatus* caller, Obedience obedience) {
  runtime::wait_for_predecessors();
  Task::run(*state, caller, obedience);
}

template <class Task, class State>
void run_state_task_on_cuda(runtime::Call& call) {
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  runtime::flush_sums(stream);
  runtime::launch_overlapping(state_task_kernel<Task, State>, 1, 1, stream, call.buffer<State>(0), caller_of(call),
                              call.arguments<StateTaskArguments>().obedience);
  runtime::check_launch(Task::name);
}

}  // namespace quarkstar::detail

/// In a .cu: makes the GPU version of one task.
#define QUARKSTAR_STATE_TASK_ON_CUDA(State, Task) \
  template void quarkstar::detail::run_state_task_on_cuda<Task, State>(quarkstar::runtime::Call&);
