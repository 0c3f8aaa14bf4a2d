#include "apps/run/kept_solver.hpp"

#include "apps/run/eigen_file.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "solvers/krylov/krylov.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace quarkstar::app {
namespace {

/// Settings of a run that no solver sees: what is solved for, and what becomes of it.
constexpr std::array<std::string_view, 11> of_others{"source",   "sinks",           "correlators", "momenta", "fold",       "three-points",
                                                     "currents", "current-momenta", "out",         "json",    "propagators"};

}  // namespace

std::string KeptSolver::key_of(const RunConfig& config, std::span<const runtime::Decomposition> islands) {
  const SolverSettings& solver = config.solver;
  const bool of_one_mass = solver.multigrid || solver.schwarz || solver.recycle > 0 || !deflation_file(config).empty() ||
                           find_krylov_solver(solver.solver)->multigrid || !config.action->masses_share_links(config.settings);
  if (of_one_mass || config.session.policy == "adaptive") return "";  // that policy changes the cut
  std::string key = fmt::format("{} {}\n", fmt::join(numbers_together(config), ","), runtime::Session::current().cpus_join());
  for (const runtime::Decomposition& island : islands) {
    key += "island\n";
    for (const runtime::Block& block : island.blocks())
      key += fmt::format("{} {} {} {}\n", block.origin, block.extents, block.owner, block.rank);
  }
  for (const auto& [name, value] : parameters_of(config))
    if (!config.action->states_mass(name) && std::find(of_others.begin(), of_others.end(), name) == of_others.end())
      key += fmt::format("{} {}\n", name, value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return key;
}

void KeptSolver::begin(const std::string& key) {
  // All ranks let it go or none does: making a solver is collective.
  if (runtime::mpi::Job::current().any(key != key_ || key.empty())) held_ = {};
  key_ = key;
}

KeptSolver::Held KeptSolver::take(std::span<const double> masses) {
  Held held = std::exchange(held_, {});
  const bool serves =
      !held.solvers.empty() && std::ranges::all_of(masses, [&](double mass) { return held.solvers.front()->solves_for(mass); });
  return serves ? std::move(held) : Held{};
}

void KeptSolver::keep(Held held) {
  if (!key_.empty()) held_ = std::move(held);
}

}  // namespace quarkstar::app
