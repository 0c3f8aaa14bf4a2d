#include "apps/run/solve_plan.hpp"

#include "apps/run/action_memory.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/islands.hpp"
#include "apps/run/measure_owner.hpp"
#include "apps/run/memory_check.hpp"
#include "apps/run/modes_plan.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "codelets/actions/session_tuning.hpp"
#include "codelets/field/precision.hpp"
#include "codelets/lattice/block_geometry.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/multigrid/choice.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace quarkstar::app {

namespace {

template <class Unit>
Coord units(const SolverSettings& given, const Coord& lattice, Unit&& of_multigrid) {
  const SolverSettings solver = completed(given, lattice);
  if (solver.schwarz) return solver.schwarz->domain;
  return solver.multigrid ? of_multigrid(*solver.multigrid, lattice) : Coord{1, 1, 1, 1};
}

}  // namespace

Coord whole_units(const SolverSettings& settings, const Coord& lattice) { return units(settings, lattice, whole_unit); }
Coord least_units(const SolverSettings& settings, const Coord& lattice) { return units(settings, lattice, least_unit); }

std::optional<int> fewer_levels(const SolverSettings& given, const Coord& lattice,
                                const std::function<bool(const SolverSettings& fewer)>& would_do) {
  SolverSettings solver = completed(given, lattice);
  if (!solver.multigrid || solver.schwarz) return std::nullopt;
  while (--solver.multigrid->levels >= 2)
    if (would_do(solver)) return solver.multigrid->levels;
  return std::nullopt;
}

std::optional<int> levels_for_more_owners(const SolverSettings& settings, const Coord& lattice, const Coord& part, int owners,
                                          int workers) {
  if (owners >= workers) return std::nullopt;
  return fewer_levels(settings, lattice, [&](const SolverSettings& fewer) { return part[3] / whole_units(fewer, lattice)[3] > owners; });
}

Coord block_grid(const Coord& blocks, const Coord& extents, int workers, int thinnest, int whole) {
  if (blocks[0] > 0) return blocks;
  int parts = std::clamp(workers, 1, std::max(1, extents[3] / thinnest));
  while (whole > 1 && parts > 1 && extents[3] / whole % parts != 0) --parts;
  return {1, 1, 1, parts};
}

void refuse_cpus_with_blocks() {
  throw Error(ErrorKind::input, Parameter("cpu-share"), "CPUs own no blocks beside GPUs where --blocks are given",
              "leave out --blocks, use 0, or --devices cpu");
}

PlannedLattice plan_equal_parts(const runtime::Session& session, const Coord& extents, const RunConfig& config) {
  const int workers = session.block_owners();
  if (session.gpu_count() > 0 && session.options().cpu_share.value_or(0) > 0) refuse_cpus_with_blocks();
  PlannedLattice planned{runtime::Decomposition(extents,
                                                block_grid(config.blocks, extents, workers, thinnest_block(config.action->reach),
                                                           whole_units(config.solver, extents)[3]),
                                                workers),
                         {}};
  if (session.gpu_count() == 0) return planned;
  for (const runtime::Block& block : planned.decomposition.blocks())
    planned.plan.parts.push_back({block.owner, session.worker(block.owner).name, block.extents, 0});
  if (runtime::cpu_share_is_open(session.options())) planned.plan.reason = "--blocks cut for the GPUs alone";
  return planned;
}

namespace {

/// Of parts of t or z for so many GPUs: whole units, unless these are too few. A CPU takes too long for levels that are whole.
Coord units_for_gpus(const RunConfig& config, const Coord& extents, int gpus) {
  const Coord whole = whole_units(config.solver, extents);
  return std::max(extents[2] / whole[2], extents[3] / whole[3]) < gpus ? least_units(config.solver, extents) : whole;
}

}  // namespace

PlannedLattice plan_run(runtime::Session& session, const Coord& extents, const RunConfig& config) {
  const std::vector<int> together = numbers_together(config);
  const ActionKind& kind = *config.action;
  const OwnerProblem owner{kind, config.solver.precision, config.solver.link_reals, *std::max_element(together.begin(), together.end()),
                           settings_of_slices(config)};
  const int slices = kind.slices(config.settings);
  const auto speed_of = [&](int worker, const Coord& part) { return measure_owner(session, worker, part, owner); };
  if (runtime::mpi::Job::current().is_distributed()) return plan_over_ranks(session, extents, config, speed_of);
  if (session.gpu_count() == 0 || config.blocks[0] > 0) return plan_equal_parts(session, extents, config);
  const auto bytes = [&](int mu) { return part_bytes(extents, mu, config); };
  const int reach = kind.reach;
  PlanningProblem problem{.lattice = extents,
                          .slice_bytes = [&](int mu) { return bytes(mu).layer; },
                          .face_bytes =
                              [&](int mu) {
                                const auto layer = static_cast<double>(volume(extents)) / extents[static_cast<std::size_t>(mu)] / 2;
                                return reach * layer * owner.vectors * slices * static_cast<double>(kind.face.bytes(owner.precision));
                              },
                          .thin_speed = thin_speed(owner.precision),
                          .whole = units_for_gpus(config, extents, session.gpu_count())};
  problem.flops_a_site = owner.vectors * slices * kind.flops;
  problem.thinnest = reach;  // where links are smeared, more than the two layers that this needs
  problem.border_bytes = [&](int mu) { return bytes(mu).border; };
  return plan_devices(owners_of(session), session.options(), problem, [&](int worker) { return speed_of(worker, extents); });
}

namespace {

/// With config.nrhs right-hand sides together, or fewer for more islands.
PlannedSolve plan_once(runtime::Session& session, const Coord& lattice, const RunConfig& config, const CountBeside& beside) {
  std::string about_modes;
  const auto needs_of = [&](std::span<const runtime::Decomposition> islands, RunConfig& of_islands) {
    const auto all = [&](const RunConfig& placed) {
      std::vector<MemoryNeed> needs = memory_needs(session, islands, placed);
      if (beside) beside(needs, islands.front().part().extents);
      return needs;
    };
    return place_modes(session, islands, of_islands, all, &about_modes);
  };
  std::string reason;
  for (IslandPlan& shared : plan_islands(session, lattice, config)) {
    if (reason.empty()) reason = shared.reason;
    if (shared.islands.size() < 2) break;
    RunConfig of_islands = config;
    of_islands.nrhs = nrhs_on_islands(config, static_cast<int>(shared.islands.size()));
    std::vector<MemoryNeed> memory = needs_of(shared.islands, of_islands);
    if (!config.islands && (!fits_everywhere(memory) || modes_memory(of_islands) != ModesMemory::device)) {
      reason = shared.reason + "; islands that are faster would need more memory (fewer nrhs, or share = cut)";
      continue;
    }
    DevicePlan devices;
    devices.sharing = reason;
    for (const runtime::Decomposition& island : shared.islands)
      for (const runtime::Block& block : island.blocks())
        devices.parts.push_back({block.owner, session.worker(block.owner).name, block.extents, 0});
    return {{shared.islands.front(), std::move(devices)},
            std::move(shared.islands),
            std::move(memory),
            of_islands.nrhs,
            modes_memory(of_islands),
            std::move(about_modes)};
  }
  PlannedLattice where = plan_run(session, lattice, config);
  where.plan.sharing = reason;
  std::vector<runtime::Decomposition> islands{where.decomposition};
  RunConfig placed = config;
  std::vector<MemoryNeed> memory = needs_of(islands, placed);
  return {std::move(where), std::move(islands), std::move(memory), config.nrhs, modes_memory(placed), std::move(about_modes)};
}

}  // namespace

namespace {

/// Where multigrid's aggregates of aggregates are so large that some of this rank's workers own no block.
void warn_of_idle_workers(const runtime::Session& session, const RunConfig& config, const Coord& lattice, const PlannedSolve& planned) {
  if (config.blocks[0] > 0 || planned.islands.size() > 1) return;
  const runtime::Decomposition& cut = planned.where.decomposition;
  const int owners = owner_count(cut), workers = session.block_owners();
  if (const auto levels = levels_for_more_owners(config.solver, lattice, cut.part().extents, owners, workers))
    spdlog::warn(
        "{} of {} workers own blocks, which have whole units of {} sites in t for multigrid's levels; --levels {}, which has other "
        "bits, lets more own some",
        owners, workers, whole_units(config.solver, lattice)[3], *levels);
}

}  // namespace

PlannedSolve plan_solve(runtime::Session& session, RunConfig config, const Coord& lattice, const CountBeside& beside) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  job.together([&] { check_multigrid(config.solver, lattice); });
  const NamedKrylovSolver& solver = *find_krylov_solver(config.solver.solver);
  const bool fixed = job.any(config.was_given("nrhs")) || solver.mixes_vectors || solver.shifted;
  const int wanted = config.nrhs;
  std::optional<PlannedSolve> chosen, with_cpus;
  while (!chosen) {
    const bool last = fixed || config.nrhs <= 1;
    try {
      PlannedSolve plan = plan_once(session, lattice, config, beside);
      const bool all_fit = fits_everywhere(plan.memory), alone = all_fit && !job.any(plan.where.plan.short_of_memory);
      if (alone || (last && !with_cpus)) {
        if (config.nrhs != wanted && job.is_root())
          spdlog::info("{} right-hand sides are solved together, not {}: more need more memory", config.nrhs, wanted);
        chosen = std::move(plan);
        break;
      }
      if (all_fit && !with_cpus) with_cpus = std::move(plan);
    } catch (const Error&) {
      if (job.is_distributed() || (last && !with_cpus)) throw;  // there it is not of a memory that is too small
    }
    if (last) break;
    config.nrhs = (config.nrhs + 1) / 2;
  }
  if (!chosen) chosen = std::move(with_cpus);
  job.together([&] {
    for (const runtime::Decomposition& island : chosen->islands) {
      require_thick_blocks(island, config.action->reach);
      check_multigrid(config.solver, island);
    }
  });
  if (job.is_root()) warn_of_idle_workers(session, config, lattice, *chosen);
  if (job.is_root() && !chosen->about_modes.empty()) spdlog::info("{}", chosen->about_modes);
  return *std::move(chosen);
}

void let_cpus_join(runtime::Session& session, const PlannedSolve& planned) {
  session.let_cpus_join(cpus_join_gpus(session.options()) && !planned.where.plan.cpus_stay_out);
}

void tell(const runtime::Session& session, const PlannedSolve& planned, RunReport& report) {
  report.power = session.options().power;
  report.memory = planned.memory;
  report.decomposition = planned.where.decomposition.describe();
  if (planned.islands.size() > 1) report.decomposition += fmt::format(" on each of {} islands", planned.islands.size());
  const runtime::mpi::Messages* const messages = runtime::Session::current().messages();
  if (const std::string obstacle = messages != nullptr ? messages->obstacle_to_shared_sums() : ""; !obstacle.empty())
    report.decomposition += fmt::format("; sums over ranks in one step, for {}", obstacle);
  report.devices = planned.where.plan;
  report.config.nrhs = planned.nrhs;
  set_modes_memory(report.config, planned.modes_memory);
}

runtime::SessionOptions session_options(const RunConfig& config, const Coord& lattice) {
  runtime::SessionOptions options = config.session;
  options.keep_events = true;
  options.time_kernels = !config.trace.empty();
  const std::vector<int> together = numbers_together(config);
  return tuned_session(options, {lattice, config.action->components, *std::max_element(together.begin(), together.end())},
                       config.solver.tune);
}

}  // namespace quarkstar::app
