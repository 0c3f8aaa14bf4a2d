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

PlannedLattice plan_solve(runtime::Session& session, const Coord& extents, const SolverSettings& solver, const Coord& blocks) {
  const int workers = session.block_owners();
  if (session.gpu_count() == 0 || blocks[0] > 0)
    return {runtime::Decomposition(extents, block_grid(blocks, extents, workers), workers), {}};
  const double bytes = wilson_footprint(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), solver).front().total();
  const PlanningProblem problem{.lattice = extents,
                                .slice_bytes = [&](int mu) { return bytes / extents[static_cast<std::size_t>(mu)]; },
                                .face_bytes =
                                    [&](int mu) {
                                      const auto layer = static_cast<double>(volume(extents)) / extents[static_cast<std::size_t>(mu)] / 2;
                                      return layer * 12 * static_cast<double>(computed_bytes(solver.precision));
                                    },
                                .thin_speed = thin_speed(solver.precision)};
  return plan_devices(owners_of(session), session.options(), problem,
                      [&](int worker) { return measure_owner(session, worker, extents, solver.precision, solver.link_reals); });
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

PlannedLattice plan_wilson(runtime::Session& session, const Coord& extents, const RunConfig& config) {
  if (runtime::mpi::Job::current().is_distributed())
    return plan_over_ranks(session, extents, config, [&](int worker, const Coord& part) {
      return measure_owner(session, worker, part, config.solver.precision, config.solver.link_reals);
    });
  return plan_solve(session, extents, config.solver, config.blocks);
}

PlannedLattice plan_staggered(runtime::Session& session, const Coord& extents, const RunConfig& config) {
  const std::vector<int> together = numbers_together(config);
  const StaggeredProblem dslash{config.hops_far(), config.solver.precision, config.solver.link_reals,
                                *std::max_element(together.begin(), together.end())};
  if (runtime::mpi::Job::current().is_distributed())
    return plan_over_ranks(session, extents, config,
                           [&](int worker, const Coord& part) { return measure_staggered_owner(session, worker, part, dslash); });
  if (session.gpu_count() == 0 || config.blocks[0] > 0) return plan_equal_parts(session, extents, config);
  const int reach = smear::longest_hop(dslash.hops_far);
  const PlanningProblem problem{.lattice = extents,
                                .slice_bytes = [&](int mu) { return staggered_part_bytes(extents, mu, config).layer; },
                                .face_bytes =
                                    [&](int mu) {
                                      const auto layer = static_cast<double>(volume(extents)) / extents[static_cast<std::size_t>(mu)] / 2;
                                      return reach * layer * dslash.vectors * staggered::ColourField::reals *
                                             static_cast<double>(computed_bytes(dslash.precision));
                                    },
                                .flops_a_site = dslash.vectors * staggered::dslash_flops(dslash.hops_far),
                                .thinnest = reach,  // more than the two layers that smearing needs
                                .border_bytes = [&](int mu) { return staggered_part_bytes(extents, mu, config).border; },
                                .thin_speed = thin_speed(dslash.precision)};
  return plan_devices(owners_of(session), session.options(), problem,
                      [&](int worker) { return measure_staggered_owner(session, worker, extents, dslash); });
}

}  // namespace quarkstar::app
