// Settings that are tuned change no bit, and are what rule, measurement and cache say.
#include "codelets/actions/staggered/tuning.hpp"

#include "codelets/actions/wilson/tuning.hpp"
#include "codelets/stencil/measurement.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/staggered_solver.hpp"
#include "tests/battery/staggered_support.hpp"
#include "tests/battery/support.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

using namespace quarkstar;
using battery::HoppingCase;

namespace {
constexpr std::uint64_t seed = 8128;

/// measure() takes the memory that is announced for the problem, and frees it; what is resident beside it counts too.
template <class Problem, class Measure>
void check_announced(Problem problem, Measure&& measure) {
  const std::size_t before = runtime::host_memory_use().now;
  runtime::restart_peak();
  measure();
  const auto taken = static_cast<double>(runtime::host_memory_use().peak - before);
  CHECK(runtime::host_memory_use().now == before);
  const double announced = measurement_bytes(problem).at(0);
  CHECK(announced <= taken);
  CHECK(announced > 0.9 * taken);
  problem.resident = 1152;
  CHECK(measurement_bytes(problem).at(0) == announced + 1152.0 * static_cast<double>(volume(problem.decomposition.lattice())));
}

}  // namespace

TEST_CASE("the order of sites in memory changes no bit") {
  const Coord lattice{8, 8, 16, 12};
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostSpinor psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    const HostSpinor plain = battery::HoppingHarness({lattice, {1, 1, 1, 1}, precision, 12}, gauge, antiperiodic_in_time).apply(psi);
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 1}, Coord{2, 1, 1, 3}})
      for (const Coord& tile :
           {Coord{0, 0, 8, 8}, Coord{0, 0, 4, 4}, Coord{0, 6, 6, 6}, Coord{0, 0, 0, 4}, Coord{2, 2, 2, 3}, Coord{4, 1, 5, 100}}) {
        HoppingCase c{lattice, blocks, precision, 12};
        c.tile = tile;
        INFO(c.text());
        CHECK(battery::same_bits(battery::HoppingHarness(c, gauge, antiperiodic_in_time).apply(psi), plain));
      }
  }
}

TEST_CASE("prefetch and stores change no bit") {
  const Coord lattice{8, 8, 16, 12};
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostSpinor psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  const smear::StaggeredLinks links = battery::with_phases(battery::random_links(lattice, seed, -1 / 24.), -1 / 24.);
  const std::vector<HostColour> chi = battery::random_vectors(lattice, 5, seed + 5);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    const HostSpinor plain = battery::HoppingHarness({lattice, {1, 1, 1, 1}, precision, 12}, gauge, antiperiodic_in_time).apply(psi);
    const std::vector<HostColour> colours = battery::DslashHarness({lattice, {1, 1, 1, 1}, precision, 13}, links).apply(chi);
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{2, 1, 1, 3}})
      for (const arch::MemoryAccess& memory : arch::memory_accesses) {
        HoppingCase c{lattice, blocks, precision, 12};
        c.memory = memory;
        INFO(c.text() << " prefetch " << memory.prefetch << " stores " << std::string(arch::name_of(memory.stores)));
        CHECK(battery::same_bits(battery::HoppingHarness(c, gauge, antiperiodic_in_time).apply(psi), plain));
        battery::DslashCase staggered{lattice, blocks, precision, 13};
        staggered.launch = {0, 0, memory};
        const std::vector<HostColour> moved = battery::DslashHarness(staggered, links).apply(chi);
        for (std::size_t v = 0; v < chi.size(); ++v) CHECK(battery::same_bits(moved[v], colours[v]));
      }
  }
}

TEST_CASE("a measurement returns one of its candidates") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}})
    for (const int reals : {18, 12, 8}) {
      double microseconds = 0;
      const wilson::HoppingTuning tuning =
          wilson::measure_tuning({runtime::Decomposition({8, 8, 8, 8}, blocks, 1), Precision::single, reals}, microseconds);
      CHECK(microseconds > 0);
      CHECK(tuning.block_threads == 0);
      CHECK(std::count(std::begin(tuning::tried_tiles), std::end(tuning::tried_tiles), tuning.tile) == 1);
      CHECK(std::count(std::begin(arch::memory_accesses), std::end(arch::memory_accesses), tuning.memory) == 1);
    }
}

TEST_CASE("a measurement takes the memory that is announced, and frees it") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int reals : {18, 8}) {
      const wilson::TuningProblem problem{runtime::Decomposition({16, 8, 8, 16}, {1, 1, 1, 1}, 1), precision, reals};
      INFO(name_of(precision) << " links " << reals);
      check_announced(problem, [&] {
        double microseconds = 0;
        wilson::measure_tuning(problem, microseconds);
      });
    }
}

TEST_CASE("memory of a measurement is counted for each owner") {
  const runtime::Decomposition cut({8, 8, 8, 16}, std::array<std::vector<int>, 4>{{{8}, {8}, {8}, {4, 4, 8}}}, {0, 1, 1});
  const std::map<int, double> bytes = wilson::measurement_bytes({cut, Precision::single, 12});
  REQUIRE(bytes.size() == 2);
  CHECK(bytes.at(0) == 512 * 4 * (8 * 12 * 4 + 2 * 24 * 4));
  CHECK(bytes.at(1) == 3 * bytes.at(0));
}

TEST_CASE("another number of owners is another problem to tune") {
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const auto key = [](int workers) {
    return wilson::tuning_key({runtime::Decomposition({8, 8, 8, 16}, {1, 1, 1, 4}, workers), Precision::single, 12}, "device");
  };
  CHECK(key(1) != key(2));
  CHECK(key(2) == key(2));
  CHECK(key(2).find("0 GPU + 2 CPU") != std::string::npos);
}

TEST_CASE("CPU workers divide the caches that the machine shows") {
  for (const int workers : {1, 2}) {
    const runtime::Session session({.cpu_workers = workers, .threads_per_worker = 1, .cuda_workers = 0});
    const double known = session.topology().cache_bytes();
    CHECK(tuning::cached_bytes() == (known > 0 ? known / workers : tuning::usual_cached_bytes));
  }
}

TEST_CASE("CPUs measure nothing for fields that their caches hold") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const std::string path = (std::filesystem::temp_directory_path() / "quarkstar-no-such-tune.json").string();
  runtime::TuneCache cache(path);
  constexpr double much = 50000;  // bytes a site that another level holds, and this one never touches
  constexpr double large_cache = 1e9;
  for (const bool measure : {false, true})
    for (const double resident : {0., much}) {
      const wilson::HoppingTuning tuning = wilson::tuning_for(
          {runtime::Decomposition({16, 16, 16, 16}, {1, 1, 1, 1}, 1), Precision::single, 12, resident, large_cache}, measure, &cache);
      CHECK(tuning == wilson::HoppingTuning{});
    }
  CHECK(cache.size() == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("what CPUs measure for larger fields is kept, and answers the next time") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("quarkstar-cpu-tune-" + std::to_string(::getpid()));
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition small({8, 8, 8, 8}, {1, 1, 1, 1}, 1);
  constexpr double little_cache = 1e6;  // less than the fields
  const wilson::TuningProblem wilson_problem{small, Precision::single, 12, 0, little_cache};
  const staggered::TuningProblem staggered_problem{small, Precision::single, 13, 4, 0, little_cache};
  wilson::HoppingTuning tuning;
  staggered::Launch launch;
  Coord tile{};
  {
    runtime::TuneCache cache((folder / "tune.json").string());
    CHECK(wilson::tuning_for(wilson_problem, false, &cache) == wilson::HoppingTuning{});
    CHECK(staggered::launch_for(staggered_problem, {}, false, &cache) == staggered::default_launch(4));
    CHECK(cache.size() == 0);
    tuning = wilson::tuning_for(wilson_problem, true, &cache);
    CHECK(staggered::tile_for(staggered_problem, false, &cache) == Coord{});
    tile = staggered::tile_for(staggered_problem, true, &cache);
    launch = staggered::launch_for(staggered_problem, tile, true, &cache);
    CHECK(cache.size() == 3);
  }
  runtime::TuneCache cache((folder / "tune.json").string());
  CHECK(wilson::tuning_for(wilson_problem, true, &cache) == tuning);
  CHECK(staggered::tile_for(staggered_problem, true, &cache) == tile);
  CHECK(staggered::launch_for(staggered_problem, tile, true, &cache) == launch);
  CHECK(cache.size() == 3);
  for (const Coord& found : {tuning.tile, tile})
    CHECK(std::count(std::begin(tuning::tried_tiles), std::end(tuning::tried_tiles), found) == 1);
  CHECK(launch.vectors_a_thread == 0);
  std::filesystem::remove_all(folder);
}

TEST_CASE("CPUs measure on a part that is small enough, with the same owners") {
  const runtime::Decomposition part = tuning::measured_part(runtime::Decomposition({32, 32, 32, 64}, {1, 1, 1, 2}, 2), 1 << 19, 1);
  CHECK(part.lattice() == Coord{32, 32, 32, 16});
  REQUIRE(part.count() == 2);
  CHECK(part.block(0).owner == 0);
  CHECK(part.block(1).owner == 1);
  // Halves would be no multiples of four.
  CHECK(tuning::measured_part(runtime::Decomposition({24, 24, 24, 20}, {1, 1, 1, 1}, 1), 1000, 1).lattice() == Coord{12, 12, 12, 20});
  CHECK(tuning::measured_part(runtime::Decomposition({8, 8, 8, 8}, {1, 1, 1, 1}, 1), 1 << 19, 1).lattice() == Coord{8, 8, 8, 8});
}

TEST_CASE("what CPUs measure is beyond the caches of each owner, in any format") {
  for (const int owners : {1, 2})
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      const wilson::TuningProblem whole{runtime::Decomposition({64, 64, 64, 64}, {1, 1, 1, owners}, owners), precision, 12};
      wilson::TuningProblem part = whole;
      part.decomposition = tuning::measured_part(
          whole.decomposition, tuning::sites_beyond(tuning::usual_cached_bytes, wilson::measurement_bytes(whole), whole.decomposition), 1);
      INFO(name_of(precision) << " owners " << owners);
      for (const auto& [worker, bytes] : wilson::measurement_bytes(part)) {
        CHECK(bytes > tuning::usual_cached_bytes);
        CHECK(bytes <= 2 * tuning::usual_cached_bytes);
      }
    }
}

TEST_CASE("CPUs measure the kernel that they will run: the part has the lanes of the whole") {
  for (const Coord& lattice : {Coord{48, 48, 48, 8}, Coord{32, 32, 32, 64}, Coord{24, 24, 24, 16}})
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}})
      for (const int reach : {1, 3})
        for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
          const runtime::Decomposition whole(lattice, blocks, 1);
          INFO(name_of(precision) << " reach " << reach << " t " << lattice[3] << " blocks " << blocks[3]);
          CHECK(choose_lane_grid(tuning::measured_part(whole, 1 << 17, reach), precision, 16, reach).lanes ==
                choose_lane_grid(whole, precision, 16, reach).lanes);
        }
  for (const Coord& domain : {Coord{4, 4, 4, 4}, Coord{6, 4, 2, 8}}) {  // of Schwarz domains halves of a block hold whole ones
    const runtime::Decomposition whole({48, 32, 32, 32}, {1, 1, 1, 1}, 1), part = tuning::measured_part(whole, 1 << 12, 1, domain);
    CHECK(volume(part.lattice()) < volume(whole.lattice()));
    CHECK(choose_lane_grid(part, Precision::single, 16, 1, domain) == choose_lane_grid(whole, Precision::single, 16, 1, domain));
  }
}

TEST_CASE("ranks share the settings of their own kind of GPU or CPU, and one order of sites") {
  struct Expected {
    int rank, for_all, for_kind;
  };
  const auto check = [](const std::vector<std::string>& kinds, const std::vector<Expected>& all) {
    for (const Expected& expected : all) {
      const tuning::Deciders deciders = tuning::deciders_among(kinds, expected.rank);
      INFO("rank " << expected.rank << " of " << kinds.size());
      CHECK(deciders.for_all == expected.for_all);
      CHECK(deciders.for_kind == expected.for_kind);
      CHECK(deciders.is_one(expected.rank) == (expected.rank == expected.for_all || expected.rank == expected.for_kind));
    }
  };
  check({"CPU Xeon, avx512", "CPU EPYC, avx2", "CPU Xeon, avx512", "CPU EPYC, avx2"}, {{0, 0, 0}, {1, 0, 1}, {2, 0, 0}, {3, 0, 1}});
  check({"CPU Xeon, avx512", "GPU V100", "GPU H200", "GPU V100", "CPU Xeon, avx512"},
        {{0, 1, 0}, {1, 1, 1}, {2, 1, 2}, {3, 1, 1}, {4, 1, 0}});
}

TEST_CASE("numbers that no kernel could run with are no tuning") {
  CHECK(wilson::tuning_from({0, 0, 8, 8, 128, 1, 0}) == wilson::HoppingTuning{{0, 0, 8, 8}, 128});
  CHECK(wilson::tuning_from({0, 0, 0, 0, 0, 0, 1}) == wilson::HoppingTuning{{}, 0, {0, arch::Stores::streaming}});
  const wilson::HoppingTuning some{{0, 0, 8, 8}, 64, {1, arch::Stores::streaming}};
  CHECK(wilson::tuning_from(wilson::numbers_of(some)) == some);
  for (const std::vector<int>& damaged : {std::vector<int>{},
                                          {0, 0, 8, 8},
                                          {0, 0, 8, 8, 128},
                                          {0, 0, 8, 8, 128, 1},
                                          {0, 0, -1, 8, 128, 1, 0},
                                          {0, 0, 8, 8, -32, 1, 0},
                                          {0, 0, 8, 8, 16, 1, 0},
                                          {0, 0, 8, 8, 100, 1, 0},
                                          {0, 0, 8, 8, 288, 1, 0},
                                          {0, 0, 8, 8, 512, 1, 0},
                                          {0, 0, 0, 0, 0, 2, 0},
                                          {0, 0, 0, 0, 0, 1, -1}})
    CHECK_FALSE(wilson::tuning_from(damaged).has_value());
}

TEST_CASE("staggered: the order of sites in memory changes no bit") {
  const Coord lattice{8, 8, 16, 12};
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::random_links(lattice, seed, -1 / 24.), -1 / 24.);
  const std::vector<HostColour> chi = battery::random_vectors(lattice, 3, seed + 5);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    const std::vector<HostColour> plain = battery::DslashHarness({lattice, {1, 1, 1, 1}, precision, 13}, links).apply(chi);
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 1}, Coord{2, 1, 1, 3}})
      for (const Coord& tile : {Coord{0, 0, 8, 8}, Coord{0, 0, 4, 4}, Coord{0, 6, 6, 6}, Coord{0, 0, 0, 4}, Coord{2, 2, 2, 3}}) {
        battery::DslashCase c{lattice, blocks, precision, 13};
        c.tile = tile;
        INFO(c.text());
        const std::vector<HostColour> tiled = battery::DslashHarness(c, links).apply(chi);
        for (std::size_t v = 0; v < chi.size(); ++v) CHECK(battery::same_bits(tiled[v], plain[v]));
      }
  }
}

TEST_CASE("staggered: measurements return their candidates, take the memory that is announced, and free it") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const int long_reals : {18, 13, 0})
    for (const int vectors : {1, 3, 8}) {
      const staggered::TuningProblem problem{.decomposition = runtime::Decomposition({16, 8, 8, 16}, {1, 1, 1, 1}, 1),
                                             .precision = Precision::single,
                                             .long_reals = long_reals,
                                             .vectors = vectors,
                                             .vectors_in_lanes = vectors == 8 && long_reals != 13 ? 8 : 1};
      INFO("long links " << long_reals << " vectors " << vectors);
      check_announced(problem, [&] {
        double microseconds = 0;
        const Coord tile = staggered::measure_tile(problem, microseconds);
        CHECK(microseconds > 0);
        CHECK(std::find(std::begin(tuning::tried_tiles), std::end(tuning::tried_tiles), tile) != std::end(tuning::tried_tiles));
      });
    }
}

TEST_CASE("staggered: what a choice depends on is in its key") {
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole({8, 8, 8, 16}, {1, 1, 1, 1}, 1);
  const staggered::TuningProblem problem{whole, Precision::single, 13, 4};
  const std::string order = staggered::tile_key(problem, "device"), launch = staggered::launch_key(problem, {}, "device");
  CHECK(order != launch);
  CHECK(order.find("4 right-hand sides") != std::string::npos);
  const auto differs = [&](const staggered::TuningProblem& other) {
    CHECK(staggered::tile_key(other, "device") != order);
    CHECK(staggered::launch_key(other, {}, "device") != launch);
  };
  differs({whole, Precision::half, 13, 4});
  differs({whole, Precision::single, 0, 4});
  differs({whole, Precision::single, 13, 5});
  differs({.decomposition = whole, .precision = Precision::single, .long_reals = 13, .vectors = 4, .vectors_in_lanes = 8});
  differs({runtime::Decomposition({8, 8, 8, 16}, {1, 1, 1, 2}, 2), Precision::single, 13, 4});
  CHECK(staggered::tile_key(problem, "another") != order);
  CHECK(staggered::launch_key(problem, {0, 0, 8, 8}, "device") != launch);
}

TEST_CASE("staggered: by rule several right-hand sides ask a hop ahead, one leaves it to the processor") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole({8, 8, 8, 8}, {1, 1, 1, 1}, 1);
  for (const int vectors : {1, 2, 16, 32}) {
    const staggered::Launch rule = staggered::launch_for({whole, Precision::single, 13, vectors}, {}, false);
    CHECK(rule == staggered::Launch{0, 0, {vectors > 1 ? 1 : 0, arch::Stores::plain}});
  }
  const staggered::TuningProblem in_lanes{
      .decomposition = whole, .precision = Precision::single, .long_reals = 18, .vectors = 8, .vectors_in_lanes = 8};
  CHECK(staggered::launch_for(in_lanes, {}, false) == staggered::Launch{0, 0, {1, arch::Stores::plain}});
}

TEST_CASE("staggered: CPUs measure nothing for fields that their caches hold; settings of a benchmark change no bit of a solve") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const std::string path = (std::filesystem::temp_directory_path() / "quarkstar-no-such-tune.json").string();
  runtime::TuneCache cache(path);
  const Coord lattice{8, 8, 8, 8};
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  for (const bool measure : {false, true}) {
    const staggered::TuningProblem problem{whole, Precision::single, 18, 4, 0, 1e9};
    CHECK(staggered::tile_for(problem, measure, &cache) == Coord{});
    CHECK(staggered::launch_for(problem, {}, measure, &cache) == staggered::default_launch(4));
  }
  CHECK(cache.size() == 0);
  CHECK_FALSE(std::filesystem::exists(path));

  const smear::StaggeredLinks links = battery::with_phases({reference::near_unit_gauge(lattice, seed, 0.3), {}}, 0);
  const std::vector<HostColour> sources = battery::random_vectors(lattice, 2, seed + 6);
  const std::vector<double> masses{0.4, 0.4};
  SolverSettings settings;
  settings.solver = "cg";
  settings.precision = Precision::single;
  settings.keep_history = true;
  StaggeredSolver plain(whole, links, settings),
      tiled(whole, links, settings, {.vectors = 2, .tile = Coord{0, 0, 4, 4}, .launch = staggered::Launch{64, 1}});
  std::vector<HostColour> a(2, HostColour(lattice)), b = a;
  const auto first = plain.solve(sources, masses, a), second = tiled.solve(sources, masses, b);
  for (std::size_t v = 0; v < 2; ++v) {
    CHECK(first[v].residual_history == second[v].residual_history);
    CHECK(battery::same_bits(a[v], b[v]));
  }
}

TEST_CASE("staggered: numbers that no kernel could run with are no tuning") {
  CHECK(staggered::tile_from({0, 0, 8, 8}) == Coord{0, 0, 8, 8});
  for (const std::vector<int>& damaged : {std::vector<int>{}, {0, 0, 8}, {0, 0, 8, 8, 0}, {0, -1, 8, 8}})
    CHECK_FALSE(staggered::tile_from(damaged).has_value());
  CHECK(staggered::launch_from({128, 4, 1, 0}) == staggered::Launch{128, 4, {1, arch::Stores::plain}});
  CHECK(staggered::launch_from({0, 0, 0, 0}) == staggered::Launch{});
  const staggered::Launch on_cpu{0, 0, {1, arch::Stores::streaming}};
  CHECK(staggered::launch_from(staggered::numbers_of(on_cpu)) == on_cpu);
  for (const std::vector<int>& damaged : {std::vector<int>{},
                                          {128},
                                          {128, 4},
                                          {128, 4, 0},
                                          {100, 4, 0, 0},
                                          {-32, 4, 0, 0},
                                          {288, 4, 0, 0},
                                          {128, 5, 0, 0},
                                          {128, 16, 0, 0},
                                          {128, -1, 0, 0},
                                          {0, 0, 1, 2},
                                          {0, 0, -1, 0}})
    CHECK_FALSE(staggered::launch_from(damaged).has_value());
}
