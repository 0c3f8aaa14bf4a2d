#include "apps/run/memory_check.hpp"

#include "apps/run/action_memory.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "codelets/contract/correlators.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::app {

std::vector<MemoryNeed> memory_needs(const runtime::Session& session, const runtime::Decomposition& decomposition,
                                     const RunConfig& config) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const std::string rank = job.is_distributed() ? job.name_of(job.rank()) + ", " : "";
  const ActionKind& kind = *config.action;
  const int components = kind.components;
  const std::vector<int> together = numbers_together(config);
  const int most = *std::max_element(together.begin(), together.end());
  const std::vector<Footprint> blocks =
      footprint(decomposition, config.solver, operator_shape(kind, config.settings, config.solver), together,
                deflation_file(config).empty() ? vectors_in_lanes_for(components, config.solver, together) : 1);
  std::vector<MemoryNeed> needs;
  for (int gpu = 0; gpu < session.gpu_count(); ++gpu)
    needs.push_back({.where = rank + session.worker(gpu).name,
                     .gpu = true,
                     .fields = {},
                     .available = static_cast<double>(session.device_memory(gpu))});
  needs.push_back({.where = rank + "host", .fields = {}});
  MemoryNeed& host = needs.back();
  const double contracted = contraction_bytes(config);
  host.other += contract::sum_bytes(contract::choose(config.action->correlators, config.correlators.names),
                                    config.correlators.momenta.size(), decomposition.lattice()[3]) *
                session.cpu_team().threads();
  for (const int b : decomposition.local()) {
    const runtime::Block& block = decomposition.block(b);
    const double copy = contracted * static_cast<double>(volume(block.extents));
    Footprint bytes = blocks[static_cast<std::size_t>(block.index)];
    bytes.fields += basis_bytes(block, components, basis_vectors(config));
    if (block.owner < session.gpu_count()) {
      needs[static_cast<std::size_t>(block.owner)].fields += bytes;
      needs[static_cast<std::size_t>(block.owner)].fields.fields += copy;
      host.fields += host_copies(bytes, block, config.solver.in_flight * most * 2 * components);
    } else {
      host.fields += bytes;
    }
    host.fields.fields += copy;
  }
  // Solutions, and restart files of what is solved together.
  const double kept =
      columns_come_to_host(config) ? static_cast<double>(most_sources_at_once(config) * config.columns.size() * config.masses().size()) : 0;
  const double saved = config.solver.snapshots ? config.solver.in_flight * most : 0;
  host.other +=
      static_cast<double>(volume(decomposition.part().extents)) * (kept + saved) * 2 * components * sizeof(double) + host.fields.tables;
  add_links(needs, session, decomposition, config);
  // Ranks of one host look at the same number. All ranks ask, also where the host does not tell one.
  const int sharers = job.share_of("host memory").count;
  const auto free = runtime::available_host_memory();
  host.available = config.cpu_memory > 0 ? static_cast<double>(config.cpu_memory)
                   : free                ? std::max(1.0, static_cast<double>(*free) / sharers)
                                         : 0;
  std::erase_if(needs, [](const MemoryNeed& need) { return need.total() == 0; });
  return needs;
}

namespace {

/// Below double precision a solve holds links and vectors of both precisions, which takes more.
const char* remedy_for(const MemoryNeed& need) {
  return need.gpu
             ? "use --precision double with fewer --links reals, fewer --nrhs, more GPUs or ranks, or --devices cpu, or on one rank "
               "--devices all without --blocks"
             : "use --precision double with fewer --links reals, fewer --nrhs, fewer sources, columns or masses at a time, more ranks, "
               "or a machine with more memory";
}

}  // namespace

void require_memory(const std::vector<MemoryNeed>& needs) {
  for (const MemoryNeed& need : needs) {
    if (need.fits()) continue;
    throw Error(ErrorKind::input, Parameter(need.gpu ? "gpu-memory" : "cpu-memory"),
                fmt::format("this solve needs {} of memory on {}, {} are available", bytes_text(need.total()), need.where,
                            bytes_text(need.available)),
                remedy_for(need));
  }
}

std::string memory_text(const MemoryNeed& need) {
  std::string text = fmt::format("{}: {}", need.where, bytes_text(need.total()));
  if (need.available > 0) text += fmt::format(" of {}", bytes_text(need.available));
  text += fmt::format(" (links {}, vectors {}, faces {}, tables {}", bytes_text(need.fields.links), bytes_text(need.fields.fields),
                      bytes_text(need.fields.faces), bytes_text(need.fields.tables));
  if (need.other > 0) text += fmt::format(", configuration and columns {}", bytes_text(need.other));
  if (need.making_links > 0) text += fmt::format("; before that {} to make the links", bytes_text(need.making_links));
  return text + ")";
}

}  // namespace quarkstar::app
