// Hardware counters: numbers that grow, or a reason; memory controllers from a tree made for the test.
#include "runtime/observe/hardware_counters.hpp"

#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <thread>

namespace hardware_counters_test {

using namespace quarkstar;
using namespace quarkstar::runtime;

TEST_CASE("a counter is a number that grows, also by what later threads do, or a reason") {
  const HardwareCounters counters;
  const HardwareCounts before = counters.read();
  double sum = 0;
  std::thread([&] {
    for (int i = 1; i < 2000000; ++i) sum += std::sqrt(static_cast<double>(i));
  }).join();
  CHECK(sum > 0);
  const HardwareCounts counted = counters.read() - before;
  for (const CounterReading* reading : {&counted.instructions, &counted.cycles, &counted.cache_misses, &counted.memory_bytes})
    CHECK(reading->available() == (reading->value > 0));
  if (counted.instructions.available()) CHECK(counted.instructions.value > 2e6);
  else CHECK_FALSE(counted.instructions.unavailable.empty());
}

TEST_CASE("a counter that ran part of the time is extended to all of it") {
  const CounterReading before{100, 1000, 500, {}}, after{400, 3000, 1500, {}};
  const CounterReading counted = after - before;
  CHECK(counted.available());
  CHECK(counted.value == 600);
  CHECK((after - CounterReading{400, 1000, 1500, {}}).unavailable.find("did not run") != std::string::npos);
  CHECK((after - CounterReading{400, 1000, 500, {}}).unavailable.find("does not move") != std::string::npos);
  CHECK((after - CounterReading{0, 0, 0, "no counter"}).unavailable == "no counter");
  CHECK((CounterReading{0, 0, 0, "gone"} - before).unavailable == "gone");
}

TEST_CASE("memory controllers: none, and some that cannot be opened, are named") {
  testing::TemporaryFolder folder;
  CounterSources sources{folder.file("devices"), folder.file("paranoid")};
  CHECK(HardwareCounters(sources).read().memory_bytes.unavailable.find("no memory controller (uncore_imc) in") == 0);
  const std::string controller = "devices/uncore_imc_0";
  std::filesystem::create_directories(folder.file(controller + "/events"));
  testing::write_file(folder.file(controller + "/type"), "65500\n");  // no such kind of counter
  testing::write_file(folder.file(controller + "/cpumask"), "0\n");
  testing::write_file(folder.file(controller + "/events/cas_count_read"), "event=0x04,umask=0x03\n");
  testing::write_file(folder.file(controller + "/events/cas_count_read.scale"), "6.103515625e-5\n");
  CHECK(HardwareCounters(sources).read().memory_bytes.unavailable.find("no event that is known of the memory controllers") ==
        0);  // no unit
  testing::write_file(folder.file(controller + "/events/cas_count_read.unit"), "MiB\n");
  const auto opens = [&] {
    const std::string reason = HardwareCounters(sources).read().memory_bytes.unavailable;
    CHECK_FALSE(reason.empty());
    return reason.find("memory controller") == std::string::npos;
  };
  CHECK(opens());
  // Processors of clients have other names for it.
  for (const char* end : {"", ".scale", ".unit"})
    std::filesystem::rename(folder.file(controller + "/events/cas_count_read" + end), folder.file(controller + "/events/data_reads" + end));
  CHECK(opens());
}

}  // namespace hardware_counters_test
