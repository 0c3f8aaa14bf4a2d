#include "apps/solve_plan.hpp"

#include "apps/measure_owner.hpp"
#include "codelets/lattice/precision.hpp"
#include "solvers/footprint.hpp"

#include <algorithm>

namespace quarkstar::app {

Coord block_grid(const Coord& blocks, const Coord& extents, int workers, int hop) {
  if (blocks[0] > 0) return blocks;
  return {1, 1, 1, std::clamp(workers, 1, std::max(1, extents[3] / std::max(2, hop)))};
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

}  // namespace quarkstar::app
