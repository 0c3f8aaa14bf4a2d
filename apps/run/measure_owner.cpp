#include "apps/run/measure_owner.hpp"

#include "apps/bench/action_bench.hpp"
#include "solvers/footprint.hpp"

#include <algorithm>

namespace quarkstar::app {
namespace {

constexpr int repetitions = 3, widest_measured = 32;
constexpr double most_sites_measured = 1 << 19;

/// The lattice, or a part with its proportions as far as possible where it has more than most_sites_measured or takes more than half of the
/// memory of the worker's GPU: even in every direction.
Coord measured_part(const runtime::Session& session, int worker, const Coord& lattice, double bytes_per_site) {
  double most_sites = most_sites_measured;
  if (worker < session.gpu_count())
    most_sites = std::min(most_sites, 0.5 * static_cast<double>(session.device_memory(worker)) / bytes_per_site);
  Coord part = lattice;
  if (static_cast<double>(volume(part)) <= most_sites) return part;
  constexpr int unit = 4;
  for (int& extent : part) extent = std::min(extent, widest_measured);
  for (const std::size_t mu : {3, 2, 1, 0})
    while (static_cast<double>(volume(part)) > most_sites && part[mu] > unit) part[mu] -= part[mu] % unit == 0 ? unit : 2;
  return part;
}

}  // namespace

SettingValues settings_of_slices(const RunConfig& config) {
  return config.action->slices(config.settings) > 1 ? config.settings : SettingValues{};
}

double measure_owner(runtime::Session& session, int worker, const Coord& lattice, const OwnerProblem& problem) {
  SolverSettings solver;
  solver.precision = problem.precision;
  solver.link_reals = problem.link_reals;
  const OperatorShape shape = operator_shape(problem.action, problem.settings, solver);
  const double link_bytes = problem.precision == Precision::double_ ? shape.outer_links : shape.inner_links;
  const double vector = static_cast<double>(site_bytes(problem.precision, 2 * shape.components));
  const Coord part = measured_part(session, worker, lattice, link_bytes + problem.vectors * shape.slices * vector);
  const runtime::Decomposition whole = runtime::Decomposition::uncut(part, worker);
  const runtime::OnOwners alone(session);
  const ActionBench bench(session, whole, problem.action, problem.settings);
  // Tuning a part that no solve will use would take longer than the measurement, and moves the speed by a few percent only.
  return bench.time(whole, {problem.precision, problem.link_reals, problem.vectors, {.measure = false}}, repetitions).timing.best_gflops;
}

}  // namespace quarkstar::app
