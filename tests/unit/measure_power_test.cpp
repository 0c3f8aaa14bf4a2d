// Watts from counters that are made up.
#include "apps/run/measure_power.hpp"

#include <doctest/doctest.h>

namespace measure_power_test {

using namespace quarkstar;
using namespace quarkstar::app;
using runtime::Energy;

namespace {

/// A machine that draws these watts; its clock moves by half a second an activity.
struct Machine {
  double cpu_idle, cpu_busy, gpu_idle, gpu_busy;  // gpu: each
  int gpus;
  double cpu_joules = 1000, gpu_joules = 2000;
  bool reads_cpu = true, reads_gpu = true;

  double pass(double cpu, double gpu) {
    constexpr double seconds = 0.5;
    cpu_joules += seconds * cpu;
    gpu_joules += seconds * gpu;
    return seconds;
  }
  PowerProbe probe() {
    return {.read =
                [this] {
                  return Energy{{cpu_joules, reads_cpu ? "" : "no RAPL"}, {gpu_joules, reads_gpu ? "" : "no NVML"}};
                },
            .rest = [this] { return pass(cpu_idle, gpus * gpu_idle); },
            .load_cpus = [this] { return pass(cpu_busy, gpus * gpu_idle); },
            .load_gpus = [this] { return pass(cpu_idle, (gpus - 1) * gpu_idle + gpu_busy); },
            .gpus = gpus};
  }
};

}  // namespace

TEST_CASE("watts of CPUs and of one of several GPUs") {
  Machine machine{40, 200, 60, 450, 4};
  const runtime::MachinePower power = measure_power({}, machine.probe());
  CHECK(power.cpu.idle == doctest::Approx(40));
  CHECK(power.cpu.busy == doctest::Approx(200));
  CHECK(power.cuda.idle == doctest::Approx(60));
  CHECK(power.cuda.busy == doctest::Approx(450));
  CHECK(power.host == 0);
  CHECK(power.origin == "measured");
}

TEST_CASE("what cannot be read stays as it was") {
  const runtime::MachinePower known;
  Machine machine{40, 200, 60, 450, 2};
  machine.reads_cpu = false;
  runtime::MachinePower power = measure_power(known, machine.probe());
  CHECK(power.cpu.busy == known.cpu.busy);
  CHECK(power.host == known.host);
  CHECK(power.cuda.busy == doctest::Approx(450));
  CHECK(power.origin == "GPU measured");

  machine.reads_cpu = true;
  machine.reads_gpu = false;
  power = measure_power(known, machine.probe());
  CHECK(power.cuda.busy == known.cuda.busy);
  CHECK(power.origin == "CPU measured");

  machine.reads_cpu = false;
  CHECK(measure_power(known, machine.probe()).origin == "assumed");
  machine.reads_cpu = true;
  machine.gpus = 0;
  CHECK(measure_power(known, machine.probe()).origin == "measured");
}

}  // namespace measure_power_test
