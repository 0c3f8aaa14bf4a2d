#include "solvers/multigrid/choice.hpp"

#include "codelets/coarse/dense_inverse.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/multigrid/smoother.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <tuple>

namespace quarkstar {
namespace {

constexpr int most_levels = 4;
/// Sites of a level that may be whole on every rank: a product with its matrices then takes a GPU 0.2 ms.
constexpr std::int64_t most_whole_sites = 4096;

/// Sites along a direction of the aggregates of a level below the finest: the first extent of which there is an even number in so many; 3
/// where there is none of these.
int extent_below(int sites, bool large) {
  static constexpr std::initializer_list<int> small_ones{2, 3, 5, 7}, large_ones{4, 5, 6, 7, 3, 2};
  for (const int extent : large ? large_ones : small_ones)
    if (sites % (2 * extent) == 0) return extent;
  return 3;
}
bool can_be_divided(const Coord& lattice) {  // by large aggregates where by small ones
  return std::all_of(lattice.begin(), lattice.end(), [](int sites) { return sites % (2 * extent_below(sites, false)) == 0; });
}

/// The lattice of a level, where aggregates are large on so many levels behind the finest.
Coord lattice_of(const MultigridSettings& settings, Coord lattice, int level, int large) {
  for (int above = 0; above < level; ++above)
    for (std::size_t mu = 0; mu < 4; ++mu) lattice[mu] /= above == 0 ? settings.aggregate[mu] : extent_below(lattice[mu], above <= large);
  return lattice;
}
bool has_dense_inverse(const MultigridSettings& settings, const Coord& lattice, int large) {
  return coarse::DenseInverse::fits(lattice_of(settings, lattice, settings.levels - 1, large), 2 * settings.null_vectors);
}
/// On how many levels behind the finest aggregates are large: as few as leave an inverse, for a coarsest level without one stalls; none
/// where a further level is to be had, or nothing leaves one.
int large_levels(const MultigridSettings& settings, const Coord& lattice) {
  if (settings.levels < most_levels && can_be_divided(lattice_of(settings, lattice, settings.levels - 1, 0))) return 0;
  const auto divides = [&](int large) {
    for (int level = 1; level + 1 < settings.levels; ++level)
      if (!can_be_divided(lattice_of(settings, lattice, level, large))) return false;
    return true;
  };
  for (int large = 0; large + 1 < settings.levels; ++large)
    if (has_dense_inverse(settings, lattice, large) && divides(large)) return large;
  return 0;
}
Coord lattice_of(const MultigridSettings& settings, const Coord& lattice, int level) {
  return lattice_of(settings, lattice, level, large_levels(settings, lattice));
}

}  // namespace

MultigridSettings completed(MultigridSettings settings, const Coord& lattice) {
  for (std::size_t mu = 0; mu < 4; ++mu) {
    int& extent = settings.aggregate[mu];
    if (extent != 0) continue;
    for (const int candidate : {4, 3, 2, 5, 6, 7})
      if (extent == 0 && lattice[mu] % (2 * candidate) == 0) extent = candidate;
    if (extent == 0)
      throw Error(ErrorKind::input, Parameter("aggregate"), fmt::format("no aggregates divide {} = {}", "xyzt"[mu], lattice[mu]),
                  "use another solver");
  }
  if (settings.levels != 0) return settings;
  settings.levels = 2;
  while (settings.levels < most_levels && !has_dense_inverse(settings, lattice, 0) &&
         can_be_divided(lattice_of(settings, lattice, settings.levels - 1, 0)))
    ++settings.levels;
  return settings;
}

namespace {

/// The settings that are given, or those of a solver that has multigrid by its name.
std::optional<MultigridSettings> multigrid_of(const SolverSettings& settings) {
  const NamedKrylovSolver* solver = find_krylov_solver(settings.solver);
  return settings.multigrid || solver == nullptr || !solver->multigrid ? settings.multigrid : MultigridSettings{};
}

}  // namespace

SolverSettings completed(SolverSettings settings, const Coord& lattice) {
  settings.multigrid = multigrid_of(settings);
  if (settings.multigrid) settings.multigrid = completed(*settings.multigrid, lattice);
  return settings;
}

Coord aggregate_of(const MultigridSettings& settings, const Coord& lattice, int level) {
  if (level == 0) return settings.aggregate;
  Coord aggregate = lattice_of(settings, lattice, level);
  for (int& extent : aggregate) extent = extent_below(extent, level <= large_levels(settings, lattice));
  return aggregate;
}

int smoother_degree(const MultigridSettings& settings, int level) {
  return level == 0 ? settings.smoother_steps : std::max(1, settings.smoother_steps / 2);
}

Coord coarsest_lattice(const MultigridSettings& settings, const Coord& lattice) {
  return lattice_of(settings, lattice, settings.levels - 1);
}

bool has_dense_inverse(const MultigridSettings& settings, const Coord& lattice) {
  return has_dense_inverse(settings, lattice, large_levels(settings, lattice));
}

namespace {

/// Sites of the finest level of a site of another; of two along x, for coarse blocks have an even extent there.
Coord unit_of_level(const MultigridSettings& settings, const Coord& lattice, int level) {
  Coord unit{2, 1, 1, 1};
  for (int above = 0; above < level; ++above)
    for (std::size_t mu = 0; mu < 4; ++mu) unit[mu] *= aggregate_of(settings, lattice, above)[mu];
  return unit;
}

}  // namespace

Coord whole_unit(const MultigridSettings& settings, const Coord& lattice) { return unit_of_level(settings, lattice, settings.levels - 1); }

Coord least_unit(const MultigridSettings& settings, const Coord& lattice) {
  int level = 1;
  while (level + 1 < settings.levels && volume(lattice_of(settings, lattice, level)) > most_whole_sites) ++level;
  return unit_of_level(settings, lattice, level);
}

int first_whole_level(const MultigridSettings& settings, const runtime::Decomposition& decomposition) {
  runtime::Decomposition of_level = decomposition;
  if (!coarse::has_whole_aggregates(of_level, aggregate_of(settings, decomposition.lattice(), 0))) return settings.levels;  // refused, too
  for (int level = 1; level + 1 < settings.levels; ++level) {
    of_level = coarse::coarse_decomposition(of_level, aggregate_of(settings, decomposition.lattice(), level - 1));
    if (coarse::has_whole_aggregates(of_level, aggregate_of(settings, decomposition.lattice(), level))) continue;
    return volume(of_level.lattice()) <= most_whole_sites ? level : settings.levels;  // which is refused elsewhere
  }
  return settings.levels;
}

void check_multigrid(const MultigridSettings& settings, Precision precision, Schur schur) {
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (const int extent = settings.aggregate[mu]; extent != 0 && extent < 2)
      throw Error(ErrorKind::input, Parameter("aggregate"), fmt::format("{} sites in {}", extent, "xyzt"[mu]), "give 2 or more");
  coarse::require_null_vectors(settings.null_vectors);
  if (settings.levels != 0 && (settings.levels < 2 || settings.levels > most_levels))
    throw Error(ErrorKind::input, Parameter("levels"), fmt::format("{} levels", settings.levels), fmt::format("give 2 to {}", most_levels));
  constexpr int most_steps = 1000;
  for (const auto& [name, steps, least, most] : {std::tuple{"smoother-steps", settings.smoother_steps, 1, Smoother::most_degree},
                                                 {"coarse-steps", settings.coarse_steps, 1, most_steps},
                                                 {"cycle-steps", settings.cycle_steps, 1, most_steps},
                                                 {"setup-steps", settings.setup_steps, 1, most_steps},
                                                 {"setup-cycles", settings.setup_cycles, 0, most_steps}})
    if (steps < least || steps > most)
      throw Error(ErrorKind::input, Parameter(name), fmt::format("{} of them", steps), fmt::format("give {} to {}", least, most));
  if (precision == Precision::half)
    throw Error(ErrorKind::input, Parameter("precision"), "multigrid has no fields in half precision", "use single or double");
  if (settings.half_matrices && precision != Precision::single)
    throw Error(ErrorKind::input, Parameter("coarse-precision"), "matrices in half precision are for vectors in single precision",
                "use precision single, or coarse-precision same");
  if (schur != Schur::asymmetric)
    throw Error(ErrorKind::input, Parameter("schur"), "multigrid is for the asymmetric Schur complement", "use asymmetric");
}

namespace {

/// require(level, aggregate, components of a vector) for each level that is coarsened.
template <class Require>
void require_levels(const MultigridSettings& settings, const Coord& lattice, Require&& require) {
  require(0, settings.aggregate, spinor_components);
  for (int level = 1; level + 1 < settings.levels; ++level) {
    try {
      require(level, aggregate_of(settings, lattice, level), 2 * settings.null_vectors);
    } catch (const Error& error) {
      throw Error(ErrorKind::input, Parameter("levels"), fmt::format("level {} cannot be coarsened: {}", level, error.what()),
                  "give fewer levels, or smaller aggregates");
    }
  }
}

}  // namespace

void check_multigrid(const MultigridSettings& given, const Coord& lattice, Precision precision, Schur schur) {
  check_multigrid(given, precision, schur);
  const MultigridSettings settings = completed(given, lattice);
  require_levels(settings, lattice, [&](int level, const Coord& aggregate, int components) {
    coarse::require_aggregates(lattice_of(settings, lattice, level), aggregate, settings.null_vectors, components);
  });
}

void check_multigrid(const MultigridSettings& settings, const runtime::Decomposition& decomposition, Precision precision, Schur schur) {
  check_multigrid(settings, decomposition.lattice(), precision, schur);
  runtime::Decomposition of_level = decomposition;
  require_levels(settings, decomposition.lattice(), [&](int level, const Coord& aggregate, int components) {
    const bool may_be_whole = level > 0 && volume(of_level.lattice()) <= most_whole_sites;
    if (may_be_whole && !coarse::has_whole_aggregates(of_level, aggregate))
      of_level = runtime::Decomposition::uncut(of_level.lattice(), of_level.first_owner());
    coarse::require_aggregates(of_level, aggregate, settings.null_vectors, components);
    if (level + 2 < settings.levels) of_level = coarse::coarse_decomposition(of_level, aggregate);
  });
}

void check_multigrid(const SolverSettings& settings, const Coord& lattice) {
  if (const auto multigrid = multigrid_of(settings)) check_multigrid(*multigrid, lattice, settings.precision, settings.schur);
}

void check_multigrid(const SolverSettings& given, const runtime::Decomposition& decomposition) {
  check_multigrid(given, decomposition.lattice());
  const SolverSettings settings = completed(given, decomposition.lattice());
  if (settings.multigrid) check_multigrid(*settings.multigrid, decomposition, settings.precision, settings.schur);
}

}  // namespace quarkstar
