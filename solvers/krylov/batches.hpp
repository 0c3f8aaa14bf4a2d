#pragma once
// The loop of every Krylov solver: iterations are submitted ahead of the answer.
#include "runtime/graph/batch.hpp"
#include "runtime/graph/scalar.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/graph/wait_for_tasks.hpp"
#include "runtime/mpi/agreement.hpp"
#include "solvers/krylov/counted_batches.hpp"
#include "solvers/krylov/replay_pace.hpp"
#include "solvers/krylov/work_ledger.hpp"

#include <span>
#include <utility>

namespace quarkstar {

/// Iterations between two looks at the stop flag when a refresh can happen in every `refresh_every`-th (0: never): all batches must be
/// alike and the places of refreshes must not depend on check_every, or the bits of a solve would.
constexpr int iterations_a_batch(int check_every, int refresh_every) {
  if (refresh_every < 1) return check_every;
  return (check_every + refresh_every - 1) / refresh_every * refresh_every;
}

/// What run_in_batches() comes to.
template <class State>
struct BatchesEnd {
  State seen;                ///< the state at the end
  Work idle{};               ///< work that was submitted and not done; less than nothing where batches were replayed
  bool interrupted = false;  ///< proceed() has said so on some rank; all ranks have the same
};

/// Submits iterations in batches, always one batch ahead of the one whose outcome it looks at, until the graph stops; between the two it
/// gives the turn to other solves (runtime/graph/turns.hpp). A GPU replays a batch several times (solvers/krylov/replay_pace.hpp).
/// check_every, refresh_every: see above, check_every >= 1. proceed(seen): false on any rank interrupts, by the step Interrupt.
/// observe(seen): called on all ranks while the graph runs. iteration(bool refresh): with refresh it offers a place for one.
///
/// pauses: a batch reaches the iteration at which the graph stops, and the caller then lets it go on. A batch ahead would find nothing to
/// do, so there is none: a verdict on the last iteration, which otherwise takes effect in the next one, does so by the step EndIteration.
/// proceed() and observe() are then called where the graph has stopped too, or they would never be.
///
/// At each look, the last one too, ranks compare their states before anything follows from them, and end the job where they differ
/// (runtime/mpi/agreement.hpp): one collective call a look, which carries what proceed() says as well.
template <class Interrupt, class EndIteration, class State, class Proceed, class Observe, class Iteration>
BatchesEnd<State> run_in_batches(runtime::GraphState<State>& state, int check_every, int refresh_every, bool pauses, Proceed&& proceed,
                                 Observe&& observe, Iteration&& iteration) {
  WorkLedger ledger(state.handle());
  const std::int64_t steps_before = state.steps_submitted();
  const int iterations = iterations_a_batch(check_every, refresh_every);
  if constexpr (!runtime::backend::computes) {
    const auto submit = [&](auto&& collect) {
      runtime::Batch batch;
      collect();
      batch.submit();
    };
    return {run_counted_batches(state, iterations, refresh_every, iteration, submit)};
  }
  ReplayPace pace;
  const auto submit_batch = [&] {
    runtime::Batch batch;
    for (int i = 1; i <= iterations; ++i) iteration(refresh_every > 0 && i % refresh_every == 0);
    ledger.add(batch.parts());
    batch.submit({pace.next(), &state.handle()});
  };
  if (!pauses) {
    submit_batch();
    runtime::publish(state);
  }
  for (bool interrupted = false;;) {
    submit_batch();
    if (pauses) {
      runtime::submit_scalar<EndIteration>(state);
      runtime::publish(state);
    }
    runtime::Turns::wait([&] { runtime::wait_for_tasks(state.mirror()); });
    const State seen = runtime::look(state);
    const bool ended = seen.status.stop != 0;
    const runtime::mpi::Look all = runtime::mpi::look_together(runtime::mpi::Job::current(), std::as_bytes(std::span(&seen, 1)),
                                                               seen.status.step, {(pauses || !ended) && !proceed(seen), pace.looked()});
    interrupted = interrupted || all.ends;
    if (ended && pauses) observe(seen);
    if (ended) return {seen, ledger.idle(seen.status, steps_before), interrupted};
    pace.set(all.seconds);
    observe(seen);
    if (all.ends) runtime::submit_scalar<Interrupt>(state);
    if (!pauses) runtime::publish(state);
  }
}

}  // namespace quarkstar
