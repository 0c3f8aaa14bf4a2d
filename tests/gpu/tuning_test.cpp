// On GPUs tuned settings change no bit; what is measured is kept.
#include <filesystem>

#include "codelets/wilson/tuning.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/gpu/support.hpp"

using namespace quarkstar;

namespace {
constexpr std::uint64_t seed = 33550336;
}

TEST_CASE("tiles and sizes of GPU blocks change no bit of the hopping term") {
  QUARKSTAR_NEEDS_GPU("gpu tuning hopping");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 16, 12};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostSpinor psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int reals : {12, 8}) {
      HostSpinor expected;
      {
        runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
        expected = battery::HoppingHarness({lattice, {1, 1, 1, 1}, precision, reals}, gauge, antiperiodic_in_time).apply(psi);
      }
      runtime::Session gpu({.cuda_workers = 1});
      for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 1}})
        for (const Coord& tile : {Coord{}, Coord{0, 0, 8, 8}, Coord{0, 0, 4, 4}, Coord{2, 2, 2, 3}})
          for (const int threads : {0, 32, 64, 96, 128, 192, 256}) {
            battery::HoppingCase c{lattice, blocks, precision, reals};
            c.tile = tile;
            c.block_threads = threads;
            INFO(c.text());
            CHECK(battery::same_bits(battery::HoppingHarness(c, gauge, antiperiodic_in_time).apply(psi), expected));
          }
    }
}

TEST_CASE("a measurement on a GPU is kept, and answers the next time") {
  QUARKSTAR_NEEDS_GPU("gpu tuning cache");
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "quarkstar-gpu-tune";
  std::filesystem::remove_all(folder);
  runtime::Session gpu({.cuda_workers = 1});
  const wilson::TuningProblem problem{runtime::Decomposition({16, 16, 16, 16}, {1, 1, 1, 1}, 1), Precision::single, 12};
  wilson::HoppingTuning measured;
  {
    runtime::TuneCache cache((folder / "tune.json").string());
    CHECK(wilson::tuning_for(problem, false, &cache) == wilson::default_tuning(problem));
    CHECK(cache.size() == 0);
    wilson::TuningProblem crowded = problem;
    crowded.resident = 1e9;  // 65 TB beside it: no room to measure
    CHECK(wilson::tuning_for(crowded, true, &cache) == wilson::default_tuning(problem));
    CHECK(cache.size() == 0);
    measured = wilson::tuning_for(problem, true, &cache);
    CHECK(cache.size() == 1);
  }
  runtime::TuneCache cache((folder / "tune.json").string());
  CHECK(cache.size() == 1);
  CHECK(wilson::tuning_for(problem, true, &cache) == measured);
  CHECK(cache.size() == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("large lattices on a GPU are tiled by rule") {
  QUARKSTAR_NEEDS_GPU("gpu tuning rule");
  runtime::Session gpu({.cuda_workers = 1});
  const auto tile_of = [](const Coord& lattice, Precision precision) {
    return wilson::default_tuning({runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), precision, 12}).tile;
  };
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    CHECK(tile_of({32, 32, 32, 32}, precision) == Coord{});
    CHECK(tile_of({48, 48, 48, 48}, precision) == Coord{0, 0, 8, 8});
  }
}

TEST_CASE("a solve with and without tuning has the same residual history") {
  QUARKSTAR_NEEDS_GPU("gpu tuning solve");
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge({8, 8, 8, 16}, seed + 2, 0.4);
  const HostSpinor source = battery::to_host(reference::random_field({8, 8, 8, 16}, 4, seed + 3));
  const WilsonParameters parameters{0.125, {}, antiperiodic_in_time};
  for (const Precision precision : {Precision::double_, Precision::half}) {
    battery::SolveCase c;
    c.gpus = 1;
    c.settings.precision = precision;
    c.settings.link_reals = 12;
    c.settings.tune = false;
    const battery::SolveOutcome plain = battery::solve_once(c, gauge, parameters, source);
    c.settings.tune = true;
    const battery::SolveOutcome tuned = battery::solve_once(c, gauge, parameters, source);
    CHECK(plain.result.converged());
    CHECK(tuned.result.residual_history == plain.result.residual_history);
    CHECK(battery::same_bits(tuned.solution, plain.solution));
  }
}
