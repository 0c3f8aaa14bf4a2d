#include "apps/run/modes_plan.hpp"

#include "apps/run/eigen_file.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "runtime/mpi/job.hpp"
#include "solvers/eigen/modes_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace quarkstar::app {
namespace {

/// A projection of this rank's. needs: with modes that are streamed.
HostProjection projection_of(const runtime::Session& session, std::span<const runtime::Decomposition> islands, const RunConfig& config,
                             const std::vector<MemoryNeed>& needs) {
  const std::vector<int> together = numbers_together(config);
  const int n = *std::max_element(together.begin(), together.end());
  HostProjection projection{};
  for (const runtime::Decomposition& island : islands)
    for (const int b : island.local()) {
      const runtime::Block& block = island.block(b);
      if (block.owner >= session.gpu_count()) continue;
      const double vector = basis_bytes(block, config.action->components * config.action->slices(config.settings), 1);
      projection.modes += vector * basis_vectors(config);
      projection.vectors += 2 * vector * n;
      projection.flops += vector * modes_to_project(config) * n;  // 16 for each complex number of 16 bytes
    }
  for (const MemoryNeed& need : needs)
    if (need.gpu) projection.kept += std::max(0.0, need.available - need.total());
  return projection;
}

}  // namespace

std::vector<MemoryNeed> place_modes(const runtime::Session& session, std::span<const runtime::Decomposition> islands, RunConfig& config,
                                    const std::function<std::vector<MemoryNeed>(const RunConfig&)>& needs_of, std::string* why) {
  set_modes_memory(config, ModesMemory::device);
  std::vector<MemoryNeed> needs = needs_of(config);
  if (basis_vectors(config) == 0 || makes_basis(config) || fits_everywhere(needs)) return needs;
  RunConfig in_host = config;
  set_modes_memory(in_host, ModesMemory::streamed);
  std::vector<MemoryNeed> streamed = needs_of(in_host);
  int blocks = 0;
  for (const runtime::Decomposition& island : islands) blocks += static_cast<int>(island.local().size());
  const HostProjection projection = projection_of(session, islands, config, streamed);
  const HostSpeeds speeds = host_speeds(blocks);
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  // Low-mode averages multiply modes with fields of the solve; a policy that places tasks by itself would bring the CPUs' to GPUs.
  const bool cpus_may = !job.any(config.low_mode_average || !session.keeps_owners() || session.cpu_workers().empty());
  const bool streams = job.any(faster_in_host_memory(projection, speeds) == ModesMemory::streamed);
  const auto try_way = [&](ModesMemory where) {
    set_modes_memory(in_host, where);
    std::vector<MemoryNeed> there = where == ModesMemory::streamed ? streamed : needs_of(in_host);
    if (!fits_everywhere(there)) return false;
    config = in_host;
    needs = std::move(there);
    if (why != nullptr)
      *why = fmt::format("eigenvectors are {}: predicted {:.1f} ms a projection by CPUs, {:.1f} ms copied", describe(where),
                         1e3 * predicted_seconds(ModesMemory::on_cpus, projection, speeds),
                         1e3 * predicted_seconds(ModesMemory::streamed, projection, speeds));
    return true;
  };
  // The faster way where there is room for it, else the other one.
  if (cpus_may && !streams) (void)(try_way(ModesMemory::on_cpus) || try_way(ModesMemory::streamed));
  else (void)(try_way(ModesMemory::streamed) || (cpus_may && try_way(ModesMemory::on_cpus)));
  return needs;
}

}  // namespace quarkstar::app
