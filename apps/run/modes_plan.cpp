#include "apps/run/modes_plan.hpp"

#include "apps/run/eigen_file.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "runtime/mpi/job.hpp"
#include "solvers/eigen/modes_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

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
    }
  projection.flops = projection.modes * n;  // 16 for each of 16 bytes
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
  // Low-mode averages multiply modes with fields of the solve.
  const bool streams = config.low_mode_average || faster_in_host_memory(projection, speeds) == ModesMemory::streamed;
  const ModesMemory where = runtime::mpi::Job::current().any(streams) ? ModesMemory::streamed : ModesMemory::on_cpus;
  set_modes_memory(in_host, where);
  if (where != ModesMemory::streamed) streamed = needs_of(in_host);
  if (!fits_everywhere(streamed)) return needs;
  config = in_host;
  if (why != nullptr)
    *why = fmt::format("eigenvectors are {}: predicted {:.1f} ms a projection by CPUs, {:.1f} ms copied", describe(where),
                       1e3 * predicted_seconds(ModesMemory::on_cpus, projection, speeds),
                       1e3 * predicted_seconds(ModesMemory::streamed, projection, speeds));
  return streamed;
}

}  // namespace quarkstar::app
