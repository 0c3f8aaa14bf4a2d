#include "apps/run/rank_plan.hpp"

#include "apps/run/solve_plan.hpp"
#include "codelets/actions/action_kind.hpp"
#include "runtime/cut/proportional_cut.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace quarkstar::app {
namespace {

using runtime::mpi::Job;
using runtime::mpi::PartLimits;
constexpr std::size_t time_direction = 3;

double cpu_share_of(const runtime::Session& session) { return session.options().cpu_share.value_or(0); }

/// Parts keep off the domains and aggregates of a preconditioner. Those that do not fit the lattice are refused elsewhere.
PartLimits limits_of(const Coord& extents, const RunConfig& config, const Coord& whole) {
  PartLimits limits{.thinnest = config.action->reach};
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (whole[mu] > 1 && extents[mu] % whole[mu] == 0) limits.multiple[mu] = whole[mu];
  return limits;
}

struct LimitedGrid {
  runtime::RankGrid grid;
  PartLimits limits;
};

/// In whole units, or where there are too many ranks for these in the least ones. Where the levels of multigrid do not let that be either,
/// the error says so.
LimitedGrid grid_for(const Coord& extents, const RunConfig& config, const std::vector<double>& speeds) {
  const auto make = [&](const Coord& unit) -> LimitedGrid {
    const PartLimits limits = limits_of(extents, config, unit);
    return {runtime::mpi::make_rank_grid(extents, config.ranks, speeds, Job::current().rank(), limits), limits};
  };
  const auto can_be = [&](const Coord& unit) {
    try {
      make(unit);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  const Coord whole = whole_units(config.solver, extents), least = least_units(config.solver, extents);
  if (least != whole && !can_be(whole) && can_be(least)) return make(least);
  try {
    return make(whole);
  } catch (const Error&) {
    const auto levels =
        fewer_levels(config.solver, extents, [&](const SolverSettings& fewer) { return can_be(least_units(fewer, extents)); });
    if (!levels) throw;
    throw Error(
        ErrorKind::input, Parameter("levels"),
        fmt::format("{} ranks{} are too many for a lattice of {} with these levels of multigrid: parts are whole numbers of {} sites",
                    speeds.size(), config.ranks ? fmt::format(" in a grid of {}", fmt::join(*config.ranks, "x")) : "",
                    fmt::join(extents, "x"), fmt::join(least, "x")),
        fmt::format("give --levels {}, which has other bits, or start fewer ranks", *levels));
  }
}

/// Workers that own blocks, as a text that is equal on ranks which may be expected to be equally fast.
std::string devices_of(const runtime::Session& session) {
  std::string text = fmt::format("CPU share {}", cpu_share_of(session));
  const int owners = cpu_share_of(session) > 0 ? static_cast<int>(session.workers().size()) : session.block_owners();
  for (int id = 0; id < owners; ++id) {
    const runtime::Worker& worker = session.worker(id);
    text += worker.kind == runtime::Worker::Kind::cuda
                ? fmt::format("; {}", runtime::gpus().at(static_cast<std::size_t>(worker.device)).name)
                : fmt::format("; {} threads of {}", worker.team.threads(), session.topology().cpu_model());
  }
  return text;
}

/// GFLOP/s of this rank: its owners' together, or what the slower of CPUs and GPUs leaves of it where they share the part as asked for.
double measure_rank(runtime::Session& session, const Coord& part, const MeasureOnPart& measure) {
  double gpus = 0, cpus = 0;
  const double share = cpu_share_of(session);
  for (int id = 0; id < session.gpu_count(); ++id) gpus += measure(id, part);
  if (session.gpu_count() > 0 && share <= 0) return gpus;
  for (const int id : session.cpu_workers()) cpus += measure(id, part);
  return session.gpu_count() == 0 ? cpus : 1 / std::max(share / cpus, (1 - share) / gpus);
}

/// A lattice of about the size of every rank's part.
Coord typical_part(const runtime::RankGrid& equal) {
  Coord part{};
  for (std::size_t mu = 0; mu < 4; ++mu) part[mu] = (equal.slabs[mu].front() + 1) / 2 * 2;
  return part;
}

std::vector<double> speeds_of_ranks(runtime::Session& session, const Coord& extents, const RunConfig& config,
                                    const MeasureOnPart& measure) {
  Job& job = Job::current();
  const RankWeights& weights = config.rank_weights;
  const std::vector<double> equal(static_cast<std::size_t>(job.size()), 1.0);
  if (weights.kind == RankWeights::Kind::equal) return equal;
  if (weights.kind == RankWeights::Kind::given) return weights.given;
  if (weights.kind == RankWeights::Kind::automatic) {
    const std::vector<std::string> devices = job.gather_text(devices_of(session));
    if (std::all_of(devices.begin(), devices.end(), [&](const std::string& text) { return text == devices.front(); })) return equal;
  }
  const Coord part = typical_part(grid_for(extents, config, equal).grid);
  double mine = 0;
  job.barrier();  // ranks of one host share its memory's bandwidth, as they will in the solve
  job.together([&] { mine = measure_rank(session, part, measure); });
  const std::vector<double> speeds = job.gather(mine);
  constexpr std::size_t legible = 16;
  if (job.is_root())
    spdlog::info("measured speeds of the ranks: {:.3g}{} GFLOP/s",
                 fmt::join(std::span(speeds).first(std::min(legible, speeds.size())), ", "), speeds.size() > legible ? ", ..." : "");
  return speeds;
}

std::vector<int> equal_parts(int extent, int count, int thinnest, int multiple) {
  if (count == 1) return {extent};
  return runtime::parts_for_all(extent, std::vector<double>(static_cast<std::size_t>(count), 1.0), thinnest, multiple);
}

/// As many parts of a slab as --blocks asks for.
std::vector<int> parts_as_asked(std::size_t mu, int extent, int count, const PartLimits& limits) {
  const int multiple = limits.unit(mu);
  std::vector<int> parts = equal_parts(extent, count, limits.thinnest, multiple);
  if (parts.empty())
    throw Error(ErrorKind::input, Parameter("blocks"),
                fmt::format("cannot cut {} = {} of a rank's part into {} parts of {} sites or more", "xyzt"[mu], extent, count,
                            std::max(limits.thinnest, multiple)),
                "give fewer blocks in that direction, or fewer ranks");
  return parts;
}

/// Blocks of each rank in each direction, zeros where nothing was asked for.
Coord blocks_of_rank(const Coord& blocks, const Coord& ranks) {
  Coord of_rank{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (blocks[mu] % ranks[mu] != 0)
      throw Error(ErrorKind::input, Parameter("blocks"), fmt::format("{} blocks in {} on {} ranks", blocks[mu], "xyzt"[mu], ranks[mu]),
                  "give a multiple of --ranks in every direction");
    of_rank[mu] = blocks[mu] / ranks[mu];
  }
  return of_rank;
}

runtime::Decomposition cut_over_ranks(runtime::Session& session, const Coord& extents, const RunConfig& config,
                                      const MeasureOnPart& measure) {
  Job& job = Job::current();
  const std::vector<double> speeds = speeds_of_ranks(session, extents, config, measure);
  const auto [ranks, limits] = grid_for(extents, config, speeds);
  const Coord asked = blocks_of_rank(config.blocks, ranks.grid);
  runtime::SlabCuts cuts;
  for (std::size_t mu = 0; mu < time_direction; ++mu)
    for (const int slab : ranks.slabs[mu]) cuts[mu].push_back(parts_as_asked(mu, slab, std::max(1, asked[mu]), limits));

  const RankOwners mine{session.gpu_count(), static_cast<int>(session.cpu_workers().size())};
  const std::vector<RankOwners> owners = job.gather(mine);
  std::vector<SlabBlocks> slabs;
  for (std::size_t k = 0; k < ranks.slabs[time_direction].size(); ++k) {
    const int extent = ranks.slabs[time_direction][k];
    std::vector<RankOwners> of_slab;
    for (int r = 0; r < job.size(); ++r)
      if (coordinates(r, ranks.grid)[time_direction] == static_cast<int>(k)) of_slab.push_back(owners[static_cast<std::size_t>(r)]);
    slabs.push_back(asked[time_direction] > 0
                        ? SlabBlocks{parts_as_asked(time_direction, extent, asked[time_direction], limits), 0}
                        : blocks_of_slab(extent, of_slab, cpu_share_of(session), thinnest_block(config.action->reach), limits));
    cuts[time_direction].push_back(slabs.back().extents);
  }
  const Coord place = coordinates(job.rank(), ranks.grid);
  const SlabBlocks& blocks = slabs[static_cast<std::size_t>(place[time_direction])];
  if (asked[time_direction] == 0)
    return {extents, cuts, job.rank(), [&](const Coord& position) { return blocks.worker_of(position[time_direction], mine); }};
  return {extents, cuts, job.rank(), session.block_owners()};
}

/// Whether ranks share one lattice: not those of a job that does not exist.
bool ranks_share() { return Job::current().is_distributed() && !Job::current().is_fake(); }

runtime::RankGrid grid_for_links(const Coord& lattice, const std::optional<Coord>& ranks, int thinnest) {
  Job& job = Job::current();
  require_ranks(ranks, {}, job.size());
  const std::vector<double> alike(static_cast<std::size_t>(job.size()), 1.0);
  return runtime::mpi::make_rank_grid(lattice, ranks, alike, job.rank(), {.thinnest = thinnest});
}

}  // namespace

runtime::Decomposition parts_of_links(const Coord& lattice, const std::optional<Coord>& ranks, int thinnest) {
  if (!ranks_share()) return blocks_of_links(lattice, ranks, {1, 1, 1, 1}, 1, thinnest);
  return {lattice, grid_for_links(lattice, ranks, thinnest), {1, 1, 1, 1}, 1};
}

runtime::Decomposition blocks_of_links(const Coord& lattice, const std::optional<Coord>& ranks, const Coord& blocks, int workers,
                                       int thinnest) {
  if (!ranks_share()) {
    require_ranks(ranks, {}, 1);
    return {lattice, block_grid(blocks, lattice, workers), workers};
  }
  const runtime::RankGrid grid = grid_for_links(lattice, ranks, thinnest);
  const auto most = static_cast<int>(Job::current().combined(static_cast<std::uint64_t>(workers), runtime::mpi::Combine::maximum));
  const std::vector<int>& slabs = grid.slabs[time_direction];
  const Coord thin{lattice[0], lattice[1], lattice[2], *std::min_element(slabs.begin(), slabs.end())};
  return {lattice, grid, block_grid(blocks_of_rank(blocks, grid.grid), thin, most, std::max(2, thinnest)), workers};
}

int SlabBlocks::worker_of(int number, const RankOwners& rank) const {
  const auto spread = [](int i, int blocks, int workers) { return static_cast<int>(std::int64_t{i} * workers / blocks); };
  const int count = static_cast<int>(extents.size());
  if (rank.gpus == 0) return spread(number, count, rank.cpus);
  if (on_gpus == 0) return spread(number, count, rank.gpus);
  return number < on_gpus ? spread(number, on_gpus, rank.gpus) : rank.gpus + spread(number - on_gpus, count - on_gpus, rank.cpus);
}

std::vector<int> parts_up_to(int extent, int wanted, int thick, int thinnest, int multiple) {
  const int least = (thick + multiple - 1) / multiple * multiple;
  return equal_parts(extent, std::clamp(wanted, 1, std::max(1, extent / least)), thinnest, multiple);
}

SlabBlocks blocks_of_slab(int extent, const std::vector<RankOwners>& ranks, double cpu_share, int thick, const PartLimits& limits) {
  const int multiple = limits.multiple[time_direction];
  const auto with_gpus = std::find_if(ranks.begin(), ranks.end(), [](const RankOwners& rank) { return rank.gpus > 0; });
  if (cpu_share <= 0 || with_gpus == ranks.end()) {
    int most = 1;
    for (const RankOwners& rank : ranks) most = std::max(most, rank.gpus > 0 ? rank.gpus : rank.cpus);
    return {parts_up_to(extent, most, thick, limits.thinnest, multiple), 0};
  }
  int on_cpus = 0;
  double error = 0;
  for (const int lanes : {4, 2, 1}) {
    const int unit = std::lcm(lanes, multiple), first = (limits.thinnest + unit - 1) / unit * unit;
    if (extent % unit != 0 || extent < 2 * first) continue;
    const int layers = std::clamp(unit * static_cast<int>(std::lround(cpu_share * extent / unit)), first, extent - first);
    const double miss = std::abs(static_cast<double>(layers) / extent - cpu_share);
    constexpr double close_enough = 0.1;
    if (on_cpus > 0 && (error <= close_enough * cpu_share || miss >= error)) continue;
    on_cpus = layers;
    error = miss;
  }
  if (on_cpus == 0)
    throw Error(ErrorKind::input, Parameter("cpu-share"),
                fmt::format("{} sites in t of a rank's part cannot be cut in two parts of {} at least", extent,
                            std::max(limits.thinnest, multiple)),
                "use 0, --devices cpu, or --ranks with fewer parts in t");
  SlabBlocks blocks{parts_up_to(extent - on_cpus, with_gpus->gpus, thick, limits.thinnest, multiple), 0};
  blocks.on_gpus = static_cast<int>(blocks.extents.size());
  const std::vector<int> rest = parts_up_to(on_cpus, with_gpus->cpus, thick, limits.thinnest, multiple);
  blocks.extents.insert(blocks.extents.end(), rest.begin(), rest.end());
  return blocks;
}

void require_ranks(const std::optional<Coord>& ranks, const RankWeights& weights, int size) {
  const std::string started = size == 1 ? "1 rank was started" : fmt::format("{} ranks were started", size);
  if (ranks && volume(*ranks) != size)
    throw Error(ErrorKind::input, Parameter("ranks"),
                fmt::format("{} is a grid of {} ranks, but {}", fmt::join(*ranks, ","), volume(*ranks), started),
                fmt::format("start with `mpirun -n {}`, or leave it out", volume(*ranks)));
  if (const std::size_t given = weights.given.size(); weights.kind == RankWeights::Kind::given && given != static_cast<std::size_t>(size))
    throw Error(ErrorKind::input, Parameter("rank-weights"), fmt::format("{} weights, but {}", given, started),
                fmt::format("start with `mpirun -n {}`, or give one for each rank, or auto, equal or measured", given));
}

PlannedLattice plan_over_ranks(runtime::Session& session, const Coord& extents, const RunConfig& config, const MeasureOnPart& measure) {
  require_ranks(config.ranks, config.rank_weights, Job::current().size());
  const bool gpus = Job::current().any(session.gpu_count() > 0);  // all ranks ask
  if (cpu_share_of(session) > 0 && gpus) {
    if (config.blocks[0] > 0) refuse_cpus_with_blocks();
    if (cpu_share_of(session) >= 1)
      throw Error(ErrorKind::input, Parameter("cpu-share"), "on several ranks a part of the lattice stays with the GPUs",
                  "use --devices cpu, or less than 100%");
  }
  PlannedLattice planned{cut_over_ranks(session, extents, config, measure), {}};
  if (session.gpu_count() == 0) return planned;
  const auto sites = static_cast<double>(volume(planned.decomposition.part().extents));
  for (const int b : planned.decomposition.local()) {
    const runtime::Block& block = planned.decomposition.block(b);
    planned.plan.parts.push_back({block.owner, session.worker(block.owner).name, block.extents, 0});
    if (block.owner >= session.gpu_count()) planned.plan.cpu_share += static_cast<double>(volume(block.extents)) / sites;
  }
  if (cpu_share_of(session) > 0) planned.plan.reason = "as asked for";
  else if (runtime::cpu_share_is_open(session.options())) planned.plan.reason = "several ranks cut for the GPUs alone";
  return planned;
}

}  // namespace quarkstar::app
