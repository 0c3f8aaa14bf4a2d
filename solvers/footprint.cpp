#include "solvers/footprint.hpp"

#include "codelets/actions/wilson/schwarz.hpp"
#include "codelets/field/fields.hpp"
#include "codelets/field/host_spinor.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/block_cg_steps.hpp"
#include "solvers/krylov/gcr_steps.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/multishift_cg_steps.hpp"
#include "solvers/krylov/vector_cg_steps.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace quarkstar {
namespace {

/// Fields of one parity in the outer level, at the peak of WilsonSolver::solve: b, x, r, e on both parities, the
/// even-odd system's image, its right-hand side.
constexpr int outer_fields = 8 + 2;
/// Below double precision also the two of solve_below_double().
constexpr int bridge_fields = 2;
/// A copy of what has come so far, for a restart file (WilsonSolver).
constexpr int copied_fields = 2;
/// In the Krylov solver's level: the even-odd system's image, x and r (which double precision has among the outer
/// ones).
constexpr int inner_fields = 3;

/// What a solve holds in one precision.
struct Level {
  Precision precision;
  int reach;           ///< sites of the longest hop
  double link_bytes;   ///< a site
  double field_bytes;  ///< a site of one parity, of all fields together
  double face_reals;   ///< a site of a face
  std::optional<SchwarzSettings> schwarz{};
  std::optional<int> most_lanes{};  ///< of sites
};

Footprint level_footprint(const runtime::Decomposition& decomposition, const runtime::Block& block, const Level& level) {
  const LaneGrid grid = choose_lane_grid(decomposition, level.precision, level.most_lanes, level.reach,
                                         level.schwarz ? level.schwarz->domain : Coord{2, 2, 2, 2});
  const double half = static_cast<double>(volume(block.extents)) / 2, lanes = grid.lanes;
  Coord outer{}, inside{};
  double face_reals = 0, packed = 0;
  for (int mu = 0; mu < 4; ++mu) {
    outer[mu] = block.extents[mu] / (grid.splits(mu) ? 2 : 1);
    inside[mu] = std::max(0, outer[mu] - (decomposition.is_cut(mu) ? 2 * level.reach : 0));
  }
  const double sites = static_cast<double>(volume(outer)) / 2, edge = sites - static_cast<double>(volume(inside)) / 2;
  for (int mu = 0; mu < 4; ++mu) {
    if (!decomposition.is_cut(mu)) continue;
    const double layers = level.reach * sites / outer[mu];
    packed += 2 * layers;
    // A face for a block of another rank is kept by its sender too.
    double kept = 2;
    for (const int direction : {2 * mu, 2 * mu + 1})
      if (decomposition.block(decomposition.neighbour(block.index, direction)).rank != block.rank) kept += 1;
    face_reals += kept * level.face_reals * layers * lanes / (grid.splits(mu) ? 2 : 1);
  }
  const int hops = level.reach == 1 ? 1 : 2;  // near ones, and far ones
  Footprint bytes;
  bytes.links = 2 * half * level.link_bytes;
  bytes.spinors = half * level.field_bytes;
  bytes.faces = 2 * face_reals * static_cast<double>(computed_bytes(level.precision));
  bytes.tables = sizeof(std::uint32_t) * 2 * (hops * 8 * sites + sites + hops * 8 * edge + packed);
  if (level.schwarz)
    bytes.tables += sizeof(std::uint32_t) * static_cast<double>(wilson::schwarz_table_words(volume(outer) / 2, level.schwarz->domain));
  return bytes;
}

/// Both ends of each link of `reals` reals.
double links_bytes(Precision precision, int reals) { return 8 * static_cast<double>(link_bytes(precision, reals)); }

Level wilson_level(Precision precision, int link_reals, int fields, const std::optional<SchwarzSettings>& schwarz = {}) {
  constexpr double half_spinor = 12;
  return {precision,   1,      links_bytes(precision, link_reals), fields * static_cast<double>(site_bytes(precision, SpinorField::reals)),
          half_spinor, schwarz};
}

const NamedKrylovSolver& solver_named(const std::string& name) {
  for (const NamedKrylovSolver& solver : krylov_solvers())
    if (solver.name == name) return solver;
  throw Error(ErrorKind::input, "--solver", "unknown solver '" + name + "'", "see `quarkstar solve --help`");
}

/// Colour vectors of one parity in each level of a staggered solve.
struct ColourVectors {
  double outer = 0, inner = 0;
};

/// At the peak of StaggeredSolver::solve for n right-hand sides, while a correction by `cg` or `blockcg` runs.
ColourVectors vectors_of_correction(const SolverSettings& settings, int n) {
  // b, x, r, e on both parities, and the even-odd system's right-hand side; of a copy both parities, and the odd one of
  // the correction
  const int outer = 8 + 1 + (settings.snapshots ? 3 : 0);
  constexpr int krylov = 1 + 2;  // the system's image, and p and A p
  if (settings.precision == Precision::double_) return {static_cast<double>(n) * (outer + krylov), 0};
  constexpr int bridge = 2, image = 1;  // where a refresh computes the residual
  const bool refreshes = settings.updates == Updates::reliable && settings.solver != "blockcg";
  return {static_cast<double>(n) * (outer + bridge + (refreshes ? image : 0)), static_cast<double>(n) * (2 + krylov)};
}

/// The same for `multishift` and n masses, of which later corrections are as above. Its base system has one vector, y on both parities and
/// a direction for each mass. Memory of one size passes from the first solve to the corrections (runtime/graph/handle_pool.hpp).
ColourVectors vectors_of_shifts(const SolverSettings& settings, int n) {
  const ColourVectors corrections = vectors_of_correction(settings, n);
  const bool mixed = settings.precision != Precision::double_;
  constexpr int base_krylov = 1 + 2;
  constexpr int whole = 8 + 2 + 1;  // b, x, r, e and y on both parities; directions, below double precision what comes back from them
  const ColourVectors wide{1.0 * whole * n, mixed ? 2.0 * n : 0};
  const ColourVectors narrow = mixed ? ColourVectors{1 + 1, 1 + base_krylov} : ColourVectors{1 + base_krylov, 0};
  if (n == 1) return {std::max(corrections.outer, wide.outer + narrow.outer), std::max(corrections.inner, wide.inner + narrow.inner)};
  return {std::max(corrections.outer, wide.outer) + narrow.outer, std::max(corrections.inner, wide.inner) + narrow.inner};
}

/// Bytes of the solver's state on the graph.
std::size_t state_bytes(const std::string& solver) {
  return solver == "blockcg"      ? sizeof(block_cg_steps::State)
         : solver == "multishift" ? sizeof(multishift_cg_steps::State)
                                  : sizeof(vector_cg_steps::State);
}

/// Right-hand sides of all kinds of Dslash together.
int sum_of(const std::set<int>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0); }

/// While the last of these numbers of right-hand sides is solved.
std::vector<Footprint> footprint_of_last(const runtime::Decomposition& decomposition, const SolverSettings& settings, bool hops_far,
                                         std::span<const int> vectors, int vectors_in_lanes) {
  const bool mixed = settings.precision != Precision::double_, shifted = settings.solver == "multishift";
  const bool compressed = !mixed && hops_far && settings.link_reals != 18;  // beside all reals, on the same layout
  const int n = vectors.back();
  std::set<int> outer_kinds(vectors.begin(), vectors.end()), inner_kinds;
  if (mixed || compressed) inner_kinds = outer_kinds;
  if (shifted) (mixed || compressed ? inner_kinds : outer_kinds).insert(1);

  const auto level = [&](Precision precision, int long_reals, double fields, int right_hand_sides) -> Level {
    return {precision,
            smear::longest_hop(hops_far),
            links_bytes(precision, 18) + (hops_far ? links_bytes(precision, long_reals) : 0),
            fields * static_cast<double>(site_bytes(precision, ColourField::reals)),
            static_cast<double>(ColourField::reals) * right_hand_sides,
            {},
            vectors_in_lanes > 1 ? std::optional(1) : std::nullopt};
  };
  const auto levels = [&](const ColourVectors& fields) {
    std::vector<Level> all{level(Precision::double_, 18, fields.outer, sum_of(outer_kinds) + (compressed ? sum_of(inner_kinds) : 0))};
    if (compressed) all.front().link_bytes += links_bytes(Precision::double_, settings.link_reals);
    if (mixed) all.push_back(level(settings.precision, settings.link_reals, fields.inner, sum_of(inner_kinds)));
    return all;
  };
  // A partial sum a task and vector: interior and boundary, norm and product, of every Dslash; and those of the solver.
  const double sums = 2 * 2 * (sum_of(outer_kinds) + sum_of(inner_kinds)) + (settings.solver == "blockcg" ? n * n : n);
  std::vector<Footprint> blocks;
  for (const runtime::Block& block : decomposition.blocks()) {
    const auto total = [&](const ColourVectors& fields) {
      Footprint bytes;
      for (const Level& one : levels(fields)) bytes += level_footprint(decomposition, block, one);
      return bytes;
    };
    Footprint bytes = total(shifted ? vectors_of_shifts(settings, n) : vectors_of_correction(settings, n));
    bytes.scalars = sums * sizeof(runtime::BinnedSum);
    blocks.push_back(bytes);
  }
  for (Footprint& block : blocks) block.multiply_solves(settings.in_flight);
  VectorLimits limits;
  limits.most_iterations.fill(settings.max_iterations);
  blocks[static_cast<std::size_t>(decomposition.local().front())].scalars +=
      settings.in_flight *
      (static_cast<double>(2 * state_bytes(settings.solver)) + static_cast<double>(sizeof(double)) * recorded_numbers(limits, n));
  return blocks;
}

}  // namespace

Footprint& Footprint::operator+=(const Footprint& other) {
  links += other.links;
  spinors += other.spinors;
  faces += other.faces;
  tables += other.tables;
  scalars += other.scalars;
  return *this;
}

void Footprint::multiply_solves(int in_flight) {
  for (double* bytes : {&spinors, &faces, &scalars}) *bytes *= in_flight;
}

std::vector<Footprint> wilson_footprint(const runtime::Decomposition& decomposition, const SolverSettings& settings) {
  const bool mixed = settings.precision != Precision::double_;
  const NamedKrylovSolver& solver = solver_named(settings.solver);
  const int krylov_fields = solver.fields + solver.fields_a_direction * settings.restart;
  // A partial sum a task: interior and boundary of both levels, and those of the solver.
  const double sums = 2.0 * 4 + 2, bytes_of_sums = sums * runtime::PartialSums::most * sizeof(runtime::BinnedSum);
  std::vector<Footprint> blocks;
  for (const runtime::Block& block : decomposition.blocks()) {
    Footprint bytes =
        level_footprint(decomposition, block,
                        wilson_level(Precision::double_, mixed ? 18 : settings.link_reals,
                                     outer_fields + (mixed ? bridge_fields : krylov_fields) + (settings.snapshots ? copied_fields : 0),
                                     mixed ? std::nullopt : settings.schwarz));
    if (mixed)
      bytes += level_footprint(decomposition, block,
                               wilson_level(settings.precision, settings.link_reals, inner_fields + krylov_fields, settings.schwarz));
    bytes.scalars = bytes_of_sums;
    if (solver.fields_a_direction > 0)
      bytes.scalars += 2.0 * settings.restart * sizeof(runtime::BinnedSum);  // products with all directions
    blocks.push_back(bytes);
  }
  KrylovLimits limits;
  limits.most_iterations = settings.max_iterations;
  for (Footprint& block : blocks) block.multiply_solves(settings.in_flight);
  double& first = blocks[static_cast<std::size_t>(decomposition.local().front())].scalars;
  first += settings.in_flight * static_cast<double>(sizeof(double)) * recorded_iterations(limits);
  if (solver.fields_a_direction > 0) first += 2.0 * settings.in_flight * sizeof(gcr_steps::State);
  return blocks;
}

std::vector<Footprint> staggered_footprint(const runtime::Decomposition& decomposition, const SolverSettings& settings, bool hops_far,
                                           std::span<const int> vectors, int vectors_in_lanes) {
  if (settings.in_flight > 1) {  // the largest together, beside every kind of Dslash
    std::vector<int> rising(vectors.begin(), vectors.end());
    std::sort(rising.begin(), rising.end());
    return footprint_of_last(decomposition, settings, hops_far, rising, vectors_in_lanes);
  }
  // A Dslash stays for every number of right-hand sides that was asked for, its vectors only while they are solved: the
  // peak may be at any of them.
  std::vector<Footprint> peak;
  for (std::size_t k = 1; k <= vectors.size(); ++k) {
    const std::vector<Footprint> now = footprint_of_last(decomposition, settings, hops_far, vectors.first(k), vectors_in_lanes);
    if (peak.empty()) peak = now;
    for (std::size_t b = 0; b < now.size(); ++b)
      if (now[b].total() > peak[b].total()) peak[b] = now[b];
  }
  return peak;
}

Footprint host_copies(const Footprint& on_gpu, const runtime::Block& block, int site_reals) {
  constexpr int transferred = 4;  // b and x on both parities
  const double field = static_cast<double>(volume(block.extents)) / 2 * static_cast<double>(site_bytes(Precision::double_, site_reals));
  return {.links = on_gpu.links, .spinors = transferred * field, .faces = 0, .tables = on_gpu.tables, .scalars = on_gpu.scalars};
}

double host_fields_bytes(const Coord& part, const Coord& links, int columns) {
  const double spinor = 2 * HostSpinor::components * sizeof(double), table = 2 * sizeof(std::uint32_t) * 9.0 / 4;
  return static_cast<double>(volume(links)) * HostGauge::reals_per_site * sizeof(double) +
         static_cast<double>(volume(part)) * ((columns + 1) * spinor + table);
}

}  // namespace quarkstar
