// Batches that a GPU replays: the host looks less often, and nothing else changes.
#include "codelets/field/source_field.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/krylov/replay_pace.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/gpu/support.hpp"

namespace replay_test {

using namespace quarkstar;

namespace {

/// While it lives, batches are replayed so often.
struct FixedPace {
  explicit FixedPace(int replays) { ReplayPace::fix(replays); }
  ~FixedPace() { ReplayPace::fix(0); }
  FixedPace(const FixedPace&) = delete;
  FixedPace& operator=(const FixedPace&) = delete;
};

}  // namespace

TEST_CASE("replayed batches have the bits and the flops of batches that are looked at") {
  QUARKSTAR_NEEDS_GPU("gpu replays");
  constexpr std::uint64_t seed = 16180;
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 16};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  const WilsonParameters parameters{0.13, {}, antiperiodic_in_time};
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int check_every : {1, 2, 16}) {
      battery::SolveCase on_cpu;
      on_cpu.settings.solver = "cgnr";  // many iterations
      on_cpu.settings.precision = precision;
      on_cpu.settings.check_every = check_every;
      const battery::SolveOutcome expected = battery::solve_once(on_cpu, gauge, parameters, source);
      REQUIRE(expected.result.converged());
      REQUIRE(expected.result.iterations > 30);
      const int gpus = static_cast<int>(runtime::gpus().size());
      for (int count = 1; count <= gpus; count *= 2) {
        double looked_at_tasks = 0;
        for (const int replays : {1, 5}) {
          INFO(name_of(precision) << " a look every " << check_every << ", GPUs " << count << ", replays " << replays);
          const FixedPace pace(replays);
          battery::SolveCase on_gpu = on_cpu;
          on_gpu.gpus = count;
          on_gpu.blocks = {1, 1, 1, count};
          const battery::SolveOutcome outcome = battery::solve_once(on_gpu, gauge, parameters, source);
          battery::check_same_bits(outcome, expected);
          CHECK(outcome.result.flops == doctest::Approx(expected.result.flops).epsilon(1e-12));
          if (replays == 1) looked_at_tasks = outcome.result.tasks;
          // Each look costs a batch and a publication.
          else if (check_every == 1 && precision == Precision::double_)
            CHECK(outcome.result.tasks + outcome.result.iterations / 2 < looked_at_tasks);
        }
      }
    }
}

TEST_CASE("a batch without a state is replayed as often as asked") {
  QUARKSTAR_NEEDS_GPU("gpu replays without a state");
  constexpr std::uint64_t seed = 14142;
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  constexpr int parts = 2;
  const auto run = [&](std::initializer_list<int> replays, std::int64_t& executed) {
    battery::HoppingHarness harness({lattice, {1, 1, 1, 1}, Precision::single, 12}, gauge, antiperiodic_in_time);
    const Field even(harness.lattice(), 0, spinor_components), odd(harness.lattice(), 1, spinor_components);
    transfer::load(odd, psi);
    runtime::Session& session = runtime::Session::current();
    session.wait_all();
    const std::int64_t before = session.events().totals().executed;
    for (const int times : replays) {
      runtime::Batch batch;
      harness.hopping().apply(even, odd, {.scale = same_for_all(0.15)});
      harness.hopping().apply(odd, even, {.scale = same_for_all(0.15)});
      batch.submit({times});
    }
    session.wait_all();
    executed = session.events().totals().executed - before;
    HostField result(spinor_components, lattice);
    transfer::store(result, odd);
    transfer::store(result, even);
    session.wait_all();
    return result;
  };
  std::int64_t on_cpu = 0, on_gpu = 0;
  HostField expected;
  {
    runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
    expected = run({1, 1, 1, 1, 1}, on_cpu);
  }
  runtime::Session gpu({.cuda_workers = 1});
  CHECK(battery::same_bits(run({1, 3, 1}, on_gpu), expected));
  CHECK(on_cpu == 5 * parts);
  CHECK(on_gpu == 5 * parts);
}

TEST_CASE("solves in flight are replayed, each with the bits of its solve alone; no vector comes to the host") {
  QUARKSTAR_NEEDS_GPU("gpu replays in flight");
  constexpr std::uint64_t seed = 17320;
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 8, 16};
  constexpr double kappa = 0.13;
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const auto solve_all = [&](int in_flight, int replays) {
    const FixedPace pace(replays);
    runtime::Session session({.cuda_workers = 1});
    SolverSettings settings;
    settings.solver = "cgnr";
    settings.check_every = 2;
    settings.keep_history = true;
    const runtime::Decomposition decomposition(lattice, {1, 1, 1, 1}, 1);
    Solver solver(decomposition, wilson::Action(gauge, {kappa, {}, antiperiodic_in_time}), settings);
    solver.prepare(2);
    const std::size_t before = runtime::host_memory_use().now;
    runtime::restart_peak();
    std::vector<std::vector<SolveResult>> results(3);
    runtime::Turns::run(3, in_flight, [&](int number) {
      const Source source{Source::Kind::point, {0, 0, 0, number}};
      const SourceColumns columns(decomposition, {{source, 0}, {source, 5}});
      results[static_cast<std::size_t>(number)] =
          solver.solve([&columns](const Field& field) { columns.submit(field); }, std::vector<double>(2, kappa), {});
    });
    const double field = static_cast<double>(volume(lattice)) / 2 * 24 * sizeof(double) * 2;
    CHECK(static_cast<double>(runtime::host_memory_use().peak - before) < field);
    return results;
  };
  const auto expected = solve_all(1, 1);
  const auto looked_at = solve_all(3, 1), replayed = solve_all(3, 5);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t v = 0; v < 2; ++v) {
      CHECK(expected[i][v].converged());
      CHECK(replayed[i][v].residual_history == expected[i][v].residual_history);
      CHECK(replayed[i][v].flops == doctest::Approx(expected[i][v].flops).epsilon(1e-12));
      CHECK(replayed[i][v].tasks < 0.7 * looked_at[i][v].tasks);
    }
}

}  // namespace replay_test
