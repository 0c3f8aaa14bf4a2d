// Simulated machines: their files, the platform that is made of them, and how long kernels take there.
#include "apps/simulation/machine_file.hpp"
#include "apps/studies/machines.hpp"
#include "runtime/simulate/lane_times.hpp"
#include "runtime/simulate/platform.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace simulate_test {

using namespace quarkstar;
using namespace quarkstar::runtime::simulate;

namespace {

const std::string cpu_only = R"(name = "test"
nodes = 1
source = "made up"
[cpu]
source = "made up"
model = "a CPU"
domains = 2
cores = 4
triad_gbs = 40
core_triad_gbs = 15
peak_single_gflops = 800
peak_double_gflops = 400
memory_gib = 16
kernel_us = 2
task_us = 3
[cpu.efficiency]
"wilson" = 0.5
"wilson.double" = 0.8
[runtime]
source = "made up"
submit_us = 1
handle_us = 0.5
graph_us = 0.25
)";

const std::string gpus = R"([gpu]
source = "made up"
model = "a GPU"
count = 2
triad_gbs = 1000
peak_single_gflops = 10000
peak_double_gflops = 5000
memory_gib = 8
kernel_us = 4
task_us = 10
host_gbs = 10
host_us = 20
all_host_gbs = 15
)";

const std::string other_gpu = R"([[gpu]]
source = "made up"
model = "another GPU"
count = 1
triad_gbs = 500
peak_single_gflops = 7000
peak_double_gflops = 3500
memory_gib = 4
kernel_us = 5
task_us = 11
)";

const std::string peers = "[peers]\nsource = \"made up\"\ngbs = 100\nus = 2\ncopy_us = 9\nsignal_us = 3\njoin_us = 1\nshared_batch = 0.9\n";
const std::string network = "[network]\nsource = \"made up\"\ngbs = 5\nus = 7\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

Machine machine_of(const std::string& text) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.file("m.toml"), text);
  return app::read_machine(folder.file("m.toml"));
}

/// The message with which a machine file is refused, without the folder.
std::string refusal(const std::string& text) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("m.toml");
  testing::write_file(path, text);
  try {
    app::read_machine(path);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    const std::string message = error.what();
    const std::size_t at = message.find("m.toml");
    return at == message.npos ? message : message.substr(at);
  }
  return "accepted";
}

runtime::ScheduledStep step(int lane, std::vector<int> waits = {}) {
  return {0, lane / runtime::LaneSchedule::lanes_a_device, lane, std::move(waits), {}, {}};
}

}  // namespace

TEST_CASE("a machine file gives every number, and teams share a domain") {
  const Machine m = machine_of(cpu_only);
  CHECK(m.domains == 2);
  CHECK(m.cores == 4);
  CHECK(m.all_gpus() == 0);
  CHECK(m.team_gbs(4, 1) == doctest::Approx(40));
  CHECK(m.team_gbs(1, 1) == doctest::Approx(15));
  CHECK(m.team_gbs(2, 2) == doctest::Approx(20));  // two of two cores each
  CHECK(m.cpu.efficiency.of("wilson.double.12.interior", 1) == doctest::Approx(0.8));
  CHECK(m.cpu.efficiency.of("wilson.single.pack", 1) == doctest::Approx(0.5));
  CHECK(m.cpu.efficiency.of("blas.norm", 1) == doctest::Approx(1));
  // 8e6 bytes at 0.8 of 40 GB/s: 250 us, and 2 us for the kernel; 2e8 flops at 400 GFLOP/s: 500 us.
  CHECK(m.cpu.kernel_time_us("wilson.double.pack", 0, 8e6, 40, 1) == doctest::Approx(252));
  CHECK(m.cpu.kernel_time_us("wilson.double.pack", 2e8, 8e6, 40, 1) == doctest::Approx(502));
  CHECK(m.cpu.kernel_time_us("blas.single", 2e8, 0, 40, 1) == doctest::Approx(252));
  // 4e6 bytes at 40 GB/s: 100 us; 1.5e7 flops at 200 GFLOP/s from caches: 75 us; together 125.
  const Machine cached = machine_of(cpu_only + "[cpu.cached_gflops]\n\"staggered\" = 200\n");
  CHECK(cached.cpu.kernel_time_us("staggered.single.4", 1.5e7, 4e6, 40, 1) == doctest::Approx(127));
  CHECK(cached.cpu.kernel_time_us("blas.single", 1.5e7, 4e6, 40, 1) == doctest::Approx(102));
  // A quarter of the cores: 2e8 flops at 100 GFLOP/s, 2000 us; from caches at 50 GFLOP/s 75 us, beside 100 us from
  // memory.
  CHECK(cached.team_part(1) == doctest::Approx(0.25));
  CHECK(cached.team_part(8) == doctest::Approx(1));  // two threads a core
  CHECK(cached.cpu.kernel_time_us("wilson.double.pack", 2e8, 8e6, 40, 0.25) == doctest::Approx(2002));
  CHECK(cached.cpu.kernel_time_us("staggered.single.4", 3.75e6, 4e6, 40, 0.25) == doctest::Approx(127));
  CHECK(!m.busy_teams_share);
  CHECK(machine_of(replaced(cpu_only, "cores = 4", "cores = 4\nbusy_teams_share = true")).busy_teams_share);
}

TEST_CASE("GPUs of a node may be of several kinds, in the order of the file") {
  const std::string first = replaced(gpus, "[gpu]", "[[gpu]]");
  const Machine one = machine_of(cpu_only + gpus);
  REQUIRE(one.gpu_kinds.size() == 1);
  CHECK(one.gpu(1).model == "a GPU");
  const Machine unlike = machine_of(replaced(cpu_only, "nodes = 1", "nodes = 2") + first + other_gpu + network);
  CHECK(unlike.gpus == 3);
  CHECK(unlike.all_gpus() == 6);
  for (const int number : {0, 1, 3, 4}) CHECK(unlike.gpu(number).triad_gbs == 1000);
  for (const int number : {2, 5}) CHECK(unlike.gpu(number).triad_gbs == 500);
  CHECK(unlike.gpu(2).task_us == 11);
  CHECK(unlike.host_gpu_gbs == 10);  // of all
  const std::string xml = platform_xml(unlike);
  CHECK(xml.find("CUDA5") != std::string::npos);
  CHECK(xml.find("value=\"another GPU\"") != std::string::npos);
  CHECK(refusal(cpu_only + first + other_gpu + "host_gbs = 10\n").find("host_gbs: unknown key") != std::string::npos);
  CHECK(refusal(cpu_only + other_gpu).find("gpu.host_gbs: is missing") != std::string::npos);
}

TEST_CASE("copies between GPUs go directly, through the host, or through two hosts and the network") {
  const Machine alone = machine_of(cpu_only + gpus);
  CHECK(!alone.reach_each_other(0, 1));
  CHECK(alone.between(0, 1).gbs == doctest::Approx(5));
  CHECK(alone.between(0, 1).us == doctest::Approx(40));
  const Machine joined = machine_of(cpu_only + gpus + peers);
  CHECK(joined.reach_each_other(0, 1));
  CHECK(joined.between(0, 1).gbs == doctest::Approx(100));
  CHECK(joined.between(0, 1).us == doctest::Approx(2));
  CHECK(joined.copy_between(0, 1).us == doctest::Approx(9));
  CHECK(alone.copy_between(0, 1).us == doctest::Approx(40));
  const Machine cluster = machine_of(replaced(cpu_only, "nodes = 1", "nodes = 2") + gpus + peers + network);
  CHECK(cluster.all_gpus() == 4);
  CHECK(cluster.reach_each_other(2, 3));
  CHECK(!cluster.reach_each_other(1, 2));
  CHECK(cluster.between(1, 2).gbs == doctest::Approx(2.5));  // 1 / (2 / 10 + 1 / 5)
  CHECK(cluster.between(1, 2).us == doctest::Approx(47));
}

TEST_CASE("bad machine files are refused with line, key and remedy") {
  CHECK(refusal("name = ").find("m.toml:1") == 0);
  CHECK(refusal(replaced(cpu_only, "cores = 4\n", "")).find("cpu.cores: is missing") != std::string::npos);
  CHECK(
      refusal(replaced(cpu_only, "cores = 4", "cores = 0")).find("m.toml:8: cpu.cores: is out of range; give a whole number, at least 1") ==
      0);
  CHECK(refusal(replaced(cpu_only, "cores = 4", "cores = 4.5")).find("m.toml:8: cpu.cores") == 0);
  CHECK(refusal(replaced(cpu_only, "triad_gbs = 40", "triad_gbs = -1"))
            .find("m.toml:9: cpu.triad_gbs: = -1 is out of range; give more than 0") == 0);
  CHECK(refusal(replaced(cpu_only, "triad_gbs = 40", "triad_gbs = nan")).find("m.toml:9: cpu.triad_gbs: is no number") == 0);
  CHECK(refusal(replaced(cpu_only, "triad_gbs = 40", "triad_gbs = \"40\"")).find("m.toml:9: cpu.triad_gbs: is no number") == 0);
  CHECK(refusal(replaced(cpu_only, "memory_gib", "memory_gb = 1\nmemory_gib")).find("m.toml:13: cpu.memory_gb: unknown key") == 0);
  CHECK(refusal(replaced(cpu_only, "source = \"made up\"\nmodel", "model")).find("cpu.source: is missing") != std::string::npos);
  CHECK(refusal(replaced(cpu_only, "triad_gbs = 40", "triad_gbs = 40e9"))
            .find("m.toml:9: cpu.triad_gbs: = 4e+10 GB/s is more than any memory has") == 0);
  CHECK(refusal(replaced(cpu_only, "\"wilson\" = 0.5", "\"wilson\" = 50")).find("cpu.efficiency.wilson: = 50 is out of range") !=
        std::string::npos);
  CHECK(refusal(replaced(cpu_only, "\"wilson\" = 0.5", "\"wislon\" = 0.5"))
            .find("cpu.efficiency.wislon: is the beginning of no codelet's name") != std::string::npos);
  CHECK(refusal(replaced(cpu_only, "\"wilson\" = 0.5", "\"wilson\" = 0")).find("cpu.efficiency.wilson: is no positive number") !=
        std::string::npos);
  CHECK(refusal(cpu_only + "[cpu.eficiency]\n\"wilson\" = 1\n").find("cpu.eficiency: unknown key") != std::string::npos);
  CHECK(refusal(cpu_only + "[disk]\nsize = 1\n").find("disk: unknown table; use cpu, gpu") != std::string::npos);
  CHECK(refusal(replaced(cpu_only, "nodes = 1", "nodes = 4") + gpus).find("network: the table is missing") != std::string::npos);
  CHECK(refusal(replaced(cpu_only, "nodes = 1", "nodes = 4") + network).find("several nodes without GPUs") != std::string::npos);
  CHECK(refusal("name = \"x\"\nnodes = 1\nsource = \"y\"\n").find("cpu: the table is missing") != std::string::npos);
  CHECK(refusal(replaced(cpu_only, "cores = 4", "cores = 4\nbusy_teams_share = 1"))
            .find("m.toml:9: cpu.busy_teams_share: is neither true nor false") == 0);
  CHECK(refusal(cpu_only) == "accepted");
  try {
    app::read_machine("no such machine");
    FAIL("read");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("one of epyc-2-cores, grace-h200, h100-h200") != std::string::npos);
  }
}

TEST_CASE("every shipped machine can be read and fits the simulator") {
  const std::vector<std::string> names = app::shipped_machines();
  for (const char* name : {"epyc-2-cores", "h200", "h200-x2", "h200-x4", "k20", "k40", "k40-power8", "k40-power8-x2", "k40-power8-x4",
                           "phi-5110", "phi-7120", "v100", "xeon-2-cores"})
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
  for (const std::string& name : names) {
    CAPTURE(name);
    const testing::TemporaryFolder folder;
    write_platform(app::read_machine(name), folder.file("models"), "m");
    for (const char* ending : {".platform.v4.xml", ".config", ".bandwidth", ".latency"})
      CHECK(!testing::read_file(folder.file(std::string("models/bus/m") + ending)).empty());
  }
}

TEST_CASE("machine files and the models' table state the same figures") {
  struct Pair {
    const char *file, *name;
  };
  for (const auto& [file, name] : {Pair{"k20", "K20"}, Pair{"k40", "K40"}, Pair{"k40-power8", "K40"}, Pair{"k40-power8-x2", "K40"},
                                   Pair{"k40-power8-x4", "K40"}, Pair{"v100", "V100"}}) {
    CAPTURE(file);
    const Device gpu = app::read_machine(file).gpu(0);
    const app::model::Machine& card = *app::model::find_machine(app::model::machines(), name);
    CHECK(gpu.triad_gbs == doctest::Approx(*card.triad.value).epsilon(2e-3));
    CHECK(gpu.peak_single_gflops == doctest::Approx(1e3 * *card.single_tflops.value).epsilon(2e-3));
    CHECK(gpu.peak_double_gflops == doctest::Approx(1e3 * *card.double_tflops.value).epsilon(2e-3));
  }
  for (const auto& [file, name] : {Pair{"phi-5110", "5110"}, Pair{"phi-7120", "7120"}, Pair{"k40-power8", "POWER8"},
                                   Pair{"k40-power8-x2", "POWER8"}, Pair{"k40-power8-x4", "POWER8"}}) {
    CAPTURE(file);
    const Machine node = app::read_machine(file);
    const app::model::Machine& processors = *app::model::find_machine(app::model::machines(), name);
    CHECK(node.domains * node.cpu.triad_gbs == doctest::Approx(*processors.triad.value).epsilon(2e-3));
    CHECK(node.domains * node.cpu.peak_double_gflops == doctest::Approx(1e3 * *processors.double_tflops.value).epsilon(2e-3));
  }
}

TEST_CASE("a job has a node on the network and processors of its own for every rank") {
  Machine machine = machine_of(cpu_only);
  machine.network_gbs = 2.5;
  machine.network_us = 3;
  const std::string xml = job_xml(machine, 12);
  CHECK(xml.find("radical=\"0-11\" speed=\"1Gf\" bw=\"2500000000Bps\" lat=\"0.000001500s\"") != xml.npos);
  CHECK(xml.find("<host id=\"StarPU-MPI11-CPU7\"") != xml.npos);
  CHECK(xml.find("StarPU-MPI12") == xml.npos);
  CHECK(xml.find("-CPU8") == xml.npos);
}

TEST_CASE("the platform has every host, and one way between each two memories") {
  const std::string xml = platform_xml(machine_of(cpu_only + gpus + peers));
  const auto count = [&xml](const std::string& wanted) {
    int found = 0;
    for (std::size_t at = xml.find(wanted); at != xml.npos; at = xml.find(wanted, at + 1)) ++found;
    return found;
  };
  CHECK(count("<host id=\"CPU") == 8);
  CHECK(count("<host id=\"CUDA") == 2);
  CHECK(count("<route ") == 6);  // both ways of RAM and each GPU, and between the GPUs
  CHECK(count("<link id=\"RAM-CUDA1\" bandwidth=\"10000000000Bps\" latency=\"0.000020000s\"/>") == 1);
  CHECK(count("<link id=\"CUDA1-CUDA0\" bandwidth=\"100000000000Bps\" latency=\"0.000009000s\"/>") == 1);
  CHECK(count("\"memsize\" value=\"8589934592\"") == 2);
  CHECK(count("\"memcpy_peer\" value=\"1\"") == 2);

  const testing::TemporaryFolder folder;
  write_platform(machine_of(cpu_only + gpus), folder.file("models"), "m");
  std::istringstream bandwidth(testing::read_file(folder.file("models/bus/m.bandwidth")));
  std::string header, first;
  std::getline(bandwidth, header);
  CHECK(header == "# to NUMA 0\tto CUDA 0\tto CUDA 1");
  double same = -1, to_gpu = -1;
  bandwidth >> same >> to_gpu;
  CHECK(same == 0);
  CHECK(to_gpu == doctest::Approx(10000));  // MB/s
  CHECK_THROWS_AS(write_platform(machine_of(cpu_only + replaced(gpus, "count = 2", "count = 99")), folder.file("models"), "m"), Error);
}

TEST_CASE("steps in lanes share their device, wait for each other, and signals take time") {
  runtime::LaneSchedule schedule;
  // Device 0: 10 in the main lane beside 4 in the side lane. Device 1: a step that waits for the one in the side lane.
  schedule.steps = {step(0), step(1), step(2, {1}), step(1, {0})};
  const std::vector<StepTime> needs{{1, 10}, {1, 4}, {0.5, 2}, {0, 3}};
  const std::vector<Interval> times = lane_times(schedule, needs, {.signal = 3, .join = 0.25});
  REQUIRE(times.size() == 4);
  CHECK(times[0].begin == doctest::Approx(0));
  CHECK(times[1].end == doctest::Approx(9));     // 1, then 4 at half speed
  CHECK(times[0].end == doctest::Approx(15));    // 1, 8 at half speed, the other 6 alone
  CHECK(times[2].begin == doctest::Approx(12));  // 3 after the end of its forerunner
  CHECK(times[2].end == doctest::Approx(14.5));
  CHECK(times[3].begin == doctest::Approx(15.25));
  CHECK(times[3].end == doctest::Approx(18.25));
  CHECK(lane_times({}, {}, {}).empty());
}

TEST_CASE("steps that exchange begin when all have been heard of") {
  runtime::LaneSchedule schedule;
  // 5 on device 0, 9 on device 1, then a step on both; device 2 is there 1 before device 1.
  schedule.steps = {step(0), step(2), step(4), step(0), step(2), step(4), step(2)};
  for (int i = 3; i < 6; ++i)
    for (int other = 3; other < 6; ++other)
      if (other != i) schedule.steps[static_cast<std::size_t>(i)].meets.push_back(other);
  const std::vector<StepTime> needs{{5, 0}, {9, 0}, {8, 0}, {1, 0}, {1, 0}, {1, 0}, {2, 0}};
  const std::vector<Interval> times = lane_times(schedule, needs, {.signal = 3, .join = 0.25});
  REQUIRE(times.size() == 7);
  CHECK(times[3].begin == doctest::Approx(12));
  CHECK(times[4].begin == doctest::Approx(11));  // the last to come has to hear of device 2
  CHECK(times[5].begin == doctest::Approx(12));
  CHECK(times[6].begin == doctest::Approx(12));
  CHECK(times[6].end == doctest::Approx(14));
}

}  // namespace simulate_test
