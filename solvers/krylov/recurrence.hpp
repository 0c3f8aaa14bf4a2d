#pragma once
// A Krylov method apart from the loop around it: what it owns, how it begins, steps and ends. Of these are made the loop until all vectors
// have stopped, here, and a fixed number of steps as a preconditioner (fixed_steps.hpp).
#include "solvers/krylov/batches.hpp"
#include "solvers/krylov/krylov.hpp"

namespace quarkstar {

/// A Krylov method for A x = r and n vectors: its work fields, its numbers on the graph, and the tasks of its steps. begin(), step() and
/// end() submit and do not wait. Each vector stops by itself; tasks leave out those that have stopped.
class Recurrence {
 public:
  virtual ~Recurrence() = default;
  /// Before the first step. x is zero.
  virtual void begin(const Field& x, const Field& r) = 0;
  /// One step: of x and its residual r. The tasks are the same every time, or repeat after cycle() steps. place: a refresh can happen
  /// behind the step (KrylovLimits::refresh); where steps repeat, the step is the last of a cycle.
  virtual void step(const Field& x, const Field& r, bool place) = 0;
  /// What the solution lacks behind the last step.
  virtual void end(const Field&) {}
  virtual int cycle() const { return 0; }

  /// Steps from x = 0 until all vectors have stopped.
  virtual KrylovResults solve(const Field& x, const Field& r, const KrylovProgress& progress) = 0;
  /// The state, which begins with a KrylovState.
  virtual const runtime::Handle& state() const = 0;
};

/// Stops every vector from outside the iteration.
struct Interrupt {
  static constexpr const char* name = "scalar.interrupt";
  static constexpr bool ends_iteration = false;
  static constexpr bool from_outside = true;
  template <class State>
  static QUARKSTAR_HD void run(State& state, int v, const double*) {
    // An iteration may already have its verdict.
    if (!state.take_pending(v)) state.stop(v, StopReason::interrupted);
  }
};

/// Gives the verdict on an iteration its effect before the next one begins.
struct EndIteration {
  static constexpr const char* name = "scalar.end_iteration";
  static constexpr bool ends_iteration = false;
  static constexpr bool from_outside = true;
  template <class State>
  static QUARKSTAR_HD void run(State& state, int v, const double*) {
    state.take_pending(v);
  }
};

/// Whether a solve pauses. Not where nothing is computed: no state says then where it is.
inline bool pauses(const KrylovLimits& limits) { return runtime::backend::computes && limits.pauses.at; }

/// State with its limits set.
template <class State>
State initial_state(const KrylovLimits& limits, int vectors) {
  State state{};
  state.vectors = vectors;
  state.patience = limits.patience;
  for (int v = 0; v < vectors; ++v) {
    state.target[v] = limits.target_norm2[static_cast<std::size_t>(v)];
    state.patience_at_first[v] = limits.patience_at_first[static_cast<std::size_t>(v)];
    state.most_iterations[v] = limits.most_iterations[static_cast<std::size_t>(v)];
    state.not_due[v] = 1;
  }
  if (pauses(limits)) state.pause_in(limits.pauses.every, limits.most_iterations.data());
  if (limits.refresh.submit) state.drop2 = limits.refresh.drop * limits.refresh.drop;
  return state;
}

/// Runs iteration(bool refresh) until the graph stops (batches.hpp). cycle: of solvers whose iterations differ but repeat after so many;
/// the last one of a cycle is then the place for a refresh, whether there are refreshes or not.
template <class State, class Iteration>
KrylovResults run_iterations(runtime::GraphState<State>& state, const KrylovLimits& limits, const KrylovProgress& progress,
                             Iteration&& iteration, int cycle = 0) {
  const auto proceed = [&](const State& seen) { return !progress || progress(seen.status.step, seen.norm2); };
  const auto observe = [&](const State& seen) {
    if (limits.observe)
      limits.observe(seen, [&state] { return static_cast<const KrylovState&>(*runtime::HostView<State>(state.handle())); });
  };
  const int refresh_every = cycle > 0 ? cycle : limits.refresh.submit ? limits.refresh.every : 0;
  const auto [seen, idle, interrupted] =
      run_in_batches<Interrupt, EndIteration>(state, limits.check_every, refresh_every, pauses(limits), proceed, observe, iteration);
  KrylovResults results{std::vector<KrylovResult>(static_cast<std::size_t>(seen.vectors)), seen.status.refreshes, idle, interrupted};
  const runtime::HostView<double> history(state.history());
  for (int v = 0; v < seen.vectors; ++v) {
    KrylovResult& result = results.of_vectors[static_cast<std::size_t>(v)];
    result.reason = static_cast<StopReason>(seen.stopped[v]);
    result.iterations = seen.iterations[v];
    for (int i = 0; i < result.iterations && i * seen.vectors + v < state.most_steps(); ++i)
      result.norm2.push_back(history[static_cast<std::size_t>(i * seen.vectors + v)]);
  }
  return results;
}

/// Partial sums of vector operations: so many for each vector.
inline runtime::PartialSums partial_sums_of(const LinearOperator& a, int sums_a_vector) {
  return runtime::PartialSums(static_cast<int>(a.lattice()->local_blocks().size()), sums_a_vector * a.vectors());
}

/// A recurrence whose numbers are a State. Fields: its work fields; FieldsADirection: and for each of KrylovLimits::restart directions.
template <class State, int Fields, int FieldsADirection = 0>
class RecurrenceOn : public Recurrence {
 public:
  static constexpr bool keeps_directions = FieldsADirection > 0;
  static RecurrenceMemory memory(int restart, int vectors) {
    return {fields(restart), 2 * sizeof(State) + tail_bytes(restart, vectors)};  // the state has a mirror
  }

  KrylovResults solve(const Field& x, const Field& r, const KrylovProgress& progress) final {
    blas::submit<blas::Fill>({&x}, {0.0});
    begin(x, r);
    const auto go_on = [&] {
      return run_iterations(
          state_, limits_, progress, [&](bool place) { step(x, r, place); }, cycle());
    };
    KrylovResults results = go_on();
    for (bool ended = !pauses(limits_); !ended;) {
      limits_.pauses.at(x);
      if (results.interrupted) {  // the vectors that would go on, which have stopped for the pause alone
        for (std::size_t v = 0; v < static_cast<std::size_t>(n_); ++v)
          if (KrylovResult& of_vector = results.of_vectors[v];
              of_vector.reason == StopReason::iteration_limit && of_vector.iterations < limits_.most_iterations[v])
            of_vector.reason = StopReason::interrupted;
        break;
      }
      const KrylovResults before = results;
      ended = !runtime::HostView<State>(state_.handle(), runtime::HostAccess::modify)
                   ->go_on(limits_.pauses.every, limits_.most_iterations.data(), state_.steps_submitted());
      if (ended) break;
      results = go_on();
      results.idle += before.idle;
      results.refreshes += before.refreshes;
    }
    end(x);
    return results;
  }
  const runtime::Handle& state() const final { return state_.handle(); }

 protected:
  /// start: from initial_state(). sums_a_vector: of the recurrence's own vector operations.
  RecurrenceOn(LinearOperator& a, const KrylovLimits& limits, const State& start, int sums_a_vector)
      : a_(a),
        limits_(limits),
        n_(start.vectors),
        state_(start, recorded_numbers(limits, start.vectors), tail_bytes(limits.restart, start.vectors)),
        sums_(partial_sums_of(a, sums_a_vector)),
        s_(&state_.handle()) {
    for (int i = 0; i < fields(limits.restart); ++i) work_.push_back(a.field());
  }
  RecurrenceOn(LinearOperator& a, const KrylovLimits& limits, int vectors, int sums_a_vector)
      : RecurrenceOn(a, limits, initial_state<State>(limits, vectors), sums_a_vector) {}

  LinearOperator& a_;
  const KrylovLimits& limits_;
  const int n_;
  runtime::GraphState<State> state_;
  const runtime::PartialSums sums_;
  const runtime::Guard s_;   ///< tasks work on the vectors that run
  std::vector<Field> work_;  ///< fields that A takes and gives: first the Fields, then those of directions

 private:
  static constexpr int fields(int restart) { return Fields + FieldsADirection * restart; }
  static constexpr std::size_t tail_bytes(int restart, int vectors) {
    if constexpr (requires { State::has_tail; }) return State::tail_bytes(restart, vectors);
    else return 0;
  }
};

/// The entry in the list of a solver whose recurrence is R, made from (LinearOperator&, const KrylovLimits&, int vectors).
template <class R>
NamedKrylovSolver solver_by(NamedKrylovSolver solver) {
  solver.make = [](LinearOperator& a, const KrylovLimits& limits, int vectors) -> std::unique_ptr<Recurrence> {
    return std::make_unique<R>(a, limits, vectors);
  };
  solver.memory = R::memory;
  solver.keeps_directions = R::keeps_directions;
  return solver;
}

}  // namespace quarkstar
