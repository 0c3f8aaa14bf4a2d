#include "apps/run/islands.hpp"

#include "apps/run/device_plan.hpp"
#include "apps/run/island_forecast.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "apps/run/solve_plan.hpp"
#include "codelets/field/precision.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/footprint.hpp"
#include "solvers/krylov/krylov.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace quarkstar::app {
namespace {

[[noreturn]] void refuse_islands(const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::input, Parameter("share"), what, remedy);
}

/// Workers that may be islands: the owners of blocks, and CPUs beside GPUs where they were asked for.
std::vector<int> workers_of(const runtime::Session& session) {
  const bool all = session.gpu_count() == 0 || runtime::cpus_join_gpus(session.options());
  std::vector<int> workers(static_cast<std::size_t>(all ? static_cast<int>(session.workers().size()) : session.block_owners()));
  std::iota(workers.begin(), workers.end(), 0);
  return workers;
}

bool is_gpu(const runtime::Session& session, int worker) { return session.worker(worker).kind == runtime::Worker::Kind::cuda; }

/// Why there cannot be islands; "" where there can.
std::string obstacle(const runtime::Session& session, const RunConfig& config) {
  if (runtime::mpi::Job::current().is_distributed()) return "the ranks of a job cut the lattice";
  if (operators_of(config).size() > 1) return "each mass has links of its own";
  if (session.options().policy == "adaptive") return "the policy adaptive cuts the lattice anew";
  if (config.bound) return "bounds are of one solve at a time";
  if (!config.graph.empty()) return "the graph is of one solve";
  if (config.solver.recycle > 0) return "each solve begins with the modes of those before it";
  return "";
}

/// The same cut on other workers: what was worker i's is workers[i]'s.
runtime::Decomposition on(const std::vector<int>& workers, const runtime::Decomposition& cut) {
  std::array<std::vector<int>, 4> extents;
  std::vector<int> owners;
  for (const runtime::Block& block : cut.blocks()) {
    owners.push_back(workers[static_cast<std::size_t>(block.owner)]);
    for (std::size_t mu = 0; mu < 4; ++mu)
      if (block.position[mu] == static_cast<int>(extents[mu].size())) extents[mu].push_back(block.extents[mu]);
  }
  return {cut.lattice(), extents, owners};
}

/// The lattice on consecutive workers, nearly as many for each of so many islands.
std::vector<runtime::Decomposition> islands_of(const runtime::Session& session, const std::vector<int>& workers, int count,
                                               const Coord& lattice, const RunConfig& config) {
  std::vector<runtime::Decomposition> islands;
  const auto all = static_cast<int>(workers.size());
  for (int i = 0; i < count; ++i) {
    const int begin = i * all / count, end = (i + 1) * all / count;
    const std::vector<int> own(workers.begin() + begin, workers.begin() + end);
    if (std::any_of(own.begin(), own.end(), [&](int w) { return is_gpu(session, w) != is_gpu(session, own.front()); }))
      refuse_islands(fmt::format("{} islands would have GPUs and CPUs in one", count), "use columns, an island for each device");
    const auto parts = static_cast<int>(own.size());
    islands.push_back(on(own, runtime::Decomposition(lattice,
                                                     block_grid(config.blocks, lattice, parts, thinnest_block(config.action->reach),
                                                                whole_units(config.solver, lattice)[3]),
                                                     parts)));
  }
  return islands;
}

/// What a forecast must know of the groups of a run.
std::vector<ForecastGroup> groups_to_forecast(const RunConfig& config, int islands) {
  RunConfig on_islands = config;
  on_islands.nrhs = nrhs_on_islands(config, islands);
  const std::vector<double> masses = config.masses();
  const double hops = config.action->is_hermitian ? 2 : 4;  // of an iteration
  std::vector<ForecastGroup> groups;
  for (const std::vector<RightHandSide>& group : groups_of(on_islands, operators_of(config).front())) {
    double iterations = 0;
    for (const RightHandSide& side : group) iterations = std::max(iterations, usual_iterations_of(config, masses[side.mass]));
    groups.push_back({static_cast<int>(group.size()), hops * iterations});
  }
  return groups;
}

IslandProblem island_problem(const Coord& lattice, const RunConfig& config) {
  const OperatorShape shape = operator_shape(*config.action, config.settings, config.solver);
  const bool mixed = shape.inner_links > 0;
  constexpr int near = 8, near_and_far = 16;
  return {.sites = static_cast<double>(volume(lattice)),
          .hop = {.links = mixed ? shape.inner_links : shape.outer_links,
                  .vector = shape.slices * static_cast<double>(site_bytes(config.solver.precision, 2 * shape.components)),
                  .neighbours = shape.reach > 1 ? near_and_far : near},
          .solver_links = shape.outer_links + shape.inner_links,
          .columns = static_cast<int>(config.columns.size()),
          .multigrid = config.solver.multigrid.has_value()};
}

IslandShape island_shape(const std::vector<runtime::Decomposition>& islands, const RunConfig& config) {
  const runtime::Decomposition& island = islands.front();
  const ActionKind& kind = *config.action;
  const Coord extents = island.block(island.local().front()).extents;
  double sites = 0;
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (extents[mu] < island.lattice()[mu]) sites += kind.reach * static_cast<double>(volume(extents)) / extents[mu] / 2;
  return {static_cast<int>(islands.size()), owner_count(island),
          sites * kind.slices(config.settings) * static_cast<double>(kind.face.bytes(config.solver.precision))};
}

/// One way to share, and what it is predicted to take.
struct Predicted {
  IslandPlan plan;
  IslandShape shape;
  double seconds;
};

std::string prediction_text(const Predicted& way) {
  const auto& [plan, shape, seconds] = way;
  if (shape.islands == 1) return fmt::format("{:.2g} s with the lattice cut for {}", seconds, shape.devices);
  return fmt::format("{:.2g} s on {} islands of {}", seconds, shape.islands, shape.devices);
}

}  // namespace

std::vector<IslandPlan> plan_islands(const runtime::Session& session, const Coord& lattice, const RunConfig& config) {
  const std::vector<int> workers = workers_of(session);
  const auto devices = static_cast<int>(workers.size());
  const std::string why_not = obstacle(session, config);
  if (config.islands) {
    const int wanted = *config.islands == 0 ? devices : *config.islands;
    if (wanted == 1) return {IslandPlan{}};
    if (!why_not.empty()) refuse_islands("there cannot be several islands: " + why_not, "use cut");
    if (wanted > devices)
      refuse_islands(fmt::format("{} islands, and {} device{}", wanted, devices, devices > 1 ? "s" : ""),
                     "use columns, an island for each device, or fewer");
    return {IslandPlan{islands_of(session, workers, wanted, lattice, config), "asked for"}};
  }
  const auto alike = [&](int w) {
    return is_gpu(session, w) == is_gpu(session, 0) && session.worker(w).team.threads() == session.worker(0).team.threads();
  };
  if (devices < 2 || !why_not.empty() || config.blocks[0] > 0 || !std::all_of(workers.begin(), workers.end(), alike)) return {IslandPlan{}};
  const double bandwidth = session.worker(workers.front()).bandwidth_gbs;
  const DeviceSpeeds speeds = is_gpu(session, 0) ? speeds_of_gpus(bandwidth) : speeds_of_cpus(bandwidth);
  const IslandProblem problem = island_problem(lattice, config);
  std::vector<Predicted> ways;
  for (int islands = 1; islands <= devices; ++islands) {
    if (devices % islands != 0) continue;
    const std::vector<ForecastGroup> groups = groups_to_forecast(config, islands);
    if (static_cast<int>(groups.size()) < islands) continue;
    Predicted& way = ways.emplace_back(Predicted{{islands_of(session, workers, islands, lattice, config), ""}, {}, 0});
    way.shape = island_shape(way.plan.islands, config);
    way.seconds = forecast(problem, speeds, way.shape, groups);
  }
  constexpr double clear_gain = 0.97;
  const auto weighed = [](const Predicted& way) { return way.seconds * (way.shape.islands == 1 ? clear_gain : 1); };
  std::stable_sort(ways.begin(), ways.end(), [&](const Predicted& a, const Predicted& b) { return weighed(a) < weighed(b); });
  std::vector<std::string> texts;
  for (const Predicted& way : ways) texts.push_back(prediction_text(way));
  std::vector<IslandPlan> plans;
  for (Predicted& way : ways) {
    const bool cut = way.shape.islands == 1;
    if (cut) way.plan.islands.clear();
    plans.push_back({std::move(way.plan.islands), fmt::format("predicted {}", fmt::join(texts, ", "))});
    if (cut) break;
  }
  return plans;
}

double usual_iterations_of(const RunConfig& config, double mass) {
  const bool hermitian = config.action->is_hermitian;
  const bool normal_equations = !hermitian && !find_krylov_solver(config.solver.solver)->any_operator;
  return usual_iterations(hermitian, normal_equations, mass, config.solver.tolerance);
}

int nrhs_on_islands(const RunConfig& config, int islands) {
  if (islands < 2 || config.was_given("nrhs") || find_krylov_solver(config.solver.solver)->mixes_vectors) return config.nrhs;
  const auto sides = static_cast<int>(config.columns.size() * config.masses().size() * (1 + config.further_sources.size()));
  return std::clamp((sides + islands - 1) / islands, 1, config.nrhs);
}

std::optional<int> GroupPool::take(int island) {
  const auto self = static_cast<std::size_t>(island);
  if (next_ == groups_) return {};
  if (const std::optional<double> theirs = seconds_without(self); theirs && seconds_[self] > *theirs) {
    left_[self] = true;
    return {};
  }
  return next_++;
}

std::optional<double> GroupPool::seconds_without(std::size_t island) const {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < seconds_.size(); ++i)
    if (i != island && !left_[i] && seconds_[i] > 0) others.push_back(i);
  if (others.empty()) return {};
  constexpr double at_work = 0.5;  // each has on average half of a group before it
  std::vector<double> ends;
  for (const std::size_t i : others) ends.push_back(at_work * seconds_[i]);
  double last = 0;
  for (int group = next_; group < groups_; ++group) {
    std::size_t first = 0;
    for (std::size_t i = 1; i < ends.size(); ++i)
      if (ends[i] + seconds_[others[i]] < ends[first] + seconds_[others[first]]) first = i;
    ends[first] += seconds_[others[first]];
    last = std::max(last, ends[first]);
  }
  return last;
}

}  // namespace quarkstar::app
