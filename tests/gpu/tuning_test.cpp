// On GPUs tuned settings change no bit; what is measured is kept.
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/staggered/prepared_action.hpp"
#include "codelets/actions/wilson/prepared_action.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/battery/staggered_support.hpp"
#include "tests/gpu/support.hpp"

#include <filesystem>

namespace tuning_test {

using namespace quarkstar;

namespace {
constexpr std::uint64_t seed = 33550336;
}

TEST_CASE("tiles and sizes of GPU blocks change no bit of the hopping term") {
  QUARKSTAR_NEEDS_GPU("gpu tuning hopping");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 16, 12};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int reals : {12, 8}) {
      HostField expected;
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
  const stencil::TuningProblem problem{runtime::Decomposition({16, 16, 16, 16}, {1, 1, 1, 1}, 1),
                                       wilson::tuning_subject(Precision::single, 12, antiperiodic_in_time)};
  const Coord usual_tile = problem.subject.usual_tile(problem.decomposition, 1);
  const stencil::Launch usual_launch = problem.subject.usual_launch(problem.vectors);
  Coord tile{};
  stencil::Launch launch{};
  {
    runtime::TuneCache cache((folder / "tune.json").string());
    CHECK(stencil::tile_for(problem, false, &cache) == usual_tile);
    CHECK(stencil::launch_for(problem, usual_tile, false, &cache) == usual_launch);
    CHECK(cache.size() == 0);
    stencil::TuningProblem crowded = problem;
    crowded.resident = 1e9;  // 65 TB beside it: no room to measure
    CHECK(stencil::tile_for(crowded, true, &cache) == usual_tile);
    CHECK(stencil::launch_for(crowded, usual_tile, true, &cache) == usual_launch);
    CHECK(cache.size() == 0);
    tile = stencil::tile_for(problem, true, &cache);
    launch = stencil::launch_for(problem, tile, true, &cache);
    CHECK(cache.size() == 2);
  }
  runtime::TuneCache cache((folder / "tune.json").string());
  CHECK(cache.size() == 2);
  CHECK(stencil::tile_for(problem, true, &cache) == tile);
  CHECK(stencil::launch_for(problem, tile, true, &cache) == launch);
  CHECK(cache.size() == 2);
  std::filesystem::remove_all(folder);
}

TEST_CASE("large lattices on a GPU are tiled by rule") {
  QUARKSTAR_NEEDS_GPU("gpu tuning rule");
  runtime::Session gpu({.cuda_workers = 1});
  const auto tile_of = [](const Coord& lattice, Precision precision) {
    return wilson::tuning_subject(precision, 12, antiperiodic_in_time).usual_tile(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), 1);
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
  const HostField source = battery::to_host(reference::random_field({8, 8, 8, 16}, 4, seed + 3));
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
    battery::check_same_bits(tuned, plain);
  }
}

TEST_CASE("staggered: tiles, sizes of GPU blocks and right-hand sides of a thread change no bit") {
  QUARKSTAR_NEEDS_GPU("gpu tuning staggered");
  MESSAGE("seed " << seed);
  const Coord lattice{8, 8, 16, 12};
  const smear::StaggeredLinks links = battery::with_phases(battery::random_links(lattice, seed + 4, -1 / 24.), -1 / 24.);
  const std::vector<HostField> chi = battery::random_vectors(lattice, 16, seed + 5);
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    std::vector<HostField> expected;
    {
      runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
      expected = battery::DslashHarness({lattice, {1, 1, 1, 1}, precision, 13}, links).apply(chi);
    }
    runtime::Session gpu({.cuda_workers = 1});
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 1}})
      for (const Coord& tile : {Coord{}, Coord{0, 0, 8, 8}, Coord{0, 0, 4, 4}, Coord{2, 2, 2, 3}})
        for (const int threads : {0, 64, 128, 192, 256})
          for (const int vectors_a_thread : {0, 1, 2, 4, 8})
            for (const std::size_t n : {1, 3, 4, 16}) {
              battery::DslashCase c{lattice, blocks, precision, 13};
              c.tile = tile;
              c.launch = {threads, vectors_a_thread};
              INFO(c.text() << " vectors " << n << " threads " << threads << " vectors a thread " << vectors_a_thread);
              const std::vector<HostField> result = battery::DslashHarness(c, links).apply({chi.data(), n});
              for (std::size_t v = 0; v < n; ++v) CHECK(battery::same_bits(result[v], expected[v]));
            }
  }
}

TEST_CASE("staggered: measurements on a GPU are kept, and answer the next time; a tuned solve has the bits of an untuned one") {
  QUARKSTAR_NEEDS_GPU("gpu tuning staggered cache");
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "quarkstar-gpu-tune-staggered";
  std::filesystem::remove_all(folder);
  const Coord lattice{8, 8, 8, 16};
  const smear::StaggeredLinks links = battery::with_phases({reference::near_unit_gauge(lattice, seed + 6, 0.3), {}}, 0);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 4, seed + 7);
  runtime::Session gpu({.cuda_workers = 1});
  const stencil::TuningProblem problem{runtime::Decomposition({16, 16, 16, 16}, {1, 1, 1, 1}, 1),
                                       staggered::tuning_subject(Precision::single, 13), 4};
  Coord tile{};
  stencil::Launch launch{};
  {
    runtime::TuneCache cache((folder / "tune.json").string());
    CHECK(stencil::tile_for(problem, false, &cache) == Coord{});
    stencil::TuningProblem crowded = problem;
    crowded.resident = 1e9;  // 65 TB beside it: no room to measure
    CHECK(stencil::tile_for(crowded, true, &cache) == Coord{});
    CHECK(cache.size() == 0);
    tile = stencil::tile_for(problem, true, &cache);
    launch = stencil::launch_for(problem, tile, true, &cache);
    CHECK(cache.size() == 2);
  }
  runtime::TuneCache cache((folder / "tune.json").string());
  CHECK(stencil::tile_for(problem, true, &cache) == tile);
  const stencil::Launch again = stencil::launch_for(problem, tile, true, &cache);
  CHECK(again.block_threads == launch.block_threads);
  CHECK(again.vectors_a_thread == launch.vectors_a_thread);
  CHECK(cache.size() == 2);
  std::filesystem::remove_all(folder);

  SolverSettings settings;
  settings.solver = "cg";
  settings.precision = Precision::half;
  settings.keep_history = true;
  const std::vector<double> masses(4, 0.3);
  std::vector<SolveResult> results[2];
  std::vector<HostField> solutions[2];
  for (const bool tune : {false, true}) {
    settings.tune = tune;
    Solver solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, 1), staggered::Action(links), settings, {.vectors = 4});
    solutions[tune].assign(4, HostField(colour_components, lattice));
    results[tune] = solver.solve(sources, masses, solutions[tune]);
  }
  for (std::size_t v = 0; v < 4; ++v) {
    CHECK(results[0][v].residual_history == results[1][v].residual_history);
    CHECK(battery::same_bits(solutions[0][v], solutions[1][v]));
  }
}

}  // namespace tuning_test
