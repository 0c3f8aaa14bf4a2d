// Settings that are tuned change no bit, and are what rule, measurement and cache say.
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/staggered/prepared_action.hpp"
#include "codelets/actions/wilson/prepared_action.hpp"
#include "codelets/stencil/measurement.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/staggered_support.hpp"
#include "tests/battery/support.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace tuning_test {

using namespace quarkstar;
using battery::HoppingCase;

namespace {
constexpr std::uint64_t seed = 8128;

/// What the rules say for Wilson with any number of right-hand sides, and for staggered with several.
const stencil::Launch by_rule{0, 0, {1, arch::Stores::plain}};

stencil::TuningProblem wilson_problem(const runtime::Decomposition& decomposition, Precision precision, int link_reals,
                                      std::optional<double> cached = {}) {
  return {decomposition, wilson::tuning_subject(precision, link_reals, antiperiodic_in_time), 1, 0, cached};
}

stencil::TuningProblem staggered_problem(const runtime::Decomposition& decomposition, Precision precision, int long_reals, int vectors,
                                         int vectors_in_lanes = 1, std::optional<double> cached = {}) {
  stencil::TuningProblem problem{decomposition, staggered::tuning_subject(precision, long_reals), vectors, 0, cached};
  problem.subject.layout.vectors_in_lanes = vectors_in_lanes;
  return problem;
}

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
  const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    const HostField plain = battery::HoppingHarness({lattice, {1, 1, 1, 1}, precision, 12}, gauge, antiperiodic_in_time).apply(psi);
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
  const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  const smear::StaggeredLinks links = battery::with_phases(battery::random_links(lattice, seed, -1 / 24.), -1 / 24.);
  const std::vector<HostField> chi = battery::random_vectors(lattice, 5, seed + 5);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    const HostField plain = battery::HoppingHarness({lattice, {1, 1, 1, 1}, precision, 12}, gauge, antiperiodic_in_time).apply(psi);
    const std::vector<HostField> colours = battery::DslashHarness({lattice, {1, 1, 1, 1}, precision, 13}, links).apply(chi);
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{2, 1, 1, 3}})
      for (const arch::MemoryAccess& memory : arch::memory_accesses) {
        HoppingCase c{lattice, blocks, precision, 12};
        c.memory = memory;
        INFO(c.text() << " prefetch " << memory.prefetch << " stores " << std::string(arch::name_of(memory.stores)));
        CHECK(battery::same_bits(battery::HoppingHarness(c, gauge, antiperiodic_in_time).apply(psi), plain));
        battery::DslashCase staggered{lattice, blocks, precision, 13};
        staggered.launch = {0, 0, memory};
        const std::vector<HostField> moved = battery::DslashHarness(staggered, links).apply(chi);
        for (std::size_t v = 0; v < chi.size(); ++v) CHECK(battery::same_bits(moved[v], colours[v]));
      }
  }
}

TEST_CASE("measurements return their candidates, take the memory that is announced, and free it") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const auto check = [](const std::string& name, const stencil::TuningProblem& problem) {
    INFO(name);
    check_announced(problem, [&] {
      double microseconds = 0;
      const Coord tile = stencil::measure_tile(problem, microseconds);
      CHECK(microseconds > 0);
      CHECK(std::count(std::begin(tuning::tried_tiles), std::end(tuning::tried_tiles), tile) == 1);
    });
  };
  const runtime::Decomposition whole({16, 8, 8, 16}, {1, 1, 1, 1}, 1);
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int reals : {18, 8})
      check(std::string(name_of(precision)) + " links " + std::to_string(reals), wilson_problem(whole, precision, reals));
  for (const int long_reals : {18, 13, 0})
    for (const int vectors : {1, 3, 8})
      check("long links " + std::to_string(long_reals) + " vectors " + std::to_string(vectors),
            staggered_problem(whole, Precision::single, long_reals, vectors, vectors == 8 && long_reals != 13 ? 8 : 1));
  const auto measure_launch = [](const stencil::TuningProblem& problem) {
    double microseconds = 0;
    const stencil::Launch launch = stencil::measure_launch(problem, {}, microseconds);
    CHECK(microseconds > 0);
    CHECK(launch.block_threads == 0);
    CHECK(launch.vectors_a_thread == 0);
    CHECK(std::count(std::begin(arch::memory_accesses), std::end(arch::memory_accesses), launch.memory) == 1);
  };
  for (const stencil::TuningProblem& problem :
       {wilson_problem(whole, Precision::single, 12), staggered_problem(whole, Precision::single, 13, 3)}) {
    INFO("launch, " << problem.subject.name);
    check_announced(problem, [&] { measure_launch(problem); });
  }
  measure_launch(wilson_problem(runtime::Decomposition({8, 8, 8, 8}, {1, 1, 1, 2}, 1), Precision::single, 12));
}

TEST_CASE("memory of a measurement is counted for each owner") {
  const runtime::Decomposition cut({8, 8, 8, 16}, std::array<std::vector<int>, 4>{{{8}, {8}, {8}, {4, 4, 8}}}, {0, 1, 1});
  const std::map<int, double> bytes = stencil::measurement_bytes(wilson_problem(cut, Precision::single, 12));
  REQUIRE(bytes.size() == 2);
  CHECK(bytes.at(0) == 512 * 4 * (8 * 12 * 4 + 2 * 24 * 4));
  CHECK(bytes.at(1) == 3 * bytes.at(0));
}

TEST_CASE("CPU workers divide the caches that the machine shows") {
  for (const int workers : {1, 2}) {
    const runtime::Session session({.cpu_workers = workers, .threads_per_worker = 1, .cuda_workers = 0});
    const double known = session.topology().cache_bytes();
    CHECK(tuning::cached_bytes() == (known > 0 ? known / workers : tuning::usual_cached_bytes));
  }
}

TEST_CASE("what CPUs measure for larger fields is kept, and answers the next time") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("quarkstar-cpu-tune-" + std::to_string(::getpid()));
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition small({8, 8, 8, 8}, {1, 1, 1, 1}, 1);
  constexpr double little_cache = 1e6;  // less than the fields
  for (const stencil::TuningProblem& problem :
       {wilson_problem(small, Precision::single, 12, little_cache), staggered_problem(small, Precision::single, 13, 4, 1, little_cache)}) {
    INFO(problem.subject.name);
    stencil::Launch launch;
    Coord tile{};
    {
      runtime::TuneCache cache((folder / "tune.json").string());
      CHECK(stencil::tile_for(problem, false, &cache) == Coord{});
      CHECK(stencil::launch_for(problem, {}, false, &cache) == by_rule);
      CHECK(cache.size() == 0);
      tile = stencil::tile_for(problem, true, &cache);
      launch = stencil::launch_for(problem, tile, true, &cache);
      CHECK(cache.size() == 2);
    }
    runtime::TuneCache cache((folder / "tune.json").string());
    CHECK(stencil::tile_for(problem, true, &cache) == tile);
    CHECK(stencil::launch_for(problem, tile, true, &cache) == launch);
    CHECK(cache.size() == 2);
    CHECK(std::count(std::begin(tuning::tried_tiles), std::end(tuning::tried_tiles), tile) == 1);
    CHECK(launch.vectors_a_thread == 0);
    std::filesystem::remove_all(folder);
  }
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
      const stencil::TuningProblem whole =
          wilson_problem(runtime::Decomposition({64, 64, 64, 64}, {1, 1, 1, owners}, owners), precision, 12);
      stencil::TuningProblem part = whole;
      part.decomposition = tuning::measured_part(
          whole.decomposition, tuning::sites_beyond(tuning::usual_cached_bytes, stencil::measurement_bytes(whole), whole.decomposition), 1);
      INFO(name_of(precision) << " owners " << owners);
      for (const auto& [worker, bytes] : stencil::measurement_bytes(part)) {
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
          const LayoutRequest layout{.most_lanes = 16, .reach = reach};
          INFO(name_of(precision) << " reach " << reach << " t " << lattice[3] << " blocks " << blocks[3]);
          CHECK(choose_lane_grid(tuning::measured_part(whole, 1 << 17, reach), precision, layout).lanes ==
                choose_lane_grid(whole, precision, layout).lanes);
        }
  for (const Coord& domain : {Coord{4, 4, 4, 4}, Coord{6, 4, 2, 8}}) {  // of Schwarz domains halves of a block hold whole ones
    const runtime::Decomposition whole({48, 32, 32, 32}, {1, 1, 1, 1}, 1), part = tuning::measured_part(whole, 1 << 12, 1, domain);
    CHECK(volume(part.lattice()) < volume(whole.lattice()));
    CHECK(choose_lane_grid(part, Precision::single, {.unit = domain}) == choose_lane_grid(whole, Precision::single, {.unit = domain}));
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

TEST_CASE("staggered: the order of sites in memory changes no bit") {
  const Coord lattice{8, 8, 16, 12};
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::random_links(lattice, seed, -1 / 24.), -1 / 24.);
  const std::vector<HostField> chi = battery::random_vectors(lattice, 3, seed + 5);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    const std::vector<HostField> plain = battery::DslashHarness({lattice, {1, 1, 1, 1}, precision, 13}, links).apply(chi);
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 1}, Coord{2, 1, 1, 3}})
      for (const Coord& tile : {Coord{0, 0, 8, 8}, Coord{0, 0, 4, 4}, Coord{0, 6, 6, 6}, Coord{0, 0, 0, 4}, Coord{2, 2, 2, 3}}) {
        battery::DslashCase c{lattice, blocks, precision, 13};
        c.tile = tile;
        INFO(c.text());
        const std::vector<HostField> tiled = battery::DslashHarness(c, links).apply(chi);
        for (std::size_t v = 0; v < chi.size(); ++v) CHECK(battery::same_bits(tiled[v], plain[v]));
      }
  }
}

TEST_CASE("what a choice depends on is in its key") {
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole({8, 8, 8, 16}, {1, 1, 1, 1}, 1);
  const stencil::TuningProblem problem = staggered_problem(whole, Precision::single, 13, 4);
  const std::string order = stencil::tile_key(problem, "device"), launch = stencil::launch_key(problem, {}, "device");
  CHECK(order != launch);
  CHECK(order.find("4 right-hand sides") != std::string::npos);
  CHECK(order.find("0 GPU + 1 CPU") != std::string::npos);
  const auto differs = [&](const stencil::TuningProblem& other) {
    CHECK(stencil::tile_key(other, "device") != order);
    CHECK(stencil::launch_key(other, {}, "device") != launch);
  };
  differs(staggered_problem(whole, Precision::half, 13, 4));
  differs(staggered_problem(whole, Precision::single, 0, 4));
  differs(staggered_problem(whole, Precision::single, 13, 5));
  differs(staggered_problem(whole, Precision::single, 13, 4, 8));
  differs(staggered_problem(runtime::Decomposition({8, 8, 8, 16}, {1, 1, 1, 2}, 2), Precision::single, 13, 4));
  differs(wilson_problem(whole, Precision::single, 12));
  // The same blocks in the hands of one worker, and of two.
  const auto in_four = [](int owners) {
    return staggered_problem(runtime::Decomposition({8, 8, 8, 16}, {1, 1, 1, 4}, owners), Precision::single, 13, 4);
  };
  CHECK(stencil::tile_key(in_four(1), "device") != stencil::tile_key(in_four(2), "device"));
  CHECK(stencil::launch_key(in_four(1), {}, "device") != stencil::launch_key(in_four(2), {}, "device"));
  CHECK(stencil::tile_key(problem, "another") != order);
  CHECK(stencil::launch_key(problem, {0, 0, 8, 8}, "device") != launch);
}

TEST_CASE("staggered: by rule several right-hand sides ask a hop ahead, one leaves it to the processor") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition whole({8, 8, 8, 8}, {1, 1, 1, 1}, 1);
  for (const int vectors : {1, 2, 16, 32}) {
    const stencil::Launch rule = stencil::launch_for(staggered_problem(whole, Precision::single, 13, vectors), {}, false);
    CHECK(rule == stencil::Launch{0, 0, {vectors > 1 ? 1 : 0, arch::Stores::plain}});
  }
  CHECK(stencil::launch_for(staggered_problem(whole, Precision::single, 18, 8, 8), {}, false) ==
        stencil::Launch{0, 0, {1, arch::Stores::plain}});
}

TEST_CASE("staggered: CPUs measure nothing for fields that their caches hold; settings of a benchmark change no bit of a solve") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const std::string path = (std::filesystem::temp_directory_path() / "quarkstar-no-such-tune.json").string();
  runtime::TuneCache cache(path);
  const Coord lattice{8, 8, 8, 8};
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  for (const bool measure : {false, true}) {
    for (const stencil::TuningProblem& problem :
         {staggered_problem(whole, Precision::single, 18, 4, 1, 1e9), wilson_problem(whole, Precision::single, 12, 1e9)}) {
      CHECK(stencil::tile_for(problem, measure, &cache) == Coord{});
      CHECK(stencil::launch_for(problem, {}, measure, &cache) == by_rule);
    }
  }
  // What others hold beside links and fields of this action does not make these larger than the caches.
  for (stencil::TuningProblem problem :
       {staggered_problem(whole, Precision::single, 18, 4, 1, 1e9), wilson_problem(whole, Precision::single, 12, 1e9)}) {
    problem.resident = 1e9 / static_cast<double>(volume(lattice));
    REQUIRE(stencil::measurement_bytes(problem).at(0) > 1e9);
    CHECK(stencil::tile_for(problem, true, &cache) == Coord{});
    CHECK(stencil::launch_for(problem, {}, true, &cache) == by_rule);
  }
  CHECK(cache.size() == 0);
  CHECK_FALSE(std::filesystem::exists(path));

  const smear::StaggeredLinks links = battery::with_phases({reference::near_unit_gauge(lattice, seed, 0.3), {}}, 0);
  const std::vector<HostField> sources = battery::random_vectors(lattice, 2, seed + 6);
  const std::vector<double> masses{0.4, 0.4};
  SolverSettings settings;
  settings.solver = "cg";
  settings.precision = Precision::single;
  settings.keep_history = true;
  Solver plain(whole, staggered::Action(links), settings),
      tiled(whole, staggered::Action(links), settings, {.vectors = 2, .tile = Coord{0, 0, 4, 4}, .launch = stencil::Launch{64, 1}});
  std::vector<HostField> a(2, HostField(colour_components, lattice)), b = a;
  const auto first = plain.solve(sources, masses, a), second = tiled.solve(sources, masses, b);
  for (std::size_t v = 0; v < 2; ++v) {
    CHECK(first[v].residual_history == second[v].residual_history);
    CHECK(battery::same_bits(a[v], b[v]));
  }
}

TEST_CASE("numbers that no kernel could run with are no tuning") {
  CHECK(stencil::tile_from({0, 0, 8, 8}) == Coord{0, 0, 8, 8});
  for (const std::vector<int>& damaged : {std::vector<int>{}, {0, 0, 8}, {0, 0, 8, 8, 0}, {0, -1, 8, 8}})
    CHECK_FALSE(stencil::tile_from(damaged).has_value());
  CHECK(stencil::launch_from({128, 4, 1, 0}) == stencil::Launch{128, 4, {1, arch::Stores::plain}});
  CHECK(stencil::launch_from({0, 0, 0, 0}) == stencil::Launch{});
  const stencil::Launch on_cpu{0, 0, {1, arch::Stores::streaming}};
  CHECK(stencil::launch_from(stencil::numbers_of(on_cpu)) == on_cpu);
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
    CHECK_FALSE(stencil::launch_from(damaged).has_value());
}

}  // namespace tuning_test
