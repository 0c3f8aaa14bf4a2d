// Numbers on the task graph: scalar steps, the stop flag, looking at the state, and the verdicts of a Krylov solver.
#include "runtime/graph/scalar.hpp"

#include "solvers/krylov/recurrence.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace scalar_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using runtime_testing::Gate;
using runtime_testing::options;
using runtime_testing::Script;

namespace {

struct Counter {
  GraphStatus status;
  double sums[PartialSums::most]{};
  std::int64_t calls = 0;
};

/// Keeps the sums; records the first of them.
struct Gather {
  static constexpr const char* name = "test.gather";
  static constexpr bool ends_iteration = true;
  static void run(Counter& state, const double* sums) {
    for (int s = 0; s < PartialSums::most; ++s) state.sums[s] = sums[s];
    ++state.calls;
  }
  static double record(const Counter& state) { return state.sums[0] + static_cast<double>(state.calls); }
};

struct Count {
  static constexpr const char* name = "test.count";
  static constexpr bool ends_iteration = false;
  static void run(Counter& state, const double*) { ++state.calls; }
};

struct Halt {
  static constexpr const char* name = "test.halt";
  static constexpr bool ends_iteration = false;
  static void run(Counter& state, const double*) { state.status.stop = 3; }
};

Counter value_of_state(const GraphState<Counter>& state) { return *HostView<Counter>(state.handle()); }

/// Sum s of partial p gets the summands large(p) and small(p, s).
template <class Large, class Small>
void fill(const PartialSums& partials, int sums, Large&& large, Small&& small) {
  for (int p = 0; p < partials.tasks(); ++p) {
    const HostView<BinnedSum> view(partials.task(p), HostAccess::overwrite);
    for (int s = 0; s < sums; ++s) {
      BinnedSum& sum = view[static_cast<std::size_t>(s)];
      sum = BinnedSum::zero();
      add(sum, large(p));
      add(sum, small(p, s));
    }
  }
}

}  // namespace

TEST_CASE("a scalar step gathers any number of partial sums") {
  const Session session(options(2));
  for (const int tasks : {0, 1, 2, 14, 15, 40, 200})
    for (int sums = 0; sums <= PartialSums::most; ++sums) {
      INFO(tasks << " partials of " << sums);
      const PartialSums partials(tasks);
      fill(
          partials, sums, [](int p) { return p % 2 == 0 ? 1e10 : -1e10; }, [](int p, int s) { return (s + 1) * 0x1p-18 * p; });
      GraphState<Counter> state(Counter{}, 4, 0);
      submit_scalar<Gather>(state, &partials, sums);
      const Counter result = value_of_state(state);
      for (int s = 0; s < PartialSums::most; ++s) {
        const double large = tasks % 2 == 1 ? 1e10 : 0, small = (s + 1) * 0x1p-18 * tasks * (tasks - 1) / 2;
        CHECK(result.sums[s] == (s < sums ? large + small : 0));
      }
    }
}

TEST_CASE("steps that end an iteration write the history, up to its length") {
  const Session session(options(1));
  for (const int room : {0, 1, 5, 100}) {
    INFO("room for " << room);
    const PartialSums partials(1);
    GraphState<Counter> state(Counter{}, room, 0);
    CHECK(state.most_steps() == room);
    for (int i = 0; i < 7; ++i) {
      fill(
          partials, 1, [i](int) { return 10.0 * i; }, [](int, int) { return 0.0; });
      submit_scalar<Count>(state);
      submit_scalar<Gather>(state, &partials, 1);
    }
    CHECK(value_of_state(state).status.step == 7);
    CHECK(value_of_state(state).calls == 14);
    const HostView<double> history(state.history());
    for (int i = 0; i < room; ++i) CHECK(history[static_cast<std::size_t>(i)] == (i < 7 ? 10.0 * i + 2 * (i + 1) : 0));
  }
}

TEST_CASE("once the state says stop, later steps do nothing and do not count") {
  for (const std::string policy : {"static", "eager", "lws", "dmda"}) {
    INFO(policy);
    Session session(options(2, 1, policy));
    GraphState<Counter> state(Counter{}, 50, 0);
    for (int i = 0; i < 20; ++i) {
      if (i == 8) submit_scalar<Halt>(state);
      submit_scalar<Count>(state);
    }
    session.wait_all();
    const Counter result = value_of_state(state);
    CHECK(result.calls == 8);
    CHECK(result.status.stop == 3);
    CHECK(result.status.step == 0);
    CHECK(session.events().totals().submitted == 21);
    CHECK(session.events().totals().executed == 9);
  }
}

TEST_CASE("a look waits for what was published, not for what follows") {
  const Session session(options(1));
  GraphState<Counter> state(Counter{}, 4, 0);
  Gate gate;
  std::atomic<bool> later_began{false}, later_ended{false}, opened{true};
  Script script;
  submit_scalar<Count>(state);
  submit_scalar<Count>(state);
  publish(state);
  script.submit(
      [&](Call& call) {
        later_began = true;
        opened = gate.wait();
        call.buffer<Counter>(0)->calls = 1000;
        later_ended = true;
      },
      {inout(state.handle())});
  submit_scalar<Count>(state);
  const Counter seen = look(state);
  CHECK(seen.calls == 2);
  CHECK_FALSE(later_ended);
  gate.open();
  Session::current().wait_all();
  CHECK(opened);
  CHECK(later_began);
  CHECK(look(state).calls == 2);
  publish(state);
  CHECK(look(state).calls == 1001);
}

TEST_CASE("a state must begin with its status") {
  struct Wrong {
    double first = 0;
    GraphStatus status;
  };
  const Session session(options(1));
  CHECK_THROWS_AS(GraphState<Wrong>(Wrong{}, 1, 0), ShapeError);
}

// ---- the state of the Krylov solvers

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Ended {
  StopReason reason;
  int iterations;
  friend bool operator==(const Ended&, const Ended&) = default;
};

/// The same limits for every vector.
KrylovLimits limits_of(double target_norm2, int most_iterations = 1000, int patience = 1000) {
  KrylovLimits limits;
  limits.target_norm2 = same_for_all(target_norm2);
  limits.most_iterations = iterations_for_all(most_iterations);
  limits.patience = iterations_for_all(patience);
  return limits;
}

/// Feeds |r|^2 of successive iterations to the state until it says stop, as the solvers' last step does.
Ended run(const KrylovLimits& limits, const std::vector<double>& norms) {
  auto state = initial_state<KrylovState>(limits, 1);
  for (const double norm : norms) {
    const StopReason reason = state.verdict(0, norm);
    state.status.step += 1;
    if (reason != StopReason::running) return {reason, state.status.step};
  }
  return {StopReason::running, state.status.step};
}

/// Geometric decrease, |r|^2 = ratio^(i + 1).
std::vector<double> decreasing(double ratio, int count) {
  std::vector<double> norms;
  for (int i = 1; i <= count; ++i) norms.push_back(std::pow(ratio, i));
  return norms;
}

struct ToyState : KrylovState {
  double ratio[most_vectors]{};
};

/// |r|^2 falls by a constant ratio, another for each vector: the shortest of all solvers.
struct ToyIteration {
  static constexpr const char* name = "test.toy_iteration";
  static constexpr bool ends_iteration = true;
  static double record(const ToyState& state, int v) { return state.norm2[v]; }
  static void run(ToyState& state, int v, const double*) {
    const double next = state.status.step == 0 ? state.ratio[v] : state.norm2[v] * state.ratio[v];
    if (const StopReason reason = state.verdict(v, next); reason != StopReason::running) state.stop(v, reason, 1);
  }
};

KrylovResults run_toy(const KrylovLimits& limits, const std::vector<double>& ratios, const KrylovProgress& progress = {}) {
  const int n = static_cast<int>(ratios.size());
  auto initial = initial_state<ToyState>(limits, n);
  std::copy(ratios.begin(), ratios.end(), initial.ratio);
  GraphState<ToyState> state(initial, recorded_numbers(limits, n), 0);
  return run_iterations(state, limits, progress, [&](bool) { submit_scalar<ToyIteration>(state); });
}
KrylovResult run_toy(const KrylovLimits& limits, double ratio, const KrylovProgress& progress = {}) {
  return run_toy(limits, std::vector<double>{ratio}, progress).of_vectors[0];
}

}  // namespace

TEST_CASE("verdict: converged at the target, not before") {
  const KrylovLimits limits = limits_of(0.25, 100);
  CHECK(run(limits, {1, 0.5, 0.26, 0.25, 0.1}) == Ended{StopReason::converged, 4});
  CHECK(run(limits, {1, 0.5, 0.26}) == Ended{StopReason::running, 3});
  CHECK(run(limits_of(0), {1, 1e-300, 0}) == Ended{StopReason::converged, 3});
}

TEST_CASE("verdict: NaN and infinity end a solve at once") {
  for (const double bad : {not_a_number, -not_a_number, infinity}) {
    CHECK(run(limits_of(1e-10), {1, bad, 1e-20}) == Ended{StopReason::not_finite, 2});
    CHECK(run(limits_of(1e-10), {bad}) == Ended{StopReason::not_finite, 1});
    CHECK(run(limits_of(1e-10, 2), {1, bad}) == Ended{StopReason::not_finite, 2});
  }
}

TEST_CASE("verdict: the iteration limit, unless the last iteration converges") {
  const KrylovLimits limits = limits_of(1e-10, 5);
  CHECK(run(limits, decreasing(0.9, 20)) == Ended{StopReason::iteration_limit, 5});
  CHECK(run(limits, {1, 1, 1, 1, 1e-11}) == Ended{StopReason::converged, 5});
}

TEST_CASE("verdict: stagnation when no new minimum was reached for as long as patience lasts") {
  const KrylovLimits limits = limits_of(1e-10, 1000, 3);
  CHECK(run(limits, {1, 2, 2, 2, 2}) == Ended{StopReason::stagnation, 4});
  CHECK(run(limits, {1, 1, 1, 1}) == Ended{StopReason::stagnation, 4});  // equal is no new minimum
  CHECK(run(limits, {1, 2, 2, 0.9, 2, 2, 2}) == Ended{StopReason::stagnation, 7});
  CHECK(run(limits, {1, 2, 2, 0.9, 2, 2, 0.8, 2, 2}) == Ended{StopReason::running, 9});
  CHECK(run(limits, decreasing(0.999, 500)) == Ended{StopReason::running, 500});
}

TEST_CASE("verdict before the first iteration") {
  const auto start = [](double value) {
    auto state = initial_state<KrylovState>(limits_of(1e-4), 1);
    state.check_start(0, value);
    return static_cast<StopReason>(state.stopped[0]);
  };
  CHECK(start(1) == StopReason::running);
  CHECK(start(1e-4) == StopReason::converged);
  CHECK(start(0) == StopReason::converged);
  CHECK(start(not_a_number) == StopReason::not_finite);
  CHECK(start(infinity) == StopReason::not_finite);
}

TEST_CASE("the first reason to stop stays") {
  KrylovState state;
  state.stop(0, StopReason::zero_denominator);
  state.stop(0, StopReason::interrupted);
  CHECK(static_cast<StopReason>(state.stopped[0]) == StopReason::zero_denominator);
}

TEST_CASE("the graph stops when the last vector has, and a vector's refresh is nobody else's") {
  auto state = initial_state<KrylovState>(limits_of(1e-10), 3);
  state.stop(0, StopReason::converged);
  state.stop(2, StopReason::stagnation);
  state.settle();
  CHECK(state.status.stop == 0);
  CHECK(state.leaves_out(0, false));
  CHECK_FALSE(state.leaves_out(1, false));
  CHECK(state.status.resting == 1);
  state.drop2 = 0.01;
  state.watch(1, 1);
  state.watch(1, 0.001);
  state.settle();
  CHECK(state.status.resting == 0);
  CHECK_FALSE(state.leaves_out(1, true));
  CHECK(state.leaves_out(2, true));
  state.refreshed(1, 0.001);
  state.stop(1, StopReason::converged);
  state.settle();
  CHECK(state.status.resting == 1);
  CHECK(state.status.stop != 0);
}

TEST_CASE("complex division and product, and a denominator that stops the graph") {
  KrylovState state;
  const ComplexScalar q = divide(state, 0, {3, -4}, {1, 2}), p = times({3, -4}, {1, 2});
  CHECK(q.re == doctest::Approx(-1));
  CHECK(q.im == doctest::Approx(-2));
  CHECK(p.re == 11);
  CHECK(p.im == 2);
  CHECK(state.stopped[0] == 0);
  const auto reason = [](const ComplexScalar& denominator) {
    KrylovState state;
    const ComplexScalar z = divide(state, 0, {1, 1}, denominator);
    CHECK(z.re == 0);
    CHECK(z.im == 0);
    return static_cast<StopReason>(state.stopped[0]);
  };
  CHECK(reason({0, 0}) == StopReason::zero_denominator);
  CHECK(reason({not_a_number, 0}) == StopReason::not_finite);
  CHECK(reason({0, infinity}) == StopReason::not_finite);
}

TEST_CASE("iterations submitted ahead stop where the verdict says, with their history") {
  const Session session(options(2));
  for (const int check_every : {1, 2, 7, 16, 100}) {
    INFO("a look every " << check_every);
    KrylovLimits limits = limits_of(1e-6, 60, 30);
    limits.check_every = check_every;
    const KrylovResult result = run_toy(limits, 0.5);
    CHECK(result.reason == StopReason::converged);
    CHECK(result.iterations == 20);  // 2^-20 < 1e-6 < 2^-19
    REQUIRE(result.norm2.size() == 20);
    for (int i = 0; i < 20; ++i) CHECK(result.norm2[static_cast<std::size_t>(i)] == std::ldexp(1.0, -i - 1));
    limits.most_iterations.fill(12);
    CHECK(run_toy(limits, 0.5).iterations == 12);
    CHECK(run_toy(limits, 0.5).reason == StopReason::iteration_limit);
    limits.most_iterations.fill(60);
    CHECK(run_toy(limits, 1.0).reason == StopReason::stagnation);
    CHECK(run_toy(limits, 1.0).iterations == 31);
    CHECK(run_toy(limits, not_a_number).reason == StopReason::not_finite);
    CHECK(run_toy(limits, not_a_number).iterations == 1);
  }
}

TEST_CASE("each vector stops on its own, with its own reason, iterations and history") {
  const Session session(options(2));
  KrylovLimits limits = limits_of(1e-6, 60, 30);
  limits.target_norm2[1] = 1e-3;
  limits.most_iterations[2] = 7;
  const std::vector<double> ratios{0.5, 0.5, 0.5, not_a_number, 1.0, 0.25};
  const KrylovResults together = run_toy(limits, ratios);
  REQUIRE(together.of_vectors.size() == ratios.size());
  const std::vector<Ended> expected{{StopReason::converged, 20}, {StopReason::converged, 10},  {StopReason::iteration_limit, 7},
                                    {StopReason::not_finite, 1}, {StopReason::stagnation, 31}, {StopReason::converged, 10}};
  for (std::size_t v = 0; v < ratios.size(); ++v) {
    INFO("vector " << v);
    const KrylovResult& result = together.of_vectors[v];
    CHECK(Ended{result.reason, result.iterations} == expected[v]);
    REQUIRE(result.norm2.size() == static_cast<std::size_t>(expected[v].iterations));
    for (std::size_t i = 0; i < result.norm2.size() && v != 3; ++i)
      CHECK(result.norm2[i] == std::pow(ratios[v], static_cast<double>(i + 1)));
  }
}

TEST_CASE("progress sees iterations in order and may interrupt") {
  const Session session(options(1));
  KrylovLimits limits = limits_of(1e-200, 1000);
  limits.check_every = 8;
  int previous = 0, calls = 0;
  const KrylovResult result = run_toy(limits, 0.999, [&](int iterations, const double* norm2) {
    CHECK(iterations > previous);
    CHECK(*norm2 == doctest::Approx(std::pow(0.999, iterations)));
    previous = iterations;
    return ++calls < 5;
  });
  CHECK(result.reason == StopReason::interrupted);
  CHECK(calls == 5);
  CHECK(result.iterations >= previous);
  CHECK(result.iterations < 1000);
  CHECK(result.norm2.size() == static_cast<std::size_t>(result.iterations));
}

TEST_CASE("every reason has words") {
  std::vector<std::string> seen;
  for (const StopReason reason : {StopReason::running, StopReason::converged, StopReason::zero_denominator, StopReason::not_finite,
                                  StopReason::stagnation, StopReason::iteration_limit, StopReason::interrupted}) {
    const std::string text = describe(reason);
    CHECK(text != "unknown");
    for (const std::string& other : seen) CHECK(text != other);
    seen.push_back(text);
  }
}

}  // namespace scalar_test
