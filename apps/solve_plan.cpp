#include "apps/solve_plan.hpp"

#include "apps/measure_owner.hpp"
#include "apps/memory_check.hpp"
#include "apps/staggered_batches.hpp"
#include "codelets/lattice/format/gauge_part.hpp"
#include "codelets/lattice/precision.hpp"
#include "codelets/staggered/dslash.hpp"
#include "runtime/error.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/rank_grid.hpp"
#include "solvers/footprint.hpp"

#include <fmt/format.h>

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
  const PlanningProblem problem{
      .lattice = extents,
      .slice_bytes = [&](int mu) { return bytes / extents[static_cast<std::size_t>(mu)]; },
      .face_bytes = [&](int mu) {
        const auto layer = static_cast<double>(volume(extents)) / extents[static_cast<std::size_t>(mu)] / 2;
        return layer * 12 * static_cast<double>(computed_bytes(solver.precision));
      }};
  return plan_devices(owners_of(session), session.options(), problem, [&](int worker) {
    return measure_owner(session, worker, extents, solver.precision, solver.link_reals);
  });
}

namespace {

runtime::Decomposition cut_over_ranks(const Coord& extents, const RunConfig& config, const runtime::Session& session) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const int workers = session.block_owners();
  double bandwidth = 0;
  for (int w = 0; w < workers; ++w) bandwidth += session.worker(w).bandwidth_gbs;
  const std::vector<double> bandwidths = job.gather(bandwidth);
  const runtime::RankGrid ranks = runtime::mpi::make_rank_grid(extents, config.ranks, bandwidths, job.rank(), config.hops_far() ? thinnest_block(config.hops_far()) : 1);
  // All ranks cut their parts alike, so that the blocks of the lattice are a grid.
  const auto most = static_cast<int>(job.combined(static_cast<std::uint64_t>(workers), runtime::mpi::Combine::maximum));
  Coord blocks{}, thinnest{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    thinnest[mu] = extents[mu] / ranks.grid[mu];
    if (config.blocks[mu] % ranks.grid[mu] != 0)
      throw Error(ErrorKind::input, "--blocks",
                  fmt::format("{} blocks in {} on {} ranks", config.blocks[mu], "xyzt"[mu], ranks.grid[mu]),
                  "give a multiple of --ranks in every direction");
    blocks[mu] = config.blocks[mu] / ranks.grid[mu];
  }
  return {extents, ranks, block_grid(blocks, thinnest, most, thinnest_block(config.hops_far())), workers};
}

}  // namespace

PlannedLattice plan_equal_parts(const runtime::Session& session, const Coord& extents, const RunConfig& config) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const int workers = session.block_owners();
  if (job.any(session.gpu_count() > 0) && session.options().cpu_share.value_or(0) > 0)
    throw Error(ErrorKind::input, "--cpu-share", "CPUs own no blocks beside GPUs here", "use 0, one rank without --blocks, or --devices cpu");
  PlannedLattice planned{job.is_distributed() ? cut_over_ranks(extents, config, session)
                                              : runtime::Decomposition(extents, block_grid(config.blocks, extents, workers, thinnest_block(config.hops_far())), workers),
                         {}};
  if (session.gpu_count() == 0) return planned;
  for (const int b : planned.decomposition.local()) {
    const runtime::Block& block = planned.decomposition.block(b);
    planned.plan.parts.push_back({block.owner, session.worker(block.owner).name, block.extents, 0});
  }
  if (runtime::cpu_share_is_open(session.options()))
    planned.plan.reason = job.is_distributed() ? "several ranks cut for the GPUs alone" : "--blocks cut for the GPUs alone";
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
  if (runtime::mpi::Job::current().is_distributed()) return plan_equal_parts(session, extents, config);
  return plan_solve(session, extents, config.solver, config.blocks);
}

PlannedLattice plan_staggered(runtime::Session& session, const Coord& extents, const RunConfig& config) {
  if (runtime::mpi::Job::current().is_distributed() || session.gpu_count() == 0 || config.blocks[0] > 0)
    return plan_equal_parts(session, extents, config);
  const std::vector<int> together = numbers_together(config);
  const StaggeredProblem dslash{config.hops_far(), config.solver.precision, config.solver.link_reals, *std::max_element(together.begin(), together.end())};
  const int reach = smear::longest_hop(dslash.hops_far);
  const PlanningProblem problem{
      .lattice = extents,
      .slice_bytes = [&](int mu) { return staggered_part_bytes(extents, mu, config).layer; },
      .face_bytes = [&](int mu) {
        const auto layer = static_cast<double>(volume(extents)) / extents[static_cast<std::size_t>(mu)] / 2;
        return reach * layer * dslash.vectors * staggered::ColourField::reals * static_cast<double>(computed_bytes(dslash.precision));
      },
      .flops_a_site = dslash.vectors * staggered::dslash_flops(dslash.hops_far),
      .thinnest = reach,  // more than the two layers that smearing needs
      .border_bytes = [&](int mu) { return staggered_part_bytes(extents, mu, config).border; }};
  return plan_devices(owners_of(session), session.options(), problem,
                      [&](int worker) { return measure_staggered_owner(session, worker, extents, dslash); });
}

}  // namespace quarkstar::app
