// The choice of CPU kernels, of their layout and of threads: what is measured, kept and used. That none changes a bit, the tests of
// residual histories show for every architecture and layout, those of Dslash for numbers of threads.
#include "codelets/actions/session_tuning.hpp"
#include "codelets/arch/lane_bytes.hpp"
#include "codelets/arch/preference.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace cpu_kernels_test {

using namespace quarkstar;

namespace {

const runtime::SessionOptions on_cpus{.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0};

/// A tune cache in a file of its own.
struct OwnCache {
  std::string path = (std::filesystem::temp_directory_path() / ("quarkstar-cpu-kernels-" + std::to_string(getpid()) + ".json")).string();
  runtime::TuneCache cache{path};
  ~OwnCache() {
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".lock");
    arch::prefer(std::nullopt);
  }
};

/// Of three architectures with 64 and 32 bytes, two operators.
std::vector<KernelTimes> times_of(double a64, double a32, double b64, double b32) {
  return {{0, 64, {a64, 2 * a64}}, {0, 32, {a32, 2 * a32}}, {1, 64, {b64, 2 * b64}}, {1, 32, {b32, 2 * b32}}};
}

}  // namespace

TEST_CASE("kernels: the fastest wins where it is worth it, for each layout, in the geometric mean of the operators") {
  constexpr std::size_t rule = 2;  // the second architecture with 64 bytes
  CHECK(ranking_of(times_of(100, 50, 100, 80), rule) == KernelRanking{32, 1, 0, 2000});
  CHECK(ranking_of(times_of(98, 98, 100, 99), rule) == KernelRanking{64, 1, 0, 1000});  // less than 3 % is noise
  CHECK(ranking_of(times_of(80, 110, 100, 99), rule) == KernelRanking{64, 0, 1, 1250});
  // Twice as fast for one operator and 2.5 times as slow for the other is not faster.
  CHECK(ranking_of({{0, 64, {50, 250}}, {0, 32, {50, 250}}, {1, 64, {100, 100}}, {1, 32, {101, 101}}}, rule) ==
        KernelRanking{64, 1, 1, 1000});
}

TEST_CASE("kernels: numbers that name no kernels are no choice") {
  CHECK(ranking_from({32, 1, 0, 1310}, 2) == KernelRanking{32, 1, 0, 1310});
  CHECK(ranking_from({32, 1, 0, 1310}, 2)->architecture() == 0);
  CHECK(ranking_from({64, 1, 0, 1310}, 2)->architecture() == 1);
  for (const std::vector<int>& damaged :
       {std::vector<int>{}, {32, 1, 0}, {16, 1, 0, 1310}, {32, 2, 0, 1310}, {32, 1, -1, 1310}, {32, 1, 0, 0}})
    CHECK_FALSE(ranking_from(damaged, 2).has_value());
}

TEST_CASE("kernels: sessions run what the tune cache says; rules and $QUARKSTAR_ARCH do without it") {
  OwnCache own;
  const arch::Architecture asked = arch::current();
  const int usual_bytes = arch::lane_bytes();
  if (arch::is_asked_for()) {
    const CpuKernels chosen = choose_cpu_kernels(on_cpus, KernelTuning::measure, &own.cache);
    CHECK(chosen.architecture == asked);
    CHECK(chosen.lane_bytes == usual_bytes);
    CHECK(chosen.reason == "QUARKSTAR_ARCH asks for it");
    CHECK(own.cache.size() == 0);
    return;
  }
  const std::string key = cpu_kernels_key(on_cpus);
  for (const int lane_bytes : {64, 32}) {
    own.cache.put(key, {{lane_bytes, 0, 0, 1310}, 1});
    for (const KernelTuning tuning : {KernelTuning::known, KernelTuning::measure}) {
      const CpuKernels chosen = choose_cpu_kernels(on_cpus, tuning, &own.cache);
      CHECK(chosen.lane_bytes == lane_bytes);
      CHECK(chosen.architecture == arch::current());
      CHECK(chosen.reason.starts_with("measured: 1.31 times as fast as "));
      const auto& all = arch::available();
      CHECK(chosen.architecture == all[all.size() > 1 && all.front() == arch::Architecture::scalar ? 1 : 0]);
      runtime::SessionOptions options = on_cpus;
      options.lane_bytes = chosen.lane_bytes;
      CHECK(runtime::Session(options).lane_bytes() == lane_bytes);
    }
    const CpuKernels by_rule = choose_cpu_kernels(on_cpus, KernelTuning::rule, &own.cache);
    CHECK(by_rule.architecture == arch::available().back());
    CHECK(arch::current() == arch::available().back());
    CHECK(by_rule.lane_bytes == usual_bytes);
  }
  CHECK(cpu_kernels_key({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0}) != key);
  CHECK(cpu_kernels_key({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0}) != key);
}

TEST_CASE("kernels: what is not known is measured once, and kept") {
  if (arch::is_asked_for()) return;
  OwnCache own;
  CHECK(choose_cpu_kernels(on_cpus, KernelTuning::known, &own.cache).architecture == arch::available().back());
  CHECK(own.cache.size() == 0);
  const CpuKernels measured = choose_cpu_kernels(on_cpus, KernelTuning::measure, &own.cache);
  CHECK(own.cache.size() == 1);
  CHECK(own.cache.find(cpu_kernels_key(on_cpus))->microseconds > 0);
  const CpuKernels again = choose_cpu_kernels(on_cpus, KernelTuning::measure, &own.cache);
  CHECK(again.architecture == measured.architecture);
  CHECK(again.lane_bytes == measured.lane_bytes);
  CHECK(again.reason == measured.reason);
  CHECK(own.cache.size() == 1);
}

TEST_CASE("threads: a measured block has the next lower power of two of sites, none of its lengths more than twice another") {
  CHECK(measured_block(1) == Coord{4, 4, 4, 4});
  CHECK(measured_block(4096) == Coord{8, 8, 8, 8});
  for (std::int64_t sites = 256; sites < 70000; sites = sites * 3 / 2) {
    const Coord block = measured_block(sites);
    CHECK(volume(block) <= sites);
    CHECK(2 * volume(block) > sites);
    CHECK(*std::max_element(block.begin(), block.end()) <= 2 * *std::min_element(block.begin(), block.end()));
  }
}

TEST_CASE("threads: what the user says, all of them for many sites, else what the tune cache says or a measurement finds") {
  OwnCache own;
  const runtime::SessionOptions one_worker{.cpu_workers = 1, .cuda_workers = 0};
  const RunSize small{{8, 8, 8, 12}, 12, 1};
  runtime::SessionOptions asked = one_worker;
  asked.threads_per_worker = 3;
  CHECK(choose_threads(asked, small, &own.cache) == 3);
  CHECK(choose_threads({.mode = runtime::WorkerMode::per_core, .cuda_workers = 0}, small, &own.cache) == 0);
  const int cores = runtime::Topology::discover().cores();
  const int times = 2 * usual_sites_a_thread * cores / 4096;
  CHECK(choose_threads(one_worker, {{16, 16, 16, times}, 12, 1}, &own.cache) == 0);
  CHECK(own.cache.size() == 0);
  if (cores < 2) return;
  const std::string key = threads_key(one_worker, 4096, small);
  own.cache.put(key, {{1}, 40});
  CHECK(choose_threads(one_worker, small, &own.cache) == 1);
  own.cache.put(key, {{cores}, 40});
  CHECK(choose_threads(one_worker, small, &own.cache) == 0);  // a core each
  own.cache.put(key, {{cores + 1}, 40});                      // of another machine, or damaged
  const int measured = choose_threads(one_worker, small, &own.cache);
  CHECK(measured >= 0);
  CHECK(measured < cores);
  const auto kept = own.cache.find(key);
  CHECK(kept->choice == std::vector<int>{measured > 0 ? measured : cores});
  CHECK(kept->microseconds > 0);
  CHECK(threads_key(one_worker, 2048, small) != key);
  CHECK(threads_key(one_worker, 4096, {small.lattice, 12, 8}) != key);
  CHECK(threads_key(one_worker, 4096, {small.lattice, 3, 1}) != key);
  CHECK(threads_key({.cpu_workers = 2, .cuda_workers = 0}, 4096, small) != key);
}

}  // namespace cpu_kernels_test
