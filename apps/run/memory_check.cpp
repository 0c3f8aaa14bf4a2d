#include "apps/run/memory_check.hpp"

#include "apps/run/action_memory.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "codelets/contract/three_point.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/eigen/low_mode_average.hpp"
#include "solvers/eigen/mode_pairs.hpp"
#include "solvers/solver_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::app {
namespace {

/// On a GPU the runtime cuts pieces that are at most so large out of chunks, of which it makes none without room for a whole one: where
/// fields are so small that everything is in chunks, one may be nearly empty, and with too little memory for it nothing would ever run.
constexpr double small_piece = 4 << 20, chunk_of_pieces = 32 << 20;

}  // namespace

std::vector<MemoryNeed> memory_needs(const runtime::Session& session, std::span<const runtime::Decomposition> islands,
                                     const RunConfig& config) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const std::string rank = job.is_distributed() ? job.name_of(job.rank()) + ", " : "";
  const ActionKind& kind = *config.action;
  const int components = kind.components;
  const std::vector<int> together = numbers_together(config);
  const int most = *std::max_element(together.begin(), together.end());
  std::vector<MemoryNeed> needs;
  for (int gpu = 0; gpu < session.gpu_count(); ++gpu)
    needs.push_back({.where = rank + session.worker(gpu).name,
                     .gpu = true,
                     .fields = {},
                     .available = static_cast<double>(session.device_memory(gpu))});
  needs.push_back({.where = rank + "host", .fields = {}});
  MemoryNeed& host = needs.back();
  const double contracted = contraction_bytes(config);
  const SmearingBytes smearing = smearing_bytes(config);
  const std::vector<contract::Choice> currents = three_point_currents(config);
  const std::size_t momenta = config.three_points.momenta.size();
  const int times = islands.front().lattice()[3];
  host.other +=
      std::max({contract::sum_bytes(contract::choose(config.action->correlators, config.correlators.names),
                                    config.correlators.momenta.size(), times),
                contract::sum_bytes(currents, momenta, times), config.low_mode_average ? low_mode_sum_bytes(components, times) : 0}) *
      session.cpu_team().threads();
  for (const runtime::Decomposition& island : islands) {
    const OperatorShape shape = operator_shape(kind, config.settings, config.solver);
    const std::vector<Footprint> blocks =
        footprint(island, config.solver, shape, together,
                  deflation_file(config).empty() ? vectors_in_lanes_for(island, components, shape.slices, config.solver, together) : 1);
    host.other += host_bytes_of_setup(island, config.solver);
    for (const int b : island.local()) {
      const runtime::Block& block = island.block(b);
      const auto sites = static_cast<double>(volume(block.extents));
      const double copy = contracted * sites;
      MemoryNeed& owner = block.owner < session.gpu_count() ? needs[static_cast<std::size_t>(block.owner)] : host;
      owner.fields.links += smearing.links * sites;
      owner.fields.fields += smearing.vectors * sites;
      owner.making_links += smearing.making * sites;
      Footprint bytes = blocks[static_cast<std::size_t>(block.index)];
      const int all = basis_vectors(config), held = &owner != &host ? basis_vectors_on_device(config) : all;
      bytes.fields += basis_bytes(block, shape.slices * components, held);
      // Where CPUs project, with right-hand sides and results.
      const bool on_cpus = !makes_basis(config) && modes_memory(config) == ModesMemory::on_cpus;
      const double crossing = on_cpus && held < all ? basis_bytes(block, shape.slices * components, 2 * most) : 0;
      if (held < all) host.fields.fields += basis_bytes(block, shape.slices * components, all) + crossing;
      bytes.fields += crossing;
      if (config.low_mode_average) {
        bytes.fields += low_mode_bytes(block, components);
        bytes.faces += face_bytes(island, block, shape, low_mode_group);
      }
      if (const double field = basis_bytes(block, shape.slices * components, most); &owner != &host && field <= small_piece)
        bytes.scalars = std::max(bytes.scalars, chunk_of_pieces);
      bytes.scalars += contract::three_point_sums(currents, momenta) * block.extents[3] * config.solver.in_flight;
      owner.fields += bytes;
      if (&owner != &host) {
        owner.fields.fields += copy;
        host.fields += host_copies(bytes, block, config.solver.in_flight * most * 2 * components);
      }
      host.fields.fields += copy;
    }
  }
  const int groups_at_once = config.solver.in_flight * static_cast<int>(islands.size());
  // Solutions, and restart files of what is solved together.
  const double kept =
      columns_come_to_host(config)
          ? static_cast<double>(most_sources_at_once(config, groups_at_once) * config.columns.size() * config.masses().size())
          : 0;
  // A state has the solution and, two in one, r, x, what lasts of the solver's fields, and below double precision a sum.
  const RecurrenceMemory of_solver = find_krylov_solver(config.solver.solver)->memory(config.solver.restart, most);
  const double of_state = config.krylov_state ? 1 + 0.5 * (4 + of_solver.lasting) : 0;
  // Two states: a solve keeps the one that it began with while it saves another. With a fifth dimension all slices, beside the solutions,
  // and what a file has of one right-hand side.
  const int slices = config.action->slices(config.settings);
  const double beside = slices > 1 ? (most + 1) * slices : 0;
  const double saved = config.solver.snapshots ? groups_at_once * (most * slices * std::max(1.0, 2 * of_state) + beside) : 0;
  host.other += static_cast<double>(volume(islands.front().part().extents)) * (kept + saved + host_vectors(config)) * 2 * components *
                    sizeof(double) +
                host.fields.tables;
  add_links(needs, session, islands.front(), config);
  // A term is made where it is used, on each island.
  for (MemoryNeed& need : needs)
    if (need.gpu && islands.size() > 1) need.making_links = std::max(need.making_links, needs.front().making_links);
  // Ranks of one host look at the same number. All ranks ask, also where the host does not tell one.
  const int sharers = job.share_of("host memory").count;
  const auto free = runtime::available_host_memory();
  host.available = config.cpu_memory > 0 ? static_cast<double>(config.cpu_memory)
                   : free                ? std::max(1.0, static_cast<double>(*free) / sharers)
                                         : 0;
  for (MemoryNeed& need : needs) need.of_eigen = makes_basis(config);
  std::erase_if(needs, [](const MemoryNeed& need) { return need.total() == 0; });
  return needs;
}

bool fits_everywhere(const std::vector<MemoryNeed>& needs) {
  return !runtime::mpi::Job::current().any(!std::ranges::all_of(needs, [](const MemoryNeed& need) { return need.fits(); }));
}

namespace {

/// Below double precision a solve holds links and vectors of both precisions, which takes more.
const char* remedy_for(const MemoryNeed& need) {
  if (need.of_eigen)
    return need.gpu
               ? "use --basis-memory host, --basis-precision single, fewer --modes or a smaller --basis or --block, more GPUs or ranks, or "
                 "--devices cpu"
               : "use --basis-precision single, fewer --modes or a smaller --basis or --block, more ranks, or a machine with more memory";
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
