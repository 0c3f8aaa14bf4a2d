#include "apps/run/island_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace quarkstar::app {

double gpu_exchange_seconds(int gpus, double face_bytes) {
  constexpr double of_each = 5e-6, between_two = 150e9, among_more = 100e9;
  if (gpus < 2) return 0;
  return of_each * (gpus - 1) + face_bytes / (gpus == 2 ? between_two : among_more);
}

DeviceSpeeds speeds_of_gpus(double bandwidth_gbs) {
  // Solvers and what is around groups: one H200, docs/results/2026-11-28-campaign-h200.md.
  return {.hops = 1e9 * bandwidth_gbs, .exchange = gpu_exchange_seconds, .solver = 35e-3, .links = 20e9, .group = 6e-3, .source = 12e-3};
}

DeviceSpeeds speeds_of_cpus(double bandwidth_gbs) {
  // Not measured: three tasks more for each block, and faces that are written and read in the memory of the host.
  constexpr double tasks = 15e-6, memory = 10e9, pieces_of_links = 0.25;
  const auto exchange = [](int devices, double face_bytes) { return devices < 2 ? 0 : tasks + face_bytes / memory; };
  return {.hops = 1e9 * bandwidth_gbs,
          .exchange = exchange,
          .solver = 1e-3,
          .links = 1e9 * pieces_of_links * bandwidth_gbs,
          .group = 1e-3,
          .source = 12e-3};
}

double HopBytes::of(int n) const {
  // Half of a neighbour's vector comes from caches; six passes are of the result, and of the operations between hops.
  constexpr double from_memory = 0.5, passes = 6;
  return links + n * vector * (passes + from_memory * neighbours);
}

double forecast(const IslandProblem& problem, const DeviceSpeeds& speeds, const IslandShape& shape, std::span<const ForecastGroup> groups) {
  std::vector<double> free(static_cast<std::size_t>(shape.islands), 0);
  double longest = 0, last = 0;
  for (const ForecastGroup& group : groups) {
    const double hop = problem.hop.of(group.size) * problem.sites / 2 / (speeds.hops * shape.devices) +
                       speeds.exchange(shape.devices, group.size * shape.faces);
    last = speeds.group + speeds.source * group.size / problem.columns;
    longest = std::max(longest, group.hops * hop);
    *std::min_element(free.begin(), free.end()) += group.hops * hop + last;
  }
  double set_up = speeds.solver + problem.solver_links * problem.sites / (speeds.links * shape.devices);
  if (problem.multigrid) set_up += 2 * longest;
  const double waits = (shape.islands - 1) * last;  // of islands that end together
  return shape.islands * set_up + *std::max_element(free.begin(), free.end()) + waits;
}

double usual_iterations(bool hermitian, bool normal_equations, double mass, double tolerance) {
  const double digits = std::log(2 / std::clamp(tolerance, 1e-16, 0.5));
  constexpr double of_wilson = 12, of_normal_equations = 48, norm = 5, least_mass = 1e-4;
  if (!hermitian) return digits * (normal_equations ? of_normal_equations : of_wilson);
  return std::clamp(digits / 2 * norm / (2 * std::max(std::abs(mass), least_mass)), 16.0, 10000.0);
}

}  // namespace quarkstar::app
