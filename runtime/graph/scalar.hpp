#pragma once
// Numbers that live on the task graph: sums over fields, and the state of an algorithm that only tasks read and write.
#include "runtime/graph/binned_sum.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/graph_status.hpp"
#include "runtime/system/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

namespace quarkstar::runtime {

/// Partial sums of one kind of task: a handle for every block of this rank and part, each with `sums` sums. Where there are other
/// ranks, also the sums of this one, and of all. All ranks make their partial sums in the same order.
class PartialSums {
 public:
  static constexpr int most = 4;            ///< unless told otherwise
  static constexpr int most_of_all = 1024;  ///< what a scalar step can gather
  /// over_ranks: no where the tasks are of something that every rank has for itself.
  explicit PartialSums(int tasks, int sums = most, bool over_ranks = true);
  const Handle& task(int i) const { return handles_[static_cast<std::size_t>(i)]; }
  int tasks() const { return static_cast<int>(handles_.size()); }

  bool is_distributed() const { return static_cast<bool>(all_ranks_); }
  const Handle& this_rank() const { return this_rank_; }
  const Handle& all_ranks() const { return all_ranks_; }

 private:
  std::deque<Handle> handles_;
  Handle this_rank_, all_ranks_;
};

/// The state of an algorithm, State = trivially copyable with `GraphStatus status` first, and its record of one number per step.
/// tail_bytes: memory right behind the state that its steps use too, for arrays whose size is known at run time only; zero at first. Such a
/// state says so by a member `has_tail`, and its steps on a GPU work in memory, not on a copy in registers and shared memory. owner: the
/// worker that takes its steps, one of those that have the fields (Decomposition::first_owner()): tasks on these would wait for another
/// worker.
template <class State>
class GraphState {
 public:
  GraphState(const State& initial, int most_steps, int owner, std::size_t tail_bytes = 0)
      : handle_(sizeof(State) + tail_bytes),
        mirror_(sizeof(State)),
        history_(static_cast<std::size_t>(most_steps) * sizeof(double)),
        most_steps_(most_steps),
        owner_(owner) {
    static_assert(std::is_trivially_copyable_v<State>);
    // Tasks find the stop flag at the start of the buffer, whatever the state.
    if (static_cast<const void*>(&initial.status) != static_cast<const void*>(&initial))
      throw ShapeError("GraphState", "the status is not the state's first member");
    {
      const HostView<std::byte> whole(handle_, HostAccess::overwrite);
      std::memset(whole.get(), 0, sizeof(State) + tail_bytes);
      std::memcpy(whole.get(), &initial, sizeof(State));
    }
    HostView<double> history(history_, HostAccess::overwrite);
    for (int i = 0; i < most_steps; ++i) history[static_cast<std::size_t>(i)] = 0;
  }

  const Handle& handle() const { return handle_; }
  const Handle& history() const { return history_; }
  const Handle& mirror() const { return mirror_; }
  int most_steps() const { return most_steps_; }
  int owner() const { return owner_; }
  /// Scalar steps submitted so far, without those of refreshes: GraphStatus::steps_taken counts how many of them ran.
  std::int64_t steps_submitted() const { return steps_submitted_; }
  void count(Role role) { steps_submitted_ += role == Role::step ? 1 : 0; }

 private:
  Handle handle_, mirror_, history_;
  int most_steps_, owner_;
  std::int64_t steps_submitted_ = 0;
};

/// The role of a task with such a guard.
inline Role role_of(When when) { return when == When::refreshing ? Role::refresh : Role::work; }

namespace detail {

/// Steps with `refreshing` work only while a refresh is due.
template <class Step>
QUARKSTAR_HD bool idles(const GraphStatus& status) {
  if (refreshes<Step> && status.resting != 0) return true;
  return status.stop != 0;
}

/// When such a step works.
template <class Step>
Guard guard_of(const Handle& state) {
  const Guard guard(&state);
  return refreshes<Step> ? guard.refreshing() : guard;
}

/// Sums that a step on a GPU can gather: a thread each.
inline constexpr int most_sums_on_cuda = 128;

struct ScalarArguments {
  int partials, sums, most_steps;
};

template <class State, class Step>
void run_scalar_step(Call& call) {
  const auto& arguments = call.arguments<ScalarArguments>();
  State& state = *call.buffer<State>(0);
  if (idles<Step>(state.status)) return call.skip();
  double sums[PartialSums::most_of_all]{};
  for (int s = 0; s < arguments.sums; ++s) {
    BinnedSum total = BinnedSum::zero();
    for (int p = 0; p < arguments.partials; ++p) total.merge(call.buffer<BinnedSum>(2 + p)[s]);
    sums[s] = value_of(total);
  }
  take_step<Step>(state, sums, call.buffer<double>(1), arguments.most_steps);
}

#ifdef QUARKSTAR_CUDA
/// The same on a GPU; runtime/graph/scalar.cuh defines it, a .cu of the algorithm instantiates it for each Step with `on_cuda`.
template <class State, class Step>
void run_scalar_step_on_cuda(Call& call);
#endif

template <class State, class Step>
const Codelet& scalar_codelet() {
#ifdef QUARKSTAR_CUDA
  if constexpr (requires { Step::on_cuda; }) {
    static const Codelet codelet(Step::name, CodeletKind::scalar, run_scalar_step<State, Step>, run_scalar_step_on_cuda<State, Step>);
    return codelet;
  }
#endif
  static const Codelet codelet(Step::name, CodeletKind::scalar, run_scalar_step<State, Step>);
  return codelet;
}

/// Submits: partials.all_ranks() <- the first `sums` sums over all tasks of all ranks, through the host; zeros where
/// the state idles.
void submit_sum_over_ranks(const PartialSums& partials, int sums, const Guard& guard, int owner, const char* name);

/// Adds a scalar step to the batch that is being collected for a GPU of each rank: a step of its program that reads
/// this rank's partial sums and exchanges them with the other ranks (runtime/gpu/sum_exchange.hpp). through_host: submits
/// it where the batch is not one task. False where no such batch is being collected.
bool collect_step_over_ranks(const Codelet& codelet, const ScalarArguments& arguments, const AccessList& accesses,
                             const Placement& placement, const std::function<void()>& through_host);

/// Copies `bytes` of one handle to another, on a worker.
void submit_copy(const Handle& to, const Handle& from, std::size_t bytes, int worker);

}  // namespace detail

/// Submits one scalar step: gathers `sums` sums over all partials and runs Step::run(State&, const double* sums).
/// Step: `name`, `ends_iteration` (then also `record(state)`, the number kept in the history; or, for states with `numbers_a_step()`,
/// `record(state, i)`, several of them), `run`; a step of vectors has run(State&, int v, const double* sums) instead, of one vector, whose
/// state has `vectors`, leaves_out(v, refreshing) and settle(), called when all have run; with a member `on_cuda` it also
/// runs on GPUs, so that scalars need not leave them; with a member `refreshing` it works only while a refresh is due; with a member
/// `from_outside` it is no part of the iteration.
template <class Step, class State>
void submit_scalar(GraphState<State>& state, const PartialSums* partials = nullptr, int sums = 0) {
  if constexpr (requires { Step::on_cuda; })
    if (sums > detail::most_sums_on_cuda) throw ShapeError(Step::name, "more sums than a step on a GPU gathers");
  Role role = Role::work;
  if constexpr (refreshes<Step>) role = Role::refresh_step;
  else if constexpr (!requires { Step::from_outside; }) role = Role::step;
  state.count(role);
  const Placement placement{.owner = state.owner(), .block = -1, .urgent = true, .everywhere = true, .role = role};
  const Codelet* codelet = &detail::scalar_codelet<State, Step>();
  const int count = partials != nullptr ? partials->tasks() : 0;
  const detail::ScalarArguments arguments{count, sums, state.most_steps()}, on_one{1, sums, state.most_steps()};
  AccessList accesses{inout(state.handle()), inout(state.history())}, on_all_ranks = accesses;
  for (int p = 0; p < count; ++p) accesses.push_back(in(partials->task(p)));
  if (partials == nullptr || !partials->is_distributed()) return submit(*codelet, arguments, accesses, {}, placement);
  on_all_ranks.push_back(in(partials->all_ranks()));
  const Guard guard = detail::guard_of<Step>(state.handle());
  const auto through_host = [codelet, on_one, placement, partials, guard, on_all_ranks] {
    detail::submit_sum_over_ranks(*partials, on_one.sums, guard, placement.owner, Step::name);
    submit(*codelet, on_one, on_all_ranks, {}, placement);
  };
  if (!detail::collect_step_over_ranks(*codelet, arguments, accesses, placement, through_host)) through_host();
}

/// The first `sums` sums, over all ranks. Waits for the tasks that add to them; before that other programs have a turn
/// (runtime/graph/turns.hpp).
std::vector<double> values_of(const PartialSums& partials, int sums);

/// Submits a copy of the state as it will be here in the program; look(state) later returns it without waiting for what follows.
template <class State>
void publish(GraphState<State>& state) {
  detail::submit_copy(state.mirror(), state.handle(), sizeof(State), state.owner());
}
template <class State>
State look(const GraphState<State>& state) {
  return *HostView<State>(state.mirror());
}

}  // namespace quarkstar::runtime
