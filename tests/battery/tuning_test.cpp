// Settings that are tuned change no bit, and are what rule, measurement and cache say.
#include <filesystem>

#include "codelets/wilson/tuning.hpp"
#include "runtime/memory.hpp"
#include "tests/battery/support.hpp"

using namespace quarkstar;
using battery::HoppingCase;

namespace {
constexpr std::uint64_t seed = 8128;
}

TEST_CASE("the order of sites in memory changes no bit") {
  const Coord lattice{8, 8, 16, 12};
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostSpinor psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    const HostSpinor plain = battery::HoppingHarness({lattice, {1, 1, 1, 1}, precision, 12}, gauge, antiperiodic_in_time).apply(psi);
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 1}, Coord{2, 1, 1, 3}})
      for (const Coord& tile : {Coord{0, 0, 8, 8}, Coord{0, 0, 4, 4}, Coord{0, 0, 0, 4}, Coord{2, 2, 2, 3}, Coord{4, 1, 5, 100}}) {
        HoppingCase c{lattice, blocks, precision, 12};
        c.tile = tile;
        INFO(c.text());
        CHECK(battery::same_bits(battery::HoppingHarness(c, gauge, antiperiodic_in_time).apply(psi), plain));
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
      CHECK((tuning.tile == Coord{} || tuning.tile == Coord{0, 0, 8, 8} || tuning.tile == Coord{0, 0, 4, 4} || tuning.tile == Coord{0, 0, 0, 4}));
    }
}

TEST_CASE("a measurement takes the memory that is announced, and frees it") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int reals : {18, 8}) {
      wilson::TuningProblem problem{runtime::Decomposition({16, 8, 8, 16}, {1, 1, 1, 1}, 1), precision, reals};
      INFO(name_of(precision) << " links " << reals);
      const std::size_t before = runtime::host_memory_use().now;
      runtime::restart_peak();
      double microseconds = 0;
      wilson::measure_tuning(problem, microseconds);
      const auto taken = static_cast<double>(runtime::host_memory_use().peak - before);
      CHECK(runtime::host_memory_use().now == before);
      const double announced = wilson::measurement_bytes(problem).at(0);
      CHECK(announced <= taken);
      CHECK(announced > 0.9 * taken);
      problem.resident = 1152;
      CHECK(wilson::measurement_bytes(problem).at(0) == announced + 1152 * 16 * 8 * 8 * 16);
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

TEST_CASE("CPUs measure nothing and keep nothing") {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const std::string path = (std::filesystem::temp_directory_path() / "quarkstar-no-such-tune.json").string();
  runtime::TuneCache cache(path);
  for (const bool measure : {false, true}) {
    const wilson::HoppingTuning tuning =
        wilson::tuning_for({runtime::Decomposition({64, 64, 64, 8}, {1, 1, 1, 1}, 1), Precision::single, 12}, measure, &cache);
    CHECK(tuning == wilson::HoppingTuning{});
  }
  CHECK(cache.size() == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("numbers that no kernel could run with are no tuning") {
  CHECK(wilson::tuning_from({0, 0, 8, 8, 128}) == wilson::HoppingTuning{{0, 0, 8, 8}, 128});
  CHECK(wilson::tuning_from({0, 0, 0, 0, 0}) == wilson::HoppingTuning{});
  for (const std::vector<int>& damaged : {std::vector<int>{}, {0, 0, 8, 8}, {0, 0, 8, 8, 128, 1}, {0, 0, -1, 8, 128}, {0, 0, 8, 8, -32},
                                          {0, 0, 8, 8, 16}, {0, 0, 8, 8, 100}, {0, 0, 8, 8, 288}, {0, 0, 8, 8, 512}})
    CHECK_FALSE(wilson::tuning_from(damaged).has_value());
}
