// What `bench` says about a kernel: its roofline, and counters that are numbers, or null with a reason.
#include "apps/bench/bench_explain.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace app_bench_test {

using namespace quarkstar;
using namespace quarkstar::app;

TEST_CASE("the roofline of a triad is the triad, that of reading is reading") {
  const double triad = 24, read = 30;
  const Roofline of_triad = roofline_of({2, 24, 24, 8, 1e9}, triad, read, 0);
  CHECK(of_triad.memory_gflops == doctest::Approx(2 * triad / 24));
  CHECK(of_triad.gflops() == of_triad.memory_gflops);
  const Roofline of_read = roofline_of({1, 8, 8, 0, 1e9}, triad, read, 0);
  CHECK(of_read.memory_gflops == doctest::Approx(read / 8));
  CHECK(16 / read + 8 / of_read.write == doctest::Approx(24 / triad));
}

TEST_CASE("a roofline counts what the core loads and stores, not what is compulsory") {
  const double triad = 24, read = 30;
  CHECK(roofline_of({1320, 576, 1248, 96, 1e9}, triad, read, 0).memory_gflops ==
        doctest::Approx(1320 / (1152 / read + 96 * (3 / triad - 2 / read))));
}

TEST_CASE("arithmetic caps a roofline, and writes cost nothing where the triad is as fast as its reads") {
  CHECK(roofline_of({1000, 8, 8, 0, 1e9}, 24, 30, 100).gflops() == 100);
  const Roofline roofline = roofline_of({1, 16, 16, 8, 1e9}, 50, 30, 0);
  CHECK(std::isinf(roofline.write));
  CHECK(roofline.memory_gflops == doctest::Approx(30. / 8));
}

TEST_CASE("a kernel without arithmetic has a roofline of bytes") {
  DslashTiming timing;
  timing.best_gbs = 12;
  timing.kernel = {0, 96, 96, 96, 2e8};
  for (runtime::CounterReading* none : {&timing.counts_a_site.instructions, &timing.counts_a_site.cycles,
                                        &timing.counts_a_site.cache_misses, &timing.counts_a_site.memory_bytes})
    none->unavailable = "hidden";
  timing.pages.unavailable = "not read";
  const Roofline roofline = roofline_of(timing.kernel, 24, 30, 300);
  CHECK(roofline.memory_gbs == doctest::Approx(1 / (3. / 24 - 2. / 30)));
  CHECK(roofline.gflops() == 0);
  CHECK(roofline.fraction(timing) == doctest::Approx(12 / roofline.memory_gbs));
  const std::string text = explain(timing, &roofline);
  CHECK(text.find("70 % of the cache-aware roofline of 17.1 GB/s") != std::string::npos);
  for (const char* absent : {"nan", "arithmetic peak"}) CHECK(text.find(absent) == std::string::npos);
  nlohmann::ordered_json row;
  explain(row, timing, &roofline);
  CHECK(row["cache_aware"]["fraction"].get<double>() == doctest::Approx(12 / roofline.memory_gbs));
}

TEST_CASE("counters are numbers, or null with a reason") {
  DslashTiming timing;
  timing.best_gflops = 50;
  timing.kernel = {1320, 576, 1248, 96, 2e8};
  timing.counts_a_site.instructions = {81.5, 1, 1, {}};
  for (runtime::CounterReading* none :
       {&timing.counts_a_site.cycles, &timing.counts_a_site.cache_misses, &timing.counts_a_site.memory_bytes})
    none->unavailable = "hidden";
  timing.pages.unavailable = "not read";
  const Roofline roofline = roofline_of(timing.kernel, 24, 30, 300);
  const std::string text = explain(timing, &roofline);
  CHECK(text.find("1320 flop and 576 B per site (96 written; 1248 of the core), fields 200.0 MB") == 0);
  CHECK(text.find("81.5 instructions per site") != std::string::npos);
  CHECK(text.find("% of the arithmetic peak of 300.0") != std::string::npos);
  for (const char* absent : {"cycles", "LLC", "huge"}) CHECK(text.find(absent) == std::string::npos);
  nlohmann::ordered_json row;
  explain(row, timing, &roofline);
  CHECK(row["instructions_per_site"] == 81.5);
  for (const char* key : {"cycles_per_site", "llc_misses_per_site", "memory_bytes_per_site", "huge_page_fraction"})
    CHECK(row[key].is_null());
  CHECK(row["cache_aware"]["fraction"].get<double>() == doctest::Approx(50 / roofline.gflops()));
  explain(row, timing, nullptr);
  CHECK(row["cache_aware"].is_null());
  CHECK(describe_counters(timing.counts_a_site) ==
        "instructions; unavailable: cycles (hidden), LLC misses (hidden), memory bytes (hidden)");
  CHECK(counters_json(timing.counts_a_site)["cycles"] == "unavailable: hidden");
  CHECK(counters_json(timing.counts_a_site)["instructions"].is_null());
}

}  // namespace app_bench_test
