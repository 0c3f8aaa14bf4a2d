#include "apps/run/solve_plan.hpp"

#include "apps/run/measure_owner.hpp"
#include "apps/run/memory_check.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/staggered_batches.hpp"
#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/field/precision.hpp"
#include "codelets/io/gauge_part.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/footprint.hpp"

#include <algorithm>

namespace quarkstar::app {

Coord block_grid(const Coord& blocks, const Coord& extents, int workers, int thinnest) {
  if (blocks[0] > 0) return blocks;
  return {1, 1, 1, std::clamp(workers, 1, std::max(1, extents[3] / thinnest))};
}

void refuse_cpus_with_blocks() {
  throw Error(ErrorKind::input, "--cpu-share", "CPUs own no blocks beside GPUs where --blocks are given",
              "leave out --blocks, use 0, or --devices cpu");
}

PlannedLattice plan_equal_parts(const runtime::Session& session, const Coord& extents, const RunConfig& config) {
  const int workers = session.block_owners();
  if (session.gpu_count() > 0 && session.options().cpu_share.value_or(0) > 0) refuse_cpus_with_blocks();
  PlannedLattice planned{
      runtime::Decomposition(extents, block_grid(config.blocks, extents, workers, thinnest_block(config.hops_far())), workers), {}};
  if (session.gpu_count() == 0) return planned;
  for (const runtime::Block& block : planned.decomposition.blocks())
    planned.plan.parts.push_back({block.owner, session.worker(block.owner).name, block.extents, 0});
  if (runtime::cpu_share_is_open(session.options())) planned.plan.reason = "--blocks cut for the GPUs alone";
  return planned;
}

namespace {

smear::Border border_of_action(const RunConfig& config) {
  if (config.action == "hisq") return smear::hisq_border;
  return config.action == "asqtad" ? smear::asqtad_border : smear::naive_border;
}

}  // namespace

smear::Region plan_links(const runtime::Session& session, const runtime::Decomposition& decomposition, const RunConfig& config) {
  if (!decomposition.is_distributed()) return decomposition;
  const Coord& lattice = decomposition.lattice();
  const smear::Border border = border_of_action(config);
  const Coord extents = smear::thin_links_box(decomposition.part(), lattice, border).extents;
  const int workers = session.block_owners();
  return {lattice, decomposition.part(), border, block_grid({}, extents, workers), workers};
}

Box box_to_read(const runtime::Decomposition& decomposition, const RunConfig& config) {
  if (!config.is_staggered()) return format::box_with_border(decomposition);
  return smear::thin_links_box(decomposition.part(), decomposition.lattice(), border_of_action(config));
}

namespace {

/// Bytes of the solve itself in a layer of the lattice, and of its faces.
PartBytes wilson_part_bytes(const Coord& extents, int mu, const RunConfig& config, const std::vector<int>& together) {
  const double bytes =
      footprint(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), config.solver, wilson_shape(config.solver), together).front().total();
  return {bytes / extents[static_cast<std::size_t>(mu)], 0};
}

}  // namespace

PlannedLattice plan_run(runtime::Session& session, const Coord& extents, const RunConfig& config) {
  const std::vector<int> together = numbers_together(config);
  const bool staggered = config.is_staggered();
  const OwnerProblem owner{config.action, config.solver.precision, config.solver.link_reals,
                           *std::max_element(together.begin(), together.end())};
  const auto speed_of = [&](int worker, const Coord& part) { return measure_owner(session, worker, part, owner); };
  if (runtime::mpi::Job::current().is_distributed()) return plan_over_ranks(session, extents, config, speed_of);
  if (session.gpu_count() == 0 || config.blocks[0] > 0) return plan_equal_parts(session, extents, config);
  const auto part_bytes = [&](int mu) {
    return staggered ? staggered_part_bytes(extents, mu, config) : wilson_part_bytes(extents, mu, config, together);
  };
  const int reach = staggered ? smear::longest_hop(config.hops_far()) : 1, face_reals = staggered ? 2 * colour_components : 12;
  PlanningProblem problem{.lattice = extents,
                          .slice_bytes = [&](int mu) { return part_bytes(mu).layer; },
                          .face_bytes =
                              [&](int mu) {
                                const auto layer = static_cast<double>(volume(extents)) / extents[static_cast<std::size_t>(mu)] / 2;
                                return reach * layer * owner.vectors * face_reals * static_cast<double>(computed_bytes(owner.precision));
                              },
                          .thin_speed = thin_speed(owner.precision)};
  problem.flops_a_site = owner.vectors * (staggered ? staggered::dslash_flops(config.hops_far()) : 1320);
  if (staggered) {
    problem.thinnest = reach;  // more than the two layers that smearing needs
    problem.border_bytes = [&](int mu) { return part_bytes(mu).border; };
  }
  return plan_devices(owners_of(session), session.options(), problem, [&](int worker) { return speed_of(worker, extents); });
}

}  // namespace quarkstar::app
