#include "solvers/eigen/modes_memory.hpp"

#include "runtime/graph/session.hpp"

#include <algorithm>

namespace quarkstar {

double predicted_seconds(ModesMemory where, const HostProjection& p, const HostSpeeds& speeds) {
  constexpr double passes = 2;
  switch (where) {
    case ModesMemory::device:
      return 0;
    case ModesMemory::streamed:
      return passes * std::max(0.0, p.modes - p.kept) / speeds.bus;
    case ModesMemory::on_cpus:
      break;
  }
  return std::max(passes * p.modes / speeds.memory, p.flops / speeds.flops) + p.vectors / speeds.bus;
}

ModesMemory faster_in_host_memory(const HostProjection& projection, const HostSpeeds& speeds) {
  const bool on_cpus =
      predicted_seconds(ModesMemory::on_cpus, projection, speeds) < predicted_seconds(ModesMemory::streamed, projection, speeds);
  return on_cpus ? ModesMemory::on_cpus : ModesMemory::streamed;
}

HostSpeeds host_speeds(int blocks) {
  // One core with AVX-512 has 77 GFLOP/s, colour vectors, 12 right-hand sides (docs/results/2026-11-30-h200-projection.md): here as one
  // with AVX2, which has half of its lanes.
  constexpr double bus_of_gpu = 44e9, flops_of_thread = 38e9;
  const runtime::Session& session = runtime::Session::current();
  HostSpeeds speeds{bus_of_gpu * std::max(1, session.gpu_count()), 0, 0};
  int workers = 0;
  for (const int worker : session.cpu_workers()) {
    if (workers++ == blocks) break;
    speeds.memory += 1e9 * session.worker(worker).bandwidth_gbs;
    speeds.flops += flops_of_thread * session.worker(worker).team.threads();
  }
  return speeds;
}

const char* describe(ModesMemory where) {
  switch (where) {
    case ModesMemory::device:
      return "where the fields are";
    case ModesMemory::streamed:
      return "in host memory, copied to GPUs for each use";
    case ModesMemory::on_cpus:
      break;
  }
  return "in host memory, projected onto by CPUs";
}

}  // namespace quarkstar
