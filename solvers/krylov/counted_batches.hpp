#pragma once
// The loop of a Krylov solver where nothing is computed: what batches.hpp would submit, up to a known number of iterations.
#include "runtime/backend.hpp"
#include "runtime/graph/scalar.hpp"
#include "solvers/settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace quarkstar {

template <class State>
void end_at(State& state, int iterations) {
  state.status.step = iterations;
  state.status.stop = static_cast<std::int32_t>(StopReason::iteration_limit);
  for (int v = 0; v < state.vectors; ++v) {
    state.iterations[v] = iterations;
    state.stopped[v] = state.status.stop;
  }
}

/// Which places for refreshes are due. No residual says so; they come as in `bench solver` at its default kappa and mass, whose numbers of
/// refreshes are the same on every machine (16^4 and 12^4): BiCGStab 28 iterations per digit that |r| may fall in between, staggered CG
/// 200.
class CountedRefreshes {
 public:
  /// drop2: square of Refresh::drop, 0: no refreshes; every: iterations between two places; a_digit: iterations for a digit of |r|.
  CountedRefreshes(double drop2, int every, double a_digit) : every_(every) {
    if (drop2 > 0) between_ = -a_digit * 0.5 * std::log10(drop2);
  }
  /// The next place.
  bool is_due() {
    since_ += every_;
    if (!(between_ > 0) || since_ < between_) return false;
    since_ = 0;  // |r| falls from where it is then, however long it has waited for its place
    return true;
  }

 private:
  int every_;
  double between_ = 0, since_ = 0;
};

/// As run_in_batches(), for exactly the iterations that the state allows, without the batch that a solver has in flight when it learns that
/// the graph has stopped: its tasks find nothing to do. Returns the state as if the limit had been reached.
template <class State, class Iteration>
State run_counted_batches(runtime::GraphState<State>& state, int batch, int refresh_every, Iteration&& iteration, auto&& submit) {
  State seen = *runtime::HostView<State>(state.handle());
  CountedRefreshes refreshes(seen.drop2, refresh_every, State::iterations_a_digit);
  const int wanted = std::max(1, *std::max_element(seen.most_iterations, seen.most_iterations + seen.vectors));
  int submitted = 0;
  for (bool first = true; submitted < wanted; first = false) {
    submit([&] {
      for (int i = 1; i <= batch; ++i) {
        const bool place = refresh_every > 0 && i % refresh_every == 0;
        if (place) runtime::backend::set_refresh_due(refreshes.is_due());
        iteration(place);
      }
    });
    submitted += batch;
    if (!first) runtime::look(state);
    runtime::publish(state);
  }
  runtime::look(state);
  end_at(seen, submitted);
  return seen;
}

}  // namespace quarkstar
