#include "apps/run/generate_run.hpp"

#include "apps/run/gauge_io.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/rank_plan.hpp"
#include "codelets/actions/cpu_kernels.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "codelets/gauge/observables.hpp"
#include "codelets/io/gauge_part.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace quarkstar::app {
namespace {

void check(const GenerateConfig& config) {
  if (std::any_of(config.lattice.begin(), config.lattice.end(), [](int extent) { return extent < 2 || extent % 2 != 0; }))
    throw Error(ErrorKind::input, Parameter("lattice"), fmt::format("{} has an odd extent", extents_text(config.lattice)),
                "use even extents of at least 2: links of one parity are updated together");
  if (config.thermalization > config.sweeps)
    throw Error(ErrorKind::input, Parameter("thermalization"),
                fmt::format("{} is more than all {} sweeps", config.thermalization, config.sweeps),
                "--sweeps counts the thermalization too");
}

/// Throws Error(environment) where the links of a GPU's blocks do not fit its memory.
void require_room(const runtime::Session& session, const gauge::GaugeField& links) {
  std::map<int, std::size_t> bytes;
  for (const runtime::Block& block : links.blocks()) bytes[block.owner] += links.shape(block).reals() * sizeof(double);
  for (const auto& [owner, wanted] : bytes) {
    if (owner >= session.gpu_count() || wanted <= session.device_memory(owner)) continue;
    throw Error(ErrorKind::environment, session.worker(owner).name,
                fmt::format("the links of its blocks take {}, {} are free", bytes_text(static_cast<double>(wanted)),
                            bytes_text(static_cast<double>(session.device_memory(owner)))),
                "use more GPUs, or --devices cpu");
  }
}

}  // namespace

Generated generate(const GenerateConfig& config, RunWatch& watch) {
  check(config);
  runtime::Session session(with_cpu_kernels(config.session, KernelTuning::known));
  return generate(session, config, watch);
}

Generated generate(runtime::Session& session, const GenerateConfig& config, RunWatch& watch) {
  check(config);
  const runtime::Team& team = session.cpu_team();
  const runtime::Decomposition parts = parts_of_links(config.lattice, config.ranks);
  const Box box = format::box_with_border(parts);
  Generated result{.gauge = {}, .part = {config.lattice, parts.part()}, .plaquettes = {}};
  if (config.start == "cold") {
    result.gauge = heatbath::cold_start(box.extents);
    result.gauge.origin = box.origin;
  } else {
    result.gauge = heatbath::hot_start(config.lattice, box, config.heatbath.seed, team);
  }
  gauge::GaugeField links(blocks_of_links(config.lattice, config.ranks, config.blocks, session.block_owners()), 1);
  require_room(session, links);
  load(links, result.gauge);
  heatbath::Heatbath chain(links, config.heatbath);
  const std::unique_ptr<RunProgress> bar = watch.progress("sweep", config.sweeps);
  for (int sweep = 0; sweep < config.sweeps; ++sweep) {
    chain.sweep(sweep);
    stop_all_if_interrupted(watch, "");
    if (sweep < config.thermalization) {
      bar->update(sweep, 0, "thermalization");
    } else {
      result.plaquettes.push_back(gauge::plaquettes(links).mean());
      bar->update(sweep, 0, fmt::format("plaquette {:.6f}", result.plaquettes.back()));
    }
  }
  exchange_border(links);  // the chain fills what it reads of it
  store(result.gauge, links);
  session.wait_all();
  return result;
}

std::string estimate_text(double mean, double error) {
  if (!(error > 0) || !std::isfinite(error)) return fmt::format("{:.6f}", mean);
  const int digits = std::max(0, 1 - static_cast<int>(std::floor(std::log10(error))));
  const double scale = std::pow(10.0, digits);
  return fmt::format("{:.{}f}({:.0f})", mean, digits, error * scale);
}

}  // namespace quarkstar::app
