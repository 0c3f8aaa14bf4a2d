// CPUs and GPUs in one solve: the bits of either alone, for every share, precision and cut, and for lattices that the GPU cannot hold.
#include "apps/run/report.hpp"
#include "apps/run/solve_run.hpp"
#include "runtime/cut/proportional_cut.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/staggered_support.hpp"
#include "tests/gpu/support.hpp"

#include <algorithm>

namespace hybrid_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 57721;
constexpr int column = 5;

struct Outcome {
  app::RunReport report;
  HostField solution;
  const SolveResult& result() const { return report.solves.front().result; }
};

/// One column, through the code of the command.
Outcome solve(app::RunConfig config, const HostGauge& gauge, const runtime::SessionOptions& session) {
  config.session = session;
  config.columns = {column};
  config.solver.tune = false;  // takes longer than these solves
  config.source.position = {1, 2, 3, 1};
  Outcome outcome;
  outcome.report.config = config;
  outcome.solution =
      std::move(app::solve_source(links_at_hand(gauge), gauge.extents, outcome.report, app::unwatched()).front().columns.front());
  return outcome;
}

void check_same(const Outcome& got, const Outcome& expected) {
  CHECK(got.result().residual_history == expected.result().residual_history);
  CHECK(battery::same_bits(got.solution, expected.solution));
}

bool owns(const app::RunReport& report, bool gpu) {
  const auto& parts = report.devices.parts;
  return std::any_of(parts.begin(), parts.end(),
                     [&](const app::DevicePart& part) { return (part.name.find("CUDA") != std::string::npos) == gpu; });
}

struct StaggeredOutcome {
  app::RunReport report;
  Propagators propagators;
};

/// Three colours for every mass, through the code of the command: links made, then solved with.
StaggeredOutcome solve_staggered(app::RunConfig config, const HostGauge& gauge, const runtime::SessionOptions& session) {
  config.session = session;
  config.columns = {0, 1, 2};
  config.solver.tune = false;
  config.solver.tolerance = 1e-8;
  config.source.position = {1, 2, 3, 1};
  StaggeredOutcome outcome;
  outcome.report.config = config;
  outcome.propagators = app::solve_source(links_at_hand(gauge), gauge.extents, outcome.report, app::unwatched());
  return outcome;
}

void check_same(const StaggeredOutcome& got, const StaggeredOutcome& expected) {
  REQUIRE(got.report.solves.size() == expected.report.solves.size());
  for (std::size_t i = 0; i < got.report.solves.size(); ++i)
    CHECK(got.report.solves[i].result.residual_history == expected.report.solves[i].result.residual_history);
  for (std::size_t m = 0; m < got.propagators.size(); ++m)
    for (std::size_t c = 0; c < 3; ++c) CHECK(battery::same_bits(got.propagators[m].columns[c], expected.propagators[m].columns[c]));
}

app::RunConfig staggered_config(const std::string& solver, Precision precision, int long_reals) {
  app::RunConfig config;
  config.action = &kind_named("hisq");
  config.settings["masses"] = std::vector<double>{0.2};
  if (solver == "multishift") config.settings["masses"] = std::vector<double>{0.2, 0.5};
  config.solver.solver = solver;
  config.solver.precision = precision;
  config.solver.link_reals = long_reals;
  return config;
}

}  // namespace

TEST_CASE("CPUs and GPUs together have the bits of each alone") {
  QUARKSTAR_NEEDS_GPU("gpu hybrid");
  MESSAGE("seed " << seed);
  for (const Coord& lattice : {Coord{8, 8, 8, 16}, Coord{8, 4, 6, 10}}) {
    const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
    for (const char* solver : {"bicgstab", "cgnr"})
      for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
        for (const int reals : {18, 12}) {
          app::RunConfig config;
          config.settings["kappa"] = 0.125;
          config.solver.solver = solver;
          config.solver.precision = precision;
          config.solver.link_reals = reals;
          const Outcome cpu = solve(config, gauge, {.cuda_workers = 0});
          const Outcome gpu = solve(config, gauge, {.devices = "cuda"});
          check_same(gpu, cpu);
          for (const double share : {0.1, 0.5, 0.8}) {
            INFO(lattice[3] << " " << solver << " " << name_of(precision) << " links " << reals << " share " << share);
            const Outcome both = solve(config, gauge, {.devices = "all", .cpu_share = share});
            check_same(both, cpu);
            CHECK(owns(both.report, true));
            CHECK(owns(both.report, false));
            CHECK(both.report.devices.bound_gflops() > 0);
          }
          // Work is counted alike, though a GPU's tasks cannot tell whether the graph had stopped.
          CHECK(gpu.result().flops == doctest::Approx(cpu.result().flops).epsilon(1e-12));
        }
  }
}

TEST_CASE("an iteration of CPUs and GPUs is eleven tasks an owner, batches included") {
  QUARKSTAR_NEEDS_GPU("gpu hybrid tasks");
  const Coord lattice{8, 8, 8, 24};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  constexpr int batch = 16;
  const auto solve_for = [&](int iterations) {
    app::RunConfig config;
    config.settings["kappa"] = 0.2;
    config.solver.check_every = batch;
    config.solver.max_iterations = iterations;
    config.solver.tolerance = 1e-14;
    config.session = {.cpu_workers = 1, .cuda_workers = 1, .devices = "all", .cpu_share = 0.34};
    config.columns = {column};
    config.solver.tune = false;
    app::RunReport report;
    report.config = config;
    try {
      app::solve_source(links_at_hand(gauge), lattice, report, app::unwatched());
    } catch (const Error& error) {
      CHECK(error.exit_code() == 4);  // the limit
    }
    CHECK(report.solves.front().result.iterations == iterations);
    return report;
  };
  const app::RunReport shorter = solve_for(batch), longer = solve_for(2 * batch);
  const auto owners = static_cast<double>(longer.devices.parts.size());
  const double tasks = (longer.solves.front().result.tasks - shorter.solves.front().result.tasks) / batch;
  CHECK(tasks <= 11 * owners + 1);
  CHECK(tasks >= 11 * owners - 1);
  const double kernels = static_cast<double>(longer.solves.front().result.kernels - shorter.solves.front().result.kernels) / batch;
  CHECK(kernels == doctest::Approx(15 * owners + 3).epsilon(0.02));
}

TEST_CASE("two CPU workers beside a GPU, cut in z where t is too short") {
  QUARKSTAR_NEEDS_GPU("gpu hybrid in z");
  const Coord lattice{8, 8, 16, 2};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  app::RunConfig config;
  config.settings["kappa"] = 0.12;
  const Outcome cpu = solve(config, gauge, {.cuda_workers = 0});
  const Outcome both = solve(config, gauge, {.cpu_workers = 2, .threads_per_worker = 1, .devices = "all", .cpu_share = 0.5});
  check_same(both, cpu);
}

TEST_CASE("a lattice larger than the GPU's memory still solves") {
  QUARKSTAR_NEEDS_GPU("gpu memory limit");
  const Coord lattice{16, 16, 16, 32};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  app::RunConfig config;
  config.settings["kappa"] = 0.12;
  config.solver.tolerance = 1e-8;
  const Outcome cpu = solve(config, gauge, {.cuda_workers = 0});
  // 312 MiB are needed.
  const runtime::SessionOptions limited{.cuda_workers = 1, .gpu_memory = std::size_t{256} << 20};
  const Outcome spilled = solve(config, gauge, limited);
  check_same(spilled, cpu);
  CHECK(owns(spilled.report, true));
  CHECK(owns(spilled.report, false));
  CHECK(spilled.report.memory.front().gpu);
  CHECK(spilled.report.memory.front().total() <= spilled.report.memory.front().available);

  runtime::SessionOptions only_gpus = limited;
  only_gpus.devices = "cuda";
  try {
    solve(config, gauge, only_gpus);
    FAIL("not refused");
  } catch (const Error& error) {
    CHECK(error.exit_code() == 2);
    CHECK(std::string(error.what()).find("are available") != std::string::npos);
  }
}

TEST_CASE("an open share is solved with, whatever the measurement says") {
  QUARKSTAR_NEEDS_GPU("gpu open share");
  const Coord lattice{16, 16, 16, 32};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  app::RunConfig config;
  config.settings["kappa"] = 0.12;
  config.solver.precision = Precision::single;
  const Outcome gpu = solve(config, gauge, {.devices = "cuda"});
  const Outcome open = solve(config, gauge, {.devices = "all"});
  check_same(open, gpu);
  CHECK(open.report.devices.reason.find("predicted") == 0);
  CHECK(open.report.devices.bound_gflops() > 0);
}

TEST_CASE("staggered: CPUs and GPUs together have the bits of each alone") {
  QUARKSTAR_NEEDS_GPU("gpu hybrid staggered");
  MESSAGE("seed " << seed);
  for (const Coord& lattice : {Coord{8, 8, 8, 16}, Coord{8, 4, 6, 10}}) {
    const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
    for (const char* solver : {"cg", "blockcg", "multishift"})
      for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
        const app::RunConfig config = staggered_config(solver, precision, precision == Precision::double_ ? 18 : 13);
        const StaggeredOutcome cpu = solve_staggered(config, gauge, {.cuda_workers = 0});
        const StaggeredOutcome gpu = solve_staggered(config, gauge, {.devices = "cuda"});
        check_same(gpu, cpu);
        for (const double share : {0.1, 0.5, 0.7}) {
          INFO(lattice[3] << " " << solver << " " << name_of(precision) << " share " << share);
          const StaggeredOutcome both = solve_staggered(config, gauge, {.devices = "all", .cpu_share = share});
          check_same(both, cpu);
          CHECK(owns(both.report, true));
          CHECK(owns(both.report, false));
          CHECK(both.report.devices.bound_gflops() > 0);
        }
      }
  }
}

TEST_CASE("staggered: an open share is solved with, and a lattice larger than the GPU's memory still solves") {
  QUARKSTAR_NEEDS_GPU("gpu hybrid staggered memory");
  const Coord lattice{16, 16, 16, 32};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const app::RunConfig config = staggered_config("cg", Precision::single, 18);
  const StaggeredOutcome gpu = solve_staggered(config, gauge, {.cuda_workers = 1, .devices = "cuda"});
  const StaggeredOutcome open = solve_staggered(config, gauge, {.cuda_workers = 1, .devices = "all"});
  check_same(open, gpu);
  CHECK(open.report.devices.reason.find("predicted") == 0);
  // Half of what the GPU alone would need.
  runtime::SessionOptions limited;
  limited.cuda_workers = 1;
  limited.gpu_memory = static_cast<std::size_t>(gpu.report.memory.front().total() / 2);
  const StaggeredOutcome spilled = solve_staggered(config, gauge, limited);
  check_same(spilled, gpu);
  CHECK(owns(spilled.report, true));
  CHECK(owns(spilled.report, false));
  CHECK(spilled.report.memory.front().gpu);
  CHECK(spilled.report.memory.front().total() <= spilled.report.memory.front().available);
  limited.devices = "cuda";
  CHECK_THROWS_WITH_AS(solve_staggered(config, gauge, limited), doctest::Contains("are available"), Error);
}

}  // namespace hybrid_test
