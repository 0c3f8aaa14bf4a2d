#pragma once
// A task on a recurrence's state outside its steps.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar {
namespace detail {

/// Buffers: the state, then the caller's (where there is one).
struct StateTaskArguments {
  Obedience obedience;
  bool has_caller;
};

inline const VectorStatus* caller_of(runtime::Call& call) {
  return call.arguments<StateTaskArguments>().has_caller ? call.buffer<const VectorStatus>(1) : nullptr;
}

template <class Task, class State>
void run_state_task(runtime::Call& call) {
  Task::run(*call.buffer<State>(0), caller_of(call), call.arguments<StateTaskArguments>().obedience);
}

#ifdef QUARKSTAR_CUDA
/// The same on a GPU; state_task.cuh defines it, steps.cu instantiates it.
template <class Task, class State>
void run_state_task_on_cuda(runtime::Call& call);
#endif

}  // namespace detail

/// Submits Task::run(State&, const VectorStatus* caller, const Obedience&): it works although the graph has stopped, and may let vectors
/// run again for the tasks that follow. owner: the worker that takes the state's steps. caller: another state that it reads, and how that
/// is obeyed; none: nullptr.
template <class Task, class State>
void submit_on_state(const runtime::Handle& state, int owner, const runtime::Guard& caller = {}) {
#ifdef QUARKSTAR_CUDA
  static const runtime::Codelet codelet(Task::name, runtime::CodeletKind::scalar, detail::run_state_task<Task, State>,
                                        detail::run_state_task_on_cuda<Task, State>);
#else
  static const runtime::Codelet codelet(Task::name, runtime::CodeletKind::scalar, detail::run_state_task<Task, State>);
#endif
  auto arguments = runtime::blank<detail::StateTaskArguments>();
  arguments.obedience.masked = caller.masked;
  arguments.obedience.when = caller.when;
  arguments.has_caller = caller.state != nullptr;
  runtime::AccessList accesses{runtime::inout(state)};
  if (caller.state != nullptr) accesses.push_back(runtime::in(*caller.state));
  runtime::submit(codelet, arguments, accesses, {}, {.owner = owner, .block = -1, .urgent = true, .everywhere = true});
}

}  // namespace quarkstar
