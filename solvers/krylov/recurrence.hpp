#pragma once
// A Krylov method apart from the loop around it: what it owns, how it begins, steps and ends. Of these are made the loop until all vectors
// have stopped, here, and a fixed number of steps as a preconditioner (fixed_steps.hpp).
#include "codelets/lattice/placement.hpp"
#include "solvers/krylov/batches.hpp"
#include "solvers/krylov/krylov.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

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
  /// The worker that takes the state's steps.
  virtual int owner() const = 0;
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
  for (int v = 0; v < vectors; ++v) {
    state.target[v] = limits.target_norm2[static_cast<std::size_t>(v)];
    state.patience[v] = limits.patience[static_cast<std::size_t>(v)];
    state.patience_at_first[v] = limits.patience_at_first[static_cast<std::size_t>(v)];
    state.most_iterations[v] = state.stop_at[v] = limits.most_iterations[static_cast<std::size_t>(v)];
    state.not_due[v] = 1;
  }
  if (pauses(limits)) state.pause_in(limits.pauses.every);
  if (limits.refresh.submit) state.drop2 = limits.refresh.drop * limits.refresh.drop;
  return state;
}

/// The state with what is behind it, and the history so far. Waits for the tasks before it.
template <class State>
std::vector<std::byte> numbers_of(const runtime::GraphState<State>& state) {
  const runtime::HostView<std::byte> bytes(state.handle());
  std::vector<std::byte> numbers(bytes.get(), bytes.get() + state.handle().bytes());
  const auto& now = *reinterpret_cast<const State*>(bytes.get());
  const runtime::HostView<std::byte> history(state.history());
  const int noted = std::min(now.status.step * now.vectors, state.most_steps());
  numbers.insert(numbers.end(), history.get(), history.get() + static_cast<std::size_t>(noted) * sizeof(double));
  return numbers;
}

/// The inverse. Steps and refreshes are counted anew; returns the refreshes so far.
template <class State>
int set_numbers(const runtime::GraphState<State>& state, std::span<const std::byte> numbers) {
  const std::size_t of_state = state.handle().bytes();
  if (numbers.size() < of_state || numbers.size() > of_state + state.history().bytes())
    throw ShapeError("Recurrence", "the numbers of another solver, or of other limits");
  const runtime::HostView<std::byte> bytes(state.handle(), runtime::HostAccess::overwrite);
  std::memcpy(bytes.get(), numbers.data(), of_state);
  const runtime::HostView<std::byte> history(state.history(), runtime::HostAccess::modify);
  std::memcpy(history.get(), numbers.data() + of_state, numbers.size() - of_state);
  auto& status = reinterpret_cast<State*>(bytes.get())->status;
  status.steps_taken = static_cast<std::int32_t>(state.steps_submitted());
  return std::exchange(status.refreshes, 0);
}

/// Runs iteration(bool refresh) until the graph stops (batches.hpp). cycle: of solvers whose iterations differ but repeat after so many;
/// the last one of a cycle is then the place for a refresh, whether there are refreshes or not. fields: of a KrylovSnapshot.
template <class State, class Iteration>
KrylovResults run_iterations(runtime::GraphState<State>& state, const KrylovLimits& limits, const KrylovProgress& progress,
                             Iteration&& iteration, int cycle = 0, const std::vector<const Field*>& fields = {}) {
  const auto proceed = [&](const State& seen) { return !progress || progress(seen.status.step, seen.norm2); };
  const auto observe = [&](const State& seen) {
    if (limits.observe) limits.observe(seen, [&] { return KrylovSnapshot{numbers_of(state), fields}; });
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
  return partial_sums_on(*a.lattice(), sums_a_vector * a.vectors());
}

/// A recurrence whose numbers are a State. Lasting: its work fields that a step reads as the one before has left them; Scratch: those that
/// it writes first; directions: whether there are also two for each of KrylovLimits::restart directions, of which the first may be read
/// until the solve ends, the second within a cycle.
template <class State, int Lasting, int Scratch, bool directions = false>
class RecurrenceOn : public Recurrence {
  static_assert(!directions || Lasting + Scratch == 0);  // or those that last would not come first

 public:
  static constexpr bool keeps_directions = directions;
  static RecurrenceMemory memory(int restart, int vectors) {
    return {fields(restart), 2 * sizeof(State) + tail_bytes(restart, vectors), lasting(restart)};  // the state has a mirror
  }

  KrylovResults solve(const Field& x, const Field& r, const KrylovProgress& progress) final {
    std::vector<const Field*> last{&x, &r};
    for (int i = 0; i < lasting(limits_.restart); ++i) last.push_back(&work_[static_cast<std::size_t>(i)]);
    int refreshes = 0;
    if (limits_.resume.load) {
      refreshes = set_numbers(state_, limits_.resume.numbers);
      limits_.resume.load(last);
    } else {
      blas::submit<blas::Fill>({&x}, {0.0});
      begin(x, r);
    }
    const auto go_on = [&] {
      return run_iterations(
          state_, limits_, progress, [&](bool place) { step(x, r, place); }, cycle(), last);
    };
    KrylovResults results = go_on();
    results.refreshes += refreshes;
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
      ended =
          !runtime::HostView<State>(state_.handle(), runtime::HostAccess::modify)->go_on(limits_.pauses.every, state_.steps_submitted());
      if (ended) break;
      results = go_on();
      results.idle += before.idle;
      results.refreshes += before.refreshes;
    }
    end(x);
    return results;
  }
  const runtime::Handle& state() const final { return state_.handle(); }
  int owner() const final { return state_.owner(); }

 protected:
  /// start: from initial_state(). sums_a_vector: of the recurrence's own vector operations.
  RecurrenceOn(LinearOperator& a, const KrylovLimits& limits, const State& start, int sums_a_vector)
      : a_(a),
        limits_(limits),
        n_(start.vectors),
        state_(start, recorded_numbers(limits, start.vectors), a.lattice()->decomposition().first_owner(),
               tail_bytes(limits.restart, start.vectors)),
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
  std::vector<Field> work_;  ///< fields that A takes and gives: those that last, scratch, the first of all directions, the second of all

 private:
  static constexpr int fields(int restart) { return Lasting + Scratch + (directions ? 2 * restart : 0); }
  static constexpr int lasting(int restart) { return Lasting + (directions ? restart : 0); }
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
