#include "apps/run/right_hand_sides.hpp"

#include "apps/run/report.hpp"
#include "codelets/actions/action_kind.hpp"
#include "codelets/contract/three_point.hpp"
#include "codelets/field/field.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace quarkstar::app {

std::vector<std::vector<std::size_t>> operators_of(const RunConfig& config) {
  std::vector<std::size_t> all(config.masses().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (config.action->masses_share_links(config.settings)) return {all};
  std::vector<std::vector<std::size_t>> each;
  for (const std::size_t mass : all) each.push_back({mass});
  return each;
}

std::vector<std::vector<RightHandSide>> groups_of(const RunConfig& config, std::span<const std::size_t> masses) {
  std::vector<std::vector<RightHandSide>> result;
  const std::size_t most = config.nrhs > 0 ? static_cast<std::size_t>(config.nrhs) : most_vectors,
                    sources = 1 + config.further_sources.size();
  const NamedKrylovSolver* known = find_krylov_solver(config.solver.solver);
  if (known == nullptr)
    throw Error(ErrorKind::input, Parameter("solver"), fmt::format("unknown solver '{}'", config.solver.solver),
                "use one of solver_names()");
  const NamedKrylovSolver& solver = *known;
  if (solver.shifted) {
    for (std::size_t s = 0; s < sources; ++s)
      for (const int column : config.columns) {
        result.emplace_back();
        for (const std::size_t m : masses) {
          if (result.back().size() == most_vectors) result.emplace_back();
          result.back().push_back({s, column, m});
        }
      }
    return result;
  }
  const bool one_mass = solver.one_operator || (config.solver.recycle > 0 && !config.action->is_hermitian);
  for (const std::size_t m : masses)
    for (std::size_t s = 0; s < sources; ++s)
      for (const int column : config.columns) {
        const bool other_mass = !result.empty() && result.back().back().mass != m && one_mass;
        if (result.empty() || result.back().size() == most || other_mass) result.emplace_back();
        result.back().push_back({s, column, m});
      }
  return result;
}

std::vector<MassPair> opposite_masses(const std::vector<double>& masses) {
  std::vector<MassPair> pairs;
  for (std::size_t plus = 0; plus < masses.size(); ++plus)
    for (std::size_t minus = 0; minus < masses.size(); ++minus)
      if (masses[plus] > 0 && masses[minus] == -masses[plus]) pairs.push_back({plus, minus});
  return pairs;
}

std::vector<contract::Choice> three_point_currents(const RunConfig& config) {
  if (config.three_points.hadrons.empty()) return {};
  return contract::choose(config.action->currents, config.three_points.currents, "currents");
}

std::vector<std::vector<int>> sequential_groups(const RunConfig& config) {
  std::vector<std::vector<int>> groups;
  if (config.three_points.hadrons.empty()) return groups;
  const std::size_t most = find_krylov_solver(config.solver.solver)->shifted ? 1 : static_cast<std::size_t>(config.nrhs);
  for (int column = 0; column < config.action->components; ++column) {
    if (groups.empty() || groups.back().size() == most) groups.emplace_back();
    groups.back().push_back(column);
  }
  return groups;
}

std::vector<int> numbers_together(const RunConfig& config) {
  std::vector<int> numbers;
  for (const auto& group : sequential_groups(config)) numbers.push_back(static_cast<int>(group.size()));
  for (const auto& group : groups_of(config, operators_of(config).front())) numbers.push_back(static_cast<int>(group.size()));
  return numbers;
}

namespace {

/// Whether columns of a propagator are in another group.
bool has_parts(const RunConfig& config, const std::vector<RightHandSide>& group) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> of_propagators;
  for (const RightHandSide& side : group) ++of_propagators[{side.source, side.mass}];
  return std::any_of(of_propagators.begin(), of_propagators.end(), [&](const auto& of) { return of.second != config.columns.size(); });
}

/// Whether two propagators are contracted together, which is done with copies of both.
bool wants_pairs(const RunConfig& config) {
  if (!config.hadron_sinks.empty()) return true;
  const std::vector<contract::Choice> choices = contract::choose(config.action->correlators, config.correlators.names);
  return std::any_of(choices.begin(), choices.end(),
                     [&](const contract::Choice& choice) { return choice.family->columns > config.action->components; });
}

/// Whether it is so for some group of the run.
template <class Is>
bool any_group(const RunConfig& config, Is&& is) {
  for (const auto& masses : operators_of(config))
    for (const auto& group : groups_of(config, masses))
      if (is(config, group)) return true;
  return false;
}

}  // namespace

double contraction_bytes(const RunConfig& config) {
  const bool pairs = wants_pairs(config);
  const std::size_t columns = config.columns.size();
  const auto copy = static_cast<double>(columns * columns * sizeof(std::complex<double>));
  double bytes = 0;
  if (has_all_columns(config) && (pairs || any_group(config, has_parts))) bytes = pairs ? 2 * copy : copy;
  if (!config.three_points.hadrons.empty()) {
    const bool smeared = !smearings_of(config.sinks).empty();
    bytes = std::max(bytes, (smeared ? 3 : 2) * copy + contract::three_point_bytes(three_point_currents(config)));
  }
  return bytes * config.solver.in_flight;
}

SmearingBytes smearing_bytes(const RunConfig& config) {
  constexpr double complex_bytes = sizeof(std::complex<double>), links_bytes = 8 * 18 * sizeof(double),
                   gauge_bytes = 4 * 18 * sizeof(double);
  std::set<std::pair<double, int>> links;
  for (const QuarkSmearing& smearing : config.smearings()) links.emplace(smearing.ape, smearing.ape_steps);
  if (links.empty()) return {};
  const std::vector<Source> all = config.all_sources();
  const auto sources = std::count_if(all.begin(), all.end(), [](const Source& source) { return source.smearing.has_value(); });
  const double of_sources = static_cast<double>(std::min<std::ptrdiff_t>(most_vectors, colour_components * sources));
  // Of a sink the smeared copy, and the two halves of a smearing step of as many of its columns as go together.
  const double columns = config.action->components, colour_vectors = columns * columns / colour_components;
  const auto of_sink = [&](double vectors) { return vectors + 2 * std::min<double>(most_vectors, vectors); };
  double of_sinks = smearings_of(config.sinks).empty() ? 0 : of_sink(colour_vectors);
  if (!smearings_of(config.hadron_sinks).empty()) of_sinks = of_sink(2 * colour_vectors);
  return {static_cast<double>(links.size()) * links_bytes,
          std::max(3 * of_sources, of_sinks) * colour_components * complex_bytes * config.solver.in_flight, 2 * gauge_bytes};
}

bool comes_to_host(const RunConfig& config, const std::vector<RightHandSide>& group) {
  return config.propagators || !config.checkpoint.empty() || !config.three_points.hadrons.empty() ||
         (has_all_columns(config) && (wants_pairs(config) || has_parts(config, group)));
}

bool columns_come_to_host(const RunConfig& config) { return any_group(config, comes_to_host); }

std::size_t most_sources_at_once(const RunConfig& config, int groups_at_once) {
  std::vector<std::vector<RightHandSide>> groups;
  for (const auto& masses : operators_of(config))
    for (auto& group : groups_of(config, masses)) groups.push_back(std::move(group));
  const std::size_t sources = 1 + config.further_sources.size();
  std::vector<std::size_t> first(sources, groups.size()), last(sources, 0);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const RightHandSide& side : groups[g]) {
      first[side.source] = std::min(first[side.source], g);
      last[side.source] = g;
    }
  std::size_t most = 1;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t newest = g + static_cast<std::size_t>(groups_at_once) - 1;
    std::size_t here = 0;
    for (std::size_t s = 0; s < sources; ++s) here += first[s] <= newest && last[s] >= g ? 1 : 0;
    most = std::max(most, here);
  }
  return most;
}

}  // namespace quarkstar::app
