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

/// Submits iterations in batches, always one batch ahead of the one whose outcome it looks at, until the graph stops; between the two it
/// gives the turn to other solves (runtime/graph/turns.hpp). A GPU replays a batch several times (solvers/krylov/replay_pace.hpp). Returns
/// the state at the end, and the work that was submitted and not done; less than nothing where batches were replayed. check_every,
/// refresh_every: see above, check_every >= 1. proceed(seen): false on any rank interrupts, by the step Interrupt. observe(seen): called on
/// all ranks while the graph runs. iteration(bool refresh): with refresh it offers a place for one.
///
/// At each look, the last one too, ranks compare their states before anything follows from them, and end the job where they differ
/// (runtime/mpi/agreement.hpp): one collective call a look, which carries what proceed() says as well.
template <class Interrupt, class State, class Proceed, class Observe, class Iteration>
std::pair<State, Work> run_in_batches(runtime::GraphState<State>& state, int check_every, int refresh_every, Proceed&& proceed,
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
    return {run_counted_batches(state, iterations, refresh_every, iteration, submit), Work{}};
  }
  ReplayPace pace;
  const auto submit_batch = [&] {
    runtime::Batch batch;
    for (int i = 1; i <= iterations; ++i) iteration(refresh_every > 0 && i % refresh_every == 0);
    ledger.add(batch.parts());
    batch.submit({pace.next(), &state.handle()});
  };
  submit_batch();
  runtime::publish(state);
  for (;;) {
    submit_batch();
    runtime::Turns::wait([&] { runtime::wait_for_tasks(state.mirror()); });
    const State seen = runtime::look(state);
    const bool ended = seen.status.stop != 0;
    const runtime::mpi::Look all = runtime::mpi::look_together(runtime::mpi::Job::current(), std::as_bytes(std::span(&seen, 1)),
                                                               seen.status.step, {!ended && !proceed(seen), pace.looked()});
    if (ended) return {seen, ledger.idle(seen.status, steps_before)};
    pace.set(all.seconds);
    observe(seen);
    if (all.ends) runtime::submit_scalar<Interrupt>(state);
    runtime::publish(state);
  }
}

}  // namespace quarkstar
