#include "apps/run/action_memory.hpp"

#include "apps/run/right_hand_sides.hpp"
#include "codelets/actions/wilson/schwarz.hpp"
#include "codelets/gauge/block_links.hpp"
#include "codelets/gauge/smear/links_file.hpp"
#include "codelets/io/gauge_part.hpp"

#include <algorithm>

namespace quarkstar::app {
namespace {

/// Bytes of links in host order.
double host_gauge_bytes(const Box& box) { return static_cast<double>(volume(box.extents)) * HostGauge::reals_per_site * sizeof(double); }

/// Of a block. kept: borders of the fields of the links that are kept.
double gauge_field_bytes(const Coord& extents, const LinkStage& stage, const std::vector<Coord>& kept) {
  double reals = 0;
  for (const int depth : stage.depths) reals += static_cast<double>(gauge::LinkShape{extents, {depth, depth, depth, depth}}.reals());
  for (const Coord& depth : kept) {
    const gauge::LinkShape shape{extents, depth};
    const auto field = static_cast<double>(shape.reals());
    reals += field;
    for (int mu = 0; mu < 4; ++mu) reals += 4 * depth[mu] * field / shape.padded(mu);  // sent and received, on both sides
  }
  return reals * sizeof(double);
}

/// Of one rank. Gauge fields of one thickness are linear in it.
PartBytes gauge_field_part_bytes(const Coord& lattice, int direction, const LinkStage& stage, bool has_long) {
  Coord thin = lattice, thick = lattice;
  thin[static_cast<std::size_t>(direction)] = 1;
  thick[static_cast<std::size_t>(direction)] = 2;
  const std::vector<Coord> kept(has_long ? 2 : 1);
  const double bytes = gauge_field_bytes(thin, stage, kept), layer = gauge_field_bytes(thick, stage, kept) - bytes;
  return {layer, bytes - layer};
}

int operators_in_flight(const RunConfig& config) { return operators_of(config).size() > 1 ? config.solver.in_flight : 1; }

/// Where every mass has an operator of its own, each in flight has links of its own: those of one are in the footprint.
void multiply_links(Footprint& bytes, const RunConfig& config) {
  for (double* part : {&bytes.links, &bytes.tables}) *part *= operators_in_flight(config);
}

/// Links in the making, and what stays of them. needs: of every GPU, then the host's.
void add_made_links(std::vector<MemoryNeed>& needs, const runtime::Decomposition& decomposition, const RunConfig& config) {
  const std::vector<LinkStage>& stages = config.action->making;
  const std::size_t host = needs.size() - 1;
  const double configuration = host_gauge_bytes(format::box_with_border(decomposition));
  std::vector<Coord> borders;
  double kept_links = 0;
  for (const bool is_long : {false, true}) {
    if (is_long && config.action->reach == 1) continue;
    borders.push_back(smear::border_of_kept(decomposition, is_long));
    kept_links += host_gauge_bytes(smear::hops_box(decomposition.part(), decomposition.lattice(), smear::longest_hop(is_long)));
  }
  const auto bytes_of = [&](const LinkStage& stage) {
    std::vector<double> bytes(needs.size(), 0);
    for (const int b : decomposition.local()) {
      const runtime::Block& block = decomposition.block(b);
      const double fields = gauge_field_bytes(block.extents, stage, borders);
      if (const auto owner = static_cast<std::size_t>(block.owner); owner < host) bytes[owner] += fields;
      bytes[host] += fields;  // for a GPU's block the copy of which CPUs store a part, where rows of sites are cut
    }
    return bytes;
  };
  for (const LinkStage& stage : stages) {
    std::vector<double> bytes = bytes_of(stage);
    bytes[host] += configuration + (stage.stored ? kept_links : 0);
    for (std::size_t i = 0; i < needs.size(); ++i) needs[i].making_links = std::max(needs[i].making_links, bytes[i]);
  }
  needs[host].other += configuration + kept_links;
  if (config.action->masses_share_links(config.settings)) return;
  needs[host].other += (operators_in_flight(config) - 1) * kept_links;
  for (MemoryNeed& need : needs) multiply_links(need.fields, config);
  // Those for the next epsilon are made of the same.
  const std::vector<double> kept = bytes_of(stages.back());
  for (std::size_t i = 0; i < needs.size(); ++i) needs[i].fields.links += kept[i];
}

}  // namespace

void add_links(std::vector<MemoryNeed>& needs, const runtime::Session& session, const runtime::Decomposition& decomposition,
               const RunConfig& config) {
  const ActionKind& kind = *config.action;
  MemoryNeed& host = needs.back();
  if (kind.has_own_links(config.settings)) {
    for (const Box& box : smear::boxes_from_files(decomposition)) host.other += host_gauge_bytes(box);
  } else if (kind.making.empty()) {
    host.other += host_gauge_bytes(format::box_with_border(decomposition));
    for (MemoryNeed& need : needs) multiply_links(need.fields, config);
  } else {
    add_made_links(needs, decomposition, config);
  }
  if (kind.term_bytes(config.settings, Precision::double_, config.solver.schur) > 0) {
    const int operators = operators_in_flight(config);
    host.other += operators * host_gauge_bytes(decomposition.part());  // as many reals as links
    const auto add = [&](MemoryNeed& need, double fields) {            // while others are solved, or before any is
      (operators > 1 ? need.fields.links : need.making_links) += fields;
    };
    for (const int b : decomposition.local()) {  // and links and term in blocks, while it is made
      const runtime::Block& block = decomposition.block(b);
      const double fields = gauge_field_bytes(block.extents, {{1, 0}, false}, {});
      if (block.owner < session.gpu_count()) add(needs[static_cast<std::size_t>(block.owner)], fields);
      add(host, fields);
    }
    host.making_links += host_gauge_bytes(format::box_with_border(decomposition)) + host_gauge_bytes(decomposition.part());
  }
  if (!config.solver.schwarz) return;
  double threads = 0;
  for (const int worker : session.cpu_workers()) threads += static_cast<double>(session.worker(worker).team.cores().size());
  host.fields.fields += threads * wilson::schwarz_thread_bytes(config.solver.schwarz->domain);
}

PartBytes part_bytes(const Coord& lattice, int direction, const RunConfig& config) {
  const ActionKind& kind = *config.action;
  const std::vector<int> together = numbers_together(config);
  const std::size_t mu = static_cast<std::size_t>(direction);
  const auto of_blocks = [&](const Coord& extents, const Coord& blocks) {
    return footprint(runtime::Decomposition(extents, blocks, 1), config.solver, operator_shape(kind, config.settings, config.solver),
                     together)
        .front();
  };
  Footprint whole = of_blocks(lattice, {1, 1, 1, 1});
  const SmearingBytes smearing = smearing_bytes(config);
  whole.links += smearing.links * static_cast<double>(volume(lattice));
  whole.fields += (contraction_bytes(config) + smearing.vectors) * static_cast<double>(volume(lattice));
  multiply_links(whole, config);
  if (kind.making.empty()) return {whole.total() / lattice[mu], 0};
  Coord cut{1, 1, 1, 1}, twice = lattice;
  cut[mu] = 2;
  twice[mu] *= 2;
  PartBytes part{whole.total() / lattice[mu], of_blocks(twice, cut).faces};
  if (kind.has_own_links(config.settings)) return part;
  if (!kind.masses_share_links(config.settings)) {
    const PartBytes kept = gauge_field_part_bytes(lattice, direction, kind.making.back(), kind.reach > 1);
    part.layer += kept.layer;
    part.border += kept.border;
  }
  for (const LinkStage& stage : kind.making) {
    const PartBytes making = gauge_field_part_bytes(lattice, direction, stage, kind.reach > 1);
    part.layer = std::max(part.layer, making.layer);
    part.border = std::max(part.border, making.border);
  }
  return part;
}

}  // namespace quarkstar::app
