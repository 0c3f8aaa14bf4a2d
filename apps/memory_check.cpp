#include "apps/memory_check.hpp"

#include "apps/parse.hpp"
#include "codelets/lattice/host_gauge.hpp"
#include "runtime/error.hpp"
#include "runtime/memory.hpp"

#include <fmt/format.h>

namespace quarkstar::app {

std::vector<MemoryNeed> memory_needs(const runtime::Session& session, const runtime::Decomposition& decomposition, const RunConfig& config) {
  const std::vector<Footprint> blocks = wilson_footprint(decomposition, config.solver);
  std::vector<MemoryNeed> needs;
  for (int gpu = 0; gpu < session.gpu_count(); ++gpu)
    needs.push_back({.where = session.worker(gpu).name, .gpu = true, .fields = {}, .available = static_cast<double>(session.device_memory(gpu))});
  MemoryNeed host{.where = "host", .fields = {}};
  for (const runtime::Block& block : decomposition.blocks()) {
    const Footprint& bytes = blocks[static_cast<std::size_t>(block.index)];
    if (block.owner < session.gpu_count()) {
      needs[static_cast<std::size_t>(block.owner)].fields += bytes;
      host.fields += host_copies(bytes, block);
    } else {
      host.fields += bytes;
    }
  }
  std::erase_if(needs, [](const MemoryNeed& need) { return need.fields.total() == 0; });
  host.other = host_fields_bytes(decomposition.lattice(), static_cast<int>(config.columns.size()));
  const double held = static_cast<double>(volume(decomposition.lattice())) * HostGauge::reals_per_site * sizeof(double);
  const auto free = runtime::available_host_memory();
  host.available = config.cpu_memory > 0 ? static_cast<double>(config.cpu_memory) : free ? static_cast<double>(*free) + held : 0;
  needs.push_back(host);
  return needs;
}

void require_memory(const std::vector<MemoryNeed>& needs) {
  for (const MemoryNeed& need : needs) {
    if (need.available == 0 || need.total() <= need.available) continue;
    throw Error(ErrorKind::input, need.gpu ? "--gpu-memory" : "--cpu-memory",
                fmt::format("this solve needs {} of memory on {}, {} are available", bytes_text(need.total()), need.where,
                            bytes_text(need.available)),
                need.gpu ? "use --precision single or half, --links 12, more GPUs, or --devices all without --blocks"
                         : "use --precision single or half, --links 12, fewer --columns at a time, or a machine with more memory");
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
