// Energy counters against a powercap tree and a management library made for the test.
#include "runtime/observe/energy.hpp"

#include "tests/unit/app_testing.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

namespace energy_test {

using namespace quarkstar;
using namespace quarkstar::runtime;

namespace {

/// A powercap tree with one zone a call.
class Powercap {
 public:
  void zone(const std::string& folder, const std::string& name, std::uint64_t microjoules, std::uint64_t range = 1000000000) {
    std::filesystem::create_directories(folder_.file(folder));
    testing::write_file(folder_.file(folder + "/name"), name + "\n");
    testing::write_file(folder_.file(folder + "/max_energy_range_uj"), std::to_string(range) + "\n");
    set(folder, microjoules);
  }
  void set(const std::string& folder, std::uint64_t microjoules) {
    testing::write_file(folder_.file(folder + "/energy_uj"), std::to_string(microjoules) + "\n");
  }
  void remove(const std::string& path) { std::filesystem::remove(folder_.file(path)); }
  std::string root() const { return folder_.file(""); }

 private:
  testing::TemporaryFolder folder_;
};

/// The fake library, held open so that its state outlives each counter.
class FakeNvml {
 public:
  FakeNvml() : handle_(dlopen(QUARKSTAR_FAKE_NVML, RTLD_NOW)) {
    if (handle_ == nullptr) std::printf("SKIPPED energy of GPUs: no %s\n", QUARKSTAR_FAKE_NVML);  // the tests were moved without it
  }
  ~FakeNvml() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  explicit operator bool() const { return handle_ != nullptr; }
  void set(int init, int energy, unsigned long long millijoules, int power, unsigned milliwatts) {
    reinterpret_cast<void (*)(int, int, unsigned long long, int, unsigned)>(dlsym(handle_, "fake_nvml_set"))(init, energy, millijoules,
                                                                                                             power, milliwatts);
  }
  int running() { return reinterpret_cast<int (*)()>(dlsym(handle_, "fake_nvml_running"))(); }

 private:
  void* handle_;
};

const std::vector<std::string> one_gpu{"0000:01:00.0"};
constexpr int not_supported = 3;

}  // namespace

TEST_CASE("RAPL counts packages and memory, each once, through wraparounds") {
  Powercap tree;
  tree.zone("intel-rapl:0", "package-0", 999999000);
  tree.zone("intel-rapl:0:0", "core", 5);
  tree.zone("intel-rapl:0:1", "dram", 100);
  tree.zone("intel-rapl:1", "package-1", 7);
  tree.zone("intel-rapl:2", "psys", 7);
  tree.zone("intel-rapl-mmio:0", "package-0", 7);
  EnergyMeter meter({}, {.powercap = tree.root(), .nvml = "none"});
  const Energy start = meter.read();
  tree.set("intel-rapl:0", 3000000);  // wrapped: 1000 to the end of the range, then 3000000
  tree.set("intel-rapl:0:0", 900000000);
  tree.set("intel-rapl:0:1", 500100);
  tree.set("intel-rapl:1", 1000007);
  tree.set("intel-rapl:2", 900000000);
  tree.set("intel-rapl-mmio:0", 900000000);
  const Energy used = meter.read() - start;
  REQUIRE(used.cpu.available());
  CHECK(used.cpu.joules == doctest::Approx(3.001 + 0.5 + 1.0).epsilon(1e-12));
  CHECK(used.gpu.unavailable == "no GPU in use");
  CHECK(used.total().joules == used.cpu.joules);
  CHECK(used.measured() == "CPU");
}

TEST_CASE("what cannot be read is unavailable with a reason, never zero") {
  const Energy none = EnergyMeter({}, {.powercap = "/no such folder", .nvml = "none"}).read();
  CHECK(none.cpu.unavailable.find("no /no such folder") == 0);
  CHECK_FALSE(none.total().available());
  CHECK(none.measured().empty());

  Powercap empty;
  CHECK(EnergyMeter({}, {.powercap = empty.root(), .nvml = "none"}).read().cpu.unavailable.find("no package counter") == 0);

  Powercap locked;
  locked.zone("intel-rapl:0", "package-0", 10);
  locked.remove("intel-rapl:0/energy_uj");
  CHECK(EnergyMeter({}, {.powercap = locked.root(), .nvml = "none"}).read().cpu.unavailable.find("energy_uj cannot be read") !=
        std::string::npos);

  Powercap tree;
  tree.zone("intel-rapl:0", "package-0", 10);
  EnergyMeter meter({}, {.powercap = tree.root(), .nvml = "none"});
  const Energy start = meter.read();
  CHECK((meter.read() - start).cpu.unavailable.find("did not move") != std::string::npos);
  tree.remove("intel-rapl:0/energy_uj");
  CHECK((meter.read() - start).cpu.unavailable.find("can no longer be read") != std::string::npos);
}

TEST_CASE("a GPU's energy counter") {
  FakeNvml nvml;
  if (!nvml) return;
  nvml.set(0, 0, 5000000, 0, 0);
  {
    EnergyMeter meter(one_gpu, {.powercap = "/none", .nvml = QUARKSTAR_FAKE_NVML});
    const Energy start = meter.read();
    nvml.set(0, 0, 5001500, 0, 0);
    const Energy used = meter.read() - start;
    REQUIRE(used.gpu.available());
    CHECK(used.gpu.joules == doctest::Approx(1.5));
    CHECK_FALSE(used.cpu.available());
    CHECK(used.total().joules == used.gpu.joules);
    CHECK(used.measured() == "GPU");
    CHECK(nvml.running() == 1);
    nvml.set(0, not_supported, 0, not_supported, 0);
    CHECK((meter.read() - start).gpu.unavailable == "NVML: energy counter: Not Supported");
  }
  CHECK(nvml.running() == 0);
}

TEST_CASE("a GPU without the counter: its power is sampled") {
  FakeNvml nvml;
  if (!nvml) return;
  nvml.set(0, not_supported, 0, 0, 300000);
  EnergyMeter meter(one_gpu, {.powercap = "/none", .nvml = QUARKSTAR_FAKE_NVML});
  const auto begin = std::chrono::steady_clock::now();
  const Energy start = meter.read();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const Energy used = meter.read() - start;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  REQUIRE(used.gpu.available());
  CHECK(used.gpu.joules >= 300 * 0.2 * 0.999);
  CHECK(used.gpu.joules <= 300 * seconds * 1.001);
}

TEST_CASE("reasons of NVML") {
  const auto reason = [](const std::string& library, const std::vector<std::string>& gpus) {
    return EnergyMeter(gpus, {.powercap = "/none", .nvml = library}).read().gpu.unavailable;
  };
  FakeNvml nvml;
  if (!nvml) return;
  CHECK(reason("libno-such-library.so", one_gpu) == "libno-such-library.so cannot be loaded");
  CHECK(reason("libm.so.6", one_gpu).find("libm.so.6 has no nvml") == 0);
  nvml.set(not_supported, 0, 0, 0, 0);
  CHECK(reason(QUARKSTAR_FAKE_NVML, one_gpu) == "NVML: nvmlInit: Not Supported");
  nvml.set(0, 0, 0, 0, 0);
  CHECK(reason(QUARKSTAR_FAKE_NVML, {"x"}) == "NVML: GPU x: Not Found");
  nvml.set(0, not_supported, 0, not_supported, 0);
  CHECK(reason(QUARKSTAR_FAKE_NVML, one_gpu) == "NVML: power of GPU 0000:01:00.0: Not Supported");
  CHECK(nvml.running() == 0);
}

}  // namespace energy_test
