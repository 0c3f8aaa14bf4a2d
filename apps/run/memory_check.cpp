#include "apps/run/memory_check.hpp"

#include "apps/command/parse.hpp"
#include "apps/run/solve_plan.hpp"
#include "apps/run/staggered_batches.hpp"
#include "codelets/actions/wilson/schwarz.hpp"
#include "codelets/field/field.hpp"
#include "codelets/field/host_field.hpp"
#include "codelets/gauge/block_links.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/gauge/smear/links_file.hpp"
#include "codelets/io/gauge_part.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::app {

namespace {

/// Bytes of one site of all solutions of a staggered run.
double colours_bytes(const RunConfig& config) {
  const std::size_t solutions = (1 + config.further_sources.size()) * config.columns.size() * config.staggered.masses.size();
  return static_cast<double>(solutions) * 2 * colour_components * sizeof(double);
}

/// What is there at once while the links of a staggered action are made (codelets/gauge/smear/staggered_links.cpp): gauge fields of these
/// depths on the owners of blocks, and fields in host order, the configuration among them. Faces of borders come and go before the last of
/// them.
struct LinkStage {
  std::vector<int> depths;
  bool kept;  ///< whether the links that are kept are there too
};

/// In order; the host fields of the last one stay.
std::vector<LinkStage> link_stages(const RunConfig& config) {
  if (config.action == "hisq")
    return {{{1, 2, 0, 0}, false}, {{2, 0, 0}, true}};  // U, W, X, N for epsilon 0, without U once they are there
  if (config.action == "asqtad") return {{{2, 0, 0}, true}};
  return {{{0}, true}};
}

/// Bytes of a field in host order.
double host_bytes(const Box& box) { return static_cast<double>(volume(box.extents)) * HostGauge::reals_per_site * sizeof(double); }

double padded_bytes(const runtime::Block& block, const LinkStage& stage) {
  double reals = 0;
  for (const int depth : stage.depths) reals += static_cast<double>(gauge::LinkShape{block.extents, depth}.reals());
  return reals * sizeof(double);
}

/// Gauge fields of one thickness are linear in it.
PartBytes padded_part_bytes(const Coord& lattice, int direction, const LinkStage& stage) {
  Coord thin = lattice, thick = lattice;
  thin[static_cast<std::size_t>(direction)] = 1;
  thick[static_cast<std::size_t>(direction)] = 2;
  const auto bytes = [&stage](const Coord& extents) {
    runtime::Block block{};
    block.extents = extents;
    return padded_bytes(block, stage);
  };
  const double layer = bytes(thick) - bytes(thin);
  return {layer, bytes(thin) - layer};
}

/// Where every mass has an operator of its own, each in flight has links of its own: those of one are in the footprint.
void multiply_links(Footprint& bytes, const RunConfig& config) {
  for (double* part : {&bytes.links, &bytes.tables}) *part *= config.solver.in_flight;
}

/// Links in the making, and what stays of them. needs: of every GPU, then the host's.
void add_staggered_links(std::vector<MemoryNeed>& needs, const smear::Region& region, const RunConfig& config) {
  const std::size_t host = needs.size() - 1;
  const double configuration = host_bytes(region.box),
               kept_links = host_bytes(region.fat) + (config.hops_far() ? host_bytes(region.far) : 0);
  const std::vector<LinkStage> stages = link_stages(config);
  const auto bytes_of = [&](const LinkStage& stage) {
    std::vector<double> bytes(needs.size(), 0);
    for (const runtime::Block& block : region.blocks.blocks()) {
      const double padded = padded_bytes(block, stage);
      if (const auto owner = static_cast<std::size_t>(block.owner); owner < host) bytes[owner] += padded;
      bytes[host] += padded;  // for a GPU's block the copy that CPUs load and store
    }
    return bytes;
  };
  for (const LinkStage& stage : stages) {
    std::vector<double> bytes = bytes_of(stage);
    bytes[host] += configuration + (stage.kept ? kept_links : 0);
    for (std::size_t i = 0; i < needs.size(); ++i) needs[i].making_links = std::max(needs[i].making_links, bytes[i]);
  }
  needs[host].other += configuration + kept_links;
  if (config.staggered.naik_epsilon) return;
  needs[host].other += (config.solver.in_flight - 1) * kept_links;
  for (MemoryNeed& need : needs) multiply_links(need.fields, config);
  // Those for the next epsilon are made of the same.
  const std::vector<double> kept = bytes_of(stages.back());
  for (std::size_t i = 0; i < needs.size(); ++i) needs[i].fields.links += kept[i];
}

}  // namespace

namespace {

OperatorShape shape_of(const RunConfig& config) {
  return config.is_staggered() ? staggered_shape(config.solver, config.hops_far()) : wilson_shape(config.solver);
}

}  // namespace

std::vector<MemoryNeed> memory_needs(const runtime::Session& session, const runtime::Decomposition& decomposition,
                                     const RunConfig& config) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const std::string rank = job.is_distributed() ? job.name_of(job.rank()) + ", " : "";
  const bool colours = config.is_staggered();
  const std::vector<int> together = numbers_together(config);
  const int most = *std::max_element(together.begin(), together.end());
  const int in_lanes = colours ? vectors_in_lanes_for(colour_components, config.solver, together) : 1;
  const std::vector<Footprint> blocks = footprint(decomposition, config.solver, shape_of(config), together, in_lanes);
  std::vector<MemoryNeed> needs;
  for (int gpu = 0; gpu < session.gpu_count(); ++gpu)
    needs.push_back({.where = rank + session.worker(gpu).name,
                     .gpu = true,
                     .staggered = colours,
                     .fields = {},
                     .available = static_cast<double>(session.device_memory(gpu))});
  needs.push_back({.where = rank + "host", .staggered = colours, .fields = {}});
  MemoryNeed& host = needs.back();
  for (const int b : decomposition.local()) {
    const runtime::Block& block = decomposition.block(b);
    const Footprint& bytes = blocks[static_cast<std::size_t>(block.index)];
    if (block.owner < session.gpu_count()) {
      needs[static_cast<std::size_t>(block.owner)].fields += bytes;
      host.fields += host_copies(bytes, block, config.solver.in_flight * most * 2 * (colours ? colour_components : spinor_components));
    } else {
      host.fields += bytes;
    }
  }
  if (colours) {
    const double together_bytes =
        config.solver.in_flight * most * 2.0 * colour_components * sizeof(double) * (config.solver.snapshots ? 2 : 1);  // sources, copies
    host.other = static_cast<double>(volume(decomposition.part().extents)) * (colours_bytes(config) + together_bytes) + host.fields.tables;
    if (config.staggered.from_files()) {
      for (const Box& box : smear::boxes_from_files(decomposition)) host.other += host_bytes(box);
    } else {
      add_staggered_links(needs, plan_links(session, decomposition, config), config);
    }
  } else {
    host.other = host_fields_bytes(decomposition.part().extents, format::box_with_border(decomposition).extents,
                                   static_cast<int>(config.columns.size()) + config.solver.in_flight * most - 1);
  }
  if (!colours && config.solver.schwarz) {
    double threads = 0;
    for (const int worker : session.cpu_workers()) threads += static_cast<double>(session.worker(worker).team.cores().size());
    host.fields.fields += threads * wilson::schwarz_thread_bytes(config.solver.schwarz->domain);
  }
  if (!colours && config.solver.snapshots)
    host.other += static_cast<double>(volume(decomposition.part().extents)) * most * 2 * spinor_components * sizeof(double);
  // Ranks of one host look at the same number. All ranks ask, also where the host does not tell one.
  const int sharers = job.share_of("host memory").count;
  const auto free = runtime::available_host_memory();
  host.available = config.cpu_memory > 0 ? static_cast<double>(config.cpu_memory)
                   : free                ? std::max(1.0, static_cast<double>(*free) / sharers)
                                         : 0;
  std::erase_if(needs, [](const MemoryNeed& need) { return need.total() == 0; });
  return needs;
}

PartBytes staggered_part_bytes(const Coord& lattice, int direction, const RunConfig& config) {
  const std::vector<int> together = numbers_together(config);
  const std::size_t mu = static_cast<std::size_t>(direction);
  const auto of_blocks = [&](const Coord& extents, const Coord& blocks) {
    return footprint(runtime::Decomposition(extents, blocks, 1), config.solver, shape_of(config), together).front();
  };
  Coord cut{1, 1, 1, 1}, twice = lattice;
  cut[mu] = 2;
  twice[mu] *= 2;
  Footprint whole = of_blocks(lattice, {1, 1, 1, 1});
  if (!config.staggered.naik_epsilon && !config.staggered.from_files()) multiply_links(whole, config);
  PartBytes part{whole.total() / lattice[mu], of_blocks(twice, cut).faces};
  if (config.staggered.from_files()) return part;
  const std::vector<LinkStage> stages = link_stages(config);
  if (!config.staggered.naik_epsilon) {
    const PartBytes kept = padded_part_bytes(lattice, direction, stages.back());
    part.layer += kept.layer;
    part.border += kept.border;
  }
  for (const LinkStage& stage : stages) {
    const PartBytes making = padded_part_bytes(lattice, direction, stage);
    part.layer = std::max(part.layer, making.layer);
    part.border = std::max(part.border, making.border);
  }
  return part;
}

namespace {

/// Below double precision a solve holds links and vectors of both precisions, which takes more.
const char* remedy_for(const MemoryNeed& need) {
  if (need.staggered)
    return need.gpu ? "use --precision double with --links 13 or 9, fewer --nrhs, more GPUs or ranks, or --devices cpu"
                    : "use --precision double with --links 13 or 9, fewer --nrhs, fewer sources, --columns or --masses "
                      "at a time, or a machine with more memory";
  return need.gpu ? "use --precision double with --links 12 or 8, more GPUs or ranks, or on one rank --devices all without --blocks"
                  : "use --precision double with --links 12 or 8, fewer --columns at a time, more ranks, or a machine with more memory";
}

}  // namespace

void require_memory(const std::vector<MemoryNeed>& needs) {
  for (const MemoryNeed& need : needs) {
    if (need.available == 0 || need.total() <= need.available) continue;
    throw Error(ErrorKind::input, need.gpu ? "--gpu-memory" : "--cpu-memory",
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
