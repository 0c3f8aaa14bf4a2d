#include "apps/memory_check.hpp"

#include "apps/parse.hpp"
#include "codelets/lattice/format/gauge_part.hpp"
#include "codelets/lattice/host_spinor.hpp"
#include "runtime/error.hpp"
#include "runtime/memory.hpp"
#include "runtime/mpi/job.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::app {

namespace {

/// What comes to the root to be written: the whole columns.
double gathered_bytes(const runtime::Decomposition& decomposition, const RunConfig& config) {
  if (!decomposition.is_distributed() || !runtime::mpi::Job::current().is_root() || config.out.empty()) return 0;
  return static_cast<double>(volume(decomposition.lattice())) * static_cast<double>(config.columns.size()) * 2 * HostSpinor::components * sizeof(double);
}

}  // namespace

std::vector<MemoryNeed> memory_needs(const runtime::Session& session, const runtime::Decomposition& decomposition, const RunConfig& config) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const std::string rank = job.is_distributed() ? job.name_of(job.rank()) + ", " : "";
  const std::vector<Footprint> blocks = wilson_footprint(decomposition, config.solver);
  std::vector<MemoryNeed> needs;
  for (int gpu = 0; gpu < session.gpu_count(); ++gpu)
    needs.push_back({.where = rank + session.worker(gpu).name, .gpu = true, .fields = {}, .available = static_cast<double>(session.device_memory(gpu))});
  MemoryNeed host{.where = rank + "host", .fields = {}};
  for (const int b : decomposition.local()) {
    const runtime::Block& block = decomposition.block(b);
    const Footprint& bytes = blocks[static_cast<std::size_t>(block.index)];
    if (block.owner < session.gpu_count()) {
      needs[static_cast<std::size_t>(block.owner)].fields += bytes;
      host.fields += host_copies(bytes, block);
    } else {
      host.fields += bytes;
    }
  }
  std::erase_if(needs, [](const MemoryNeed& need) { return need.fields.total() == 0; });
  host.other = host_fields_bytes(decomposition.part().extents, format::box_with_border(decomposition).extents, static_cast<int>(config.columns.size())) +
               gathered_bytes(decomposition, config);
  // Ranks of one host look at the same number.
  const auto free = runtime::available_host_memory();
  host.available = config.cpu_memory > 0 ? static_cast<double>(config.cpu_memory)
                   : free                ? std::max(1.0, static_cast<double>(*free) / job.share_of("host memory").count)
                                         : 0;
  needs.push_back(host);
  return needs;
}

void require_memory(const std::vector<MemoryNeed>& needs) {
  for (const MemoryNeed& need : needs) {
    if (need.available == 0 || need.total() <= need.available) continue;
    throw Error(ErrorKind::input, need.gpu ? "--gpu-memory" : "--cpu-memory",
                fmt::format("this solve needs {} of memory on {}, {} are available", bytes_text(need.total()), need.where,
                            bytes_text(need.available)),
                need.gpu ? "use --precision single or half, --links 12, more GPUs or ranks, or on one rank --devices all without --blocks"
                         : "use --precision single or half, --links 12, fewer --columns at a time, more ranks, or a machine with more memory");
  }
}

std::string memory_text(const MemoryNeed& need) {
  std::string text = fmt::format("{}: {}", need.where, bytes_text(need.total()));
  if (need.available > 0) text += fmt::format(" of {}", bytes_text(need.available));
  text += fmt::format(" (links {}, spinors {}, faces {}, tables {}", bytes_text(need.fields.links), bytes_text(need.fields.spinors),
                      bytes_text(need.fields.faces), bytes_text(need.fields.tables));
  if (need.other > 0) text += fmt::format(", configuration and columns {}", bytes_text(need.other));
  return text + ")";
}

}  // namespace quarkstar::app
