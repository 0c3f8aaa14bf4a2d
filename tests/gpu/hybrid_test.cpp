// CPUs and GPUs in one solve: the bits of either alone, for every share, precision and cut, and for lattices that the GPU cannot hold.
#include <algorithm>

#include "apps/report.hpp"
#include "apps/solve_run.hpp"
#include "runtime/proportional_cut.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/gpu/support.hpp"

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 57721;
constexpr int column = 5;

struct Outcome {
  app::RunReport report;
  HostSpinor solution;
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
  outcome.solution = std::move(app::solve_columns(app::links_at_hand(gauge), gauge.extents, config, outcome.report).fields.front());
  return outcome;
}

void check_same(const Outcome& got, const Outcome& expected) {
  CHECK(got.result().residual_history == expected.result().residual_history);
  CHECK(battery::same_bits(got.solution, expected.solution));
}

bool owns(const Outcome& outcome, bool gpu) {
  const auto& parts = outcome.report.devices.parts;
  return std::any_of(parts.begin(), parts.end(), [&](const app::DevicePart& part) { return (part.name.find("CUDA") != std::string::npos) == gpu; });
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
          config.wilson.kappa = 0.125;
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
            CHECK(owns(both, true));
            CHECK(owns(both, false));
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
    config.wilson.kappa = 0.2;
    config.solver.check_every = batch;
    config.solver.max_iterations = iterations;
    config.solver.tolerance = 1e-14;
    config.session = {.cpu_workers = 1, .devices = "all", .cpu_share = 0.34};
    config.columns = {column};
    config.solver.tune = false;
    app::RunReport report;
    report.config = config;
    try {
      app::solve_columns(app::links_at_hand(gauge), lattice, config, report);
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
  config.wilson.kappa = 0.12;
  const Outcome cpu = solve(config, gauge, {.cuda_workers = 0});
  const Outcome both = solve(config, gauge, {.cpu_workers = 2, .threads_per_worker = 1, .devices = "all", .cpu_share = 0.5});
  check_same(both, cpu);
}

TEST_CASE("a lattice larger than the GPU's memory still solves") {
  QUARKSTAR_NEEDS_GPU("gpu memory limit");
  const Coord lattice{16, 16, 16, 32};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  app::RunConfig config;
  config.wilson.kappa = 0.12;
  config.solver.tolerance = 1e-8;
  const Outcome cpu = solve(config, gauge, {.cuda_workers = 0});
  // 312 MiB are needed.
  const runtime::SessionOptions limited{.gpu_memory = std::size_t{256} << 20};
  const Outcome spilled = solve(config, gauge, limited);
  check_same(spilled, cpu);
  CHECK(owns(spilled, true));
  CHECK(owns(spilled, false));
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
  config.wilson.kappa = 0.12;
  config.solver.precision = Precision::single;
  const Outcome gpu = solve(config, gauge, {.devices = "cuda"});
  const Outcome open = solve(config, gauge, {.devices = "all"});
  check_same(open, gpu);
  CHECK(open.report.devices.reason.find("predicted") == 0);
  CHECK(open.report.devices.bound_gflops() > 0);
}
