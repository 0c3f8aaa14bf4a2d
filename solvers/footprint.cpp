#include "solvers/footprint.hpp"

#include <algorithm>

#include "codelets/lattice/fields.hpp"
#include "codelets/lattice/host_gauge.hpp"
#include "codelets/lattice/host_spinor.hpp"
#include "runtime/error.hpp"
#include "solvers/krylov.hpp"

namespace quarkstar {
namespace {

/// Fields of one parity in the outer level, at the peak of WilsonSolver::solve: b, x, r, e on both parities, the even-odd system's image,
/// its right-hand side.
constexpr int outer_fields = 8 + 2;
/// Below double precision also the two of solve_below_double().
constexpr int bridge_fields = 2;
/// In the Krylov solver's level: the even-odd system's image, x and r (which double precision has among the outer ones).
constexpr int inner_fields = 3;

/// One block in one precision; `fields`: spinors of one parity.
Footprint level_footprint(const runtime::Decomposition& decomposition, const runtime::Block& block, Precision precision, int link_reals,
                          int fields) {
  const LaneGrid grid = choose_lane_grid(decomposition, precision);
  const double half = static_cast<double>(volume(block.extents)) / 2, lanes = grid.lanes;
  Coord outer{}, inside{};
  double face_reals = 0, packed = 0;
  for (int mu = 0; mu < 4; ++mu) {
    outer[mu] = block.extents[mu] / (grid.splits(mu) ? 2 : 1);
    inside[mu] = std::max(0, outer[mu] - (decomposition.is_cut(mu) ? 2 : 0));
  }
  const double sites = static_cast<double>(volume(outer)) / 2, edge = sites - static_cast<double>(volume(inside)) / 2;
  for (int mu = 0; mu < 4; ++mu) {
    if (!decomposition.is_cut(mu)) continue;
    const double layer = sites / outer[mu];
    packed += 2 * layer;
    // A face for a block of another rank is kept by its sender too.
    double kept = 2;
    for (const int direction : {2 * mu, 2 * mu + 1})
      if (decomposition.block(decomposition.neighbour(block.index, direction)).rank != block.rank) kept += 1;
    face_reals += kept * 12 * layer * lanes / (grid.splits(mu) ? 2 : 1);
  }
  Footprint bytes;
  bytes.links = 2 * half * 8 * link_reals * static_cast<double>(bytes_of(precision));
  bytes.spinors = fields * half * static_cast<double>(site_bytes(precision, SpinorField::reals));
  bytes.faces = 2 * face_reals * static_cast<double>(computed_bytes(precision));
  bytes.tables = sizeof(std::uint32_t) * 2 * (8 * sites + sites + 8 * edge + packed);
  return bytes;
}

const NamedKrylovSolver& solver_named(const std::string& name) {
  for (const NamedKrylovSolver& solver : krylov_solvers())
    if (solver.name == name) return solver;
  throw Error(ErrorKind::input, "--solver", "unknown solver '" + name + "'", "see `quarkstar solve --help`");
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

std::vector<Footprint> wilson_footprint(const runtime::Decomposition& decomposition, const SolverSettings& settings) {
  const bool mixed = settings.precision != Precision::double_;
  const int krylov_fields = solver_named(settings.solver).fields;
  // A partial sum a task: interior and boundary of both levels, and those of the solver.
  const double sums = 2.0 * 4 + 2, bytes_of_sums = sums * runtime::PartialSums::most * sizeof(runtime::BinnedSum);
  std::vector<Footprint> blocks;
  for (const runtime::Block& block : decomposition.blocks()) {
    Footprint bytes = level_footprint(decomposition, block, Precision::double_, mixed ? 18 : settings.link_reals,
                                      outer_fields + (mixed ? bridge_fields : krylov_fields));
    if (mixed) bytes += level_footprint(decomposition, block, settings.precision, settings.link_reals, inner_fields + krylov_fields);
    bytes.scalars = bytes_of_sums;
    blocks.push_back(bytes);
  }
  KrylovLimits limits;
  limits.most_iterations = settings.max_iterations;
  blocks[static_cast<std::size_t>(decomposition.local().front())].scalars += sizeof(double) * recorded_iterations(limits);
  return blocks;
}

Footprint host_copies(const Footprint& on_gpu, const runtime::Block& block) {
  constexpr int transferred = 4;  // b and x on both parities
  const double field = static_cast<double>(volume(block.extents)) / 2 * static_cast<double>(site_bytes(Precision::double_, SpinorField::reals));
  return {.links = on_gpu.links, .spinors = transferred * field, .faces = 0, .tables = on_gpu.tables, .scalars = on_gpu.scalars};
}

double host_fields_bytes(const Coord& part, const Coord& links, int columns) {
  const double spinor = 2 * HostSpinor::components * sizeof(double), table = 2 * sizeof(std::uint32_t) * 9.0 / 4;
  return static_cast<double>(volume(links)) * HostGauge::reals_per_site * sizeof(double) +
         static_cast<double>(volume(part)) * ((columns + 1) * spinor + table);
}

}  // namespace quarkstar
