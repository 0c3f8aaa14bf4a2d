#pragma once
// Numbers that live on the task graph: sums over fields, and the state of an algorithm that only tasks read and write.
#include <cstddef>
#include <cstdint>
#include <deque>

#include "runtime/binned_sum.hpp"
#include "runtime/codelet.hpp"
#include "runtime/error.hpp"

namespace quarkstar::runtime {

/// Head of every state. Once stop is non-zero, all tasks that read the state do nothing: submitting ahead is harmless.
struct GraphStatus {
  std::int32_t stop = 0;  ///< reason; 0: running
  std::int32_t step = 0;  ///< iterations completed
};

/// Partial sums of one kind of task: a handle for every block and part, each with up to `most` sums.
class PartialSums {
 public:
  static constexpr int most = 4;
  explicit PartialSums(int tasks) {
    for (int i = 0; i < tasks; ++i) handles_.emplace_back(most * sizeof(BinnedSum));
  }
  const Handle& task(int i) const { return handles_[static_cast<std::size_t>(i)]; }
  int tasks() const { return static_cast<int>(handles_.size()); }

 private:
  std::deque<Handle> handles_;
};

/// A complex number for a vector operation: a constant, or a member of the state read when the task runs.
struct Coefficient {
  double re = 1, im = 0;
  std::int32_t offset = -1;  ///< of two doubles in the state; -1: the constant
  double factor = 1;         ///< multiplies either

  friend Coefficient operator-(Coefficient c) {
    c.factor = -c.factor;
    return c;
  }

  QUARKSTAR_HD void resolve(const void* state, double& real, double& imaginary) const {
    real = re;
    imaginary = im;
    if (offset >= 0) {
      const auto* member = reinterpret_cast<const double*>(static_cast<const char*>(state) + offset);
      real = member[0];
      imaginary = member[1];
    }
    real *= factor;
    imaginary *= factor;
  }
};

/// A complex number in a state.
struct ComplexScalar {
  double re = 0, im = 0;
};

/// The state of an algorithm, State = trivially copyable with `GraphStatus status` first, and its record of one number a step.
template <class State>
class GraphState {
 public:
  GraphState(const State& initial, int most_steps)
      : handle_(sizeof(State)), mirror_(sizeof(State)), history_(static_cast<std::size_t>(most_steps) * sizeof(double)),
        most_steps_(most_steps) {
    static_assert(std::is_trivially_copyable_v<State>);
    // Tasks find the stop flag at the start of the buffer, whatever the state.
    if (static_cast<const void*>(&initial.status) != static_cast<const void*>(&initial))
      throw ShapeError("GraphState", "the status is not the state's first member");
    *HostView<State>(handle_, HostAccess::overwrite) = initial;
    HostView<double> history(history_, HostAccess::overwrite);
    for (int i = 0; i < most_steps; ++i) history[static_cast<std::size_t>(i)] = 0;
  }

  const Handle& handle() const { return handle_; }
  const Handle& history() const { return history_; }
  const Handle& mirror() const { return mirror_; }
  int most_steps() const { return most_steps_; }

  /// A member of the state as a coefficient of later tasks.
  static Coefficient coefficient(ComplexScalar State::*member) {
    const State probe{};
    const auto offset = reinterpret_cast<const char*>(&(probe.*member)) - reinterpret_cast<const char*>(&probe);
    return {1, 0, static_cast<std::int32_t>(offset)};
  }

 private:
  Handle handle_, mirror_, history_;
  int most_steps_;
};

namespace detail {

struct ScalarArguments {
  int partials, sums, most_steps;
};

template <class State, class Step>
void run_scalar_step(Call& call) {
  const auto& arguments = call.arguments<ScalarArguments>();
  State& state = *call.buffer<State>(0);
  if (state.status.stop != 0) return call.skip();
  double sums[PartialSums::most]{};
  for (int s = 0; s < arguments.sums; ++s) {
    BinnedSum total = BinnedSum::zero();
    for (int p = 0; p < arguments.partials; ++p) total.merge(call.buffer<BinnedSum>(2 + p)[s]);
    sums[s] = value_of(total);
  }
  Step::run(state, sums);
  if constexpr (Step::ends_iteration) {
    if (state.status.step < arguments.most_steps) call.buffer<double>(1)[state.status.step] = Step::record(state);
    state.status.step += 1;
  }
}

template <class State, class Step>
const Codelet& scalar_codelet() {
  static const Codelet codelet(Step::name, run_scalar_step<State, Step>);
  return codelet;
}

template <class State>
void run_publish(Call& call) {
  *call.buffer<State>(1) = *call.buffer<State>(0);
}

}  // namespace detail

/// Submits one scalar step: gathers `sums` sums over all partials and runs Step::run(State&, const double* sums).
/// Step: `name`, `ends_iteration` (then also `record(state)`, the number kept in the history), `run`.
template <class Step, class State>
void submit_scalar(GraphState<State>& state, const PartialSums* partials = nullptr, int sums = 0) {
  AccessList accesses{inout(state.handle()), inout(state.history())};
  const int count = partials != nullptr ? partials->tasks() : 0;
  for (int p = 0; p < count; ++p) accesses.push_back(in(partials->task(p)));
  const detail::ScalarArguments arguments{count, sums, state.most_steps()};
  submit(detail::scalar_codelet<State, Step>(), arguments, accesses, {}, Placement{.owner = 0, .block = -1, .urgent = true});
}

/// Submits a copy of the state as it will be here in the program; look(state) later returns it without waiting for what follows.
template <class State>
void publish(GraphState<State>& state) {
  static const Codelet codelet("scalar.publish", detail::run_publish<State>);
  submit(codelet, 0, {in(state.handle()), out(state.mirror())}, {}, Placement{.owner = 0, .block = -1, .urgent = true});
}
template <class State>
State look(const GraphState<State>& state) {
  return *HostView<State>(state.mirror());
}

}  // namespace quarkstar::runtime
