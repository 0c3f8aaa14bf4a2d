#include "solvers/footprint.hpp"

#include "codelets/actions/wilson/schwarz.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/system/error.hpp"
#include "solvers/eigen/recycled_space.hpp"
#include "solvers/krylov/fixed_steps.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/solver_choice.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace quarkstar {
namespace {

/// What a solve holds in one precision.
struct OnePrecision {
  Precision precision;
  LayoutRequest layout;
  double link_bytes;   ///< per site
  double field_bytes;  ///< per site of one parity, of all fields together
  double face_bytes;   ///< per site of a face
  std::optional<SchwarzSettings> schwarz{};
};

Footprint footprint_of_one(const runtime::Decomposition& decomposition, const runtime::Block& block, const OnePrecision& one) {
  const LaneGrid grid = choose_lane_grid(decomposition, one.precision, one.layout);
  const double half = static_cast<double>(volume(block.extents)) / 2, lanes = grid.lanes;
  Coord outer{}, inside{};
  double face_sites = 0, packed = 0;
  for (int mu = 0; mu < 4; ++mu) {
    outer[mu] = block.extents[mu] / (grid.splits(mu) ? 2 : 1);
    inside[mu] = std::max(0, outer[mu] - (decomposition.is_cut(mu) ? 2 * one.layout.reach : 0));
  }
  const double sites = static_cast<double>(volume(outer)) / 2, edge = sites - static_cast<double>(volume(inside)) / 2;
  for (int mu = 0; mu < 4; ++mu) {
    if (!decomposition.is_cut(mu)) continue;
    const double layers = one.layout.reach * sites / outer[mu];
    packed += 2 * layers;
    // A face for a block of another rank is kept by its sender too.
    double kept = 2;
    for (const int direction : {2 * mu, 2 * mu + 1})
      if (decomposition.block(decomposition.neighbour(block.index, direction)).rank != block.rank) kept += 1;
    face_sites += kept * layers * lanes / (grid.splits(mu) ? 2 : 1);
  }
  const int hops = one.layout.reach == 1 ? 1 : 2;  // near ones, and far ones
  Footprint bytes;
  bytes.links = 2 * half * one.link_bytes;
  bytes.fields = half * one.field_bytes;
  bytes.faces = 2 * face_sites * one.face_bytes;
  bytes.tables = sizeof(std::uint32_t) * 2 * (hops * 8 * sites + sites + hops * 8 * edge + packed);
  if (one.schwarz)
    bytes.tables += sizeof(std::uint32_t) * static_cast<double>(wilson::schwarz_table_words(volume(outer) / 2, one.schwarz->domain));
  return bytes;
}

const NamedKrylovSolver& solver_named(const std::string& name) {
  const NamedKrylovSolver* solver = find_krylov_solver(name);
  if (solver == nullptr) throw Error(ErrorKind::input, Parameter("solver"), "unknown solver '" + name + "'", "use one of solver_names()");
  return *solver;
}

/// Vectors of one parity in each precision of a solve.
struct Vectors {
  double outer = 0, inner = 0;
};

/// What the recurrence of a solver for n right-hand sides holds, and what is FixedSteps inside it.
RecurrenceMemory recurrences_of(const SolverSettings& settings, const NamedKrylovSolver& solver, int n) {
  RecurrenceMemory memory = solver.memory(settings.restart, n);
  if (settings.multigrid) {
    for (int level = 0; level < settings.multigrid->levels; ++level) {
      const RecurrenceMemory cycle = MultigridCycle::memory(*settings.multigrid, false, level, n);
      if (level == 0) memory.fields += cycle.fields;
      memory.state_bytes += cycle.state_bytes;
    }
    return memory;
  }
  if (!settings.inner) return memory;
  const RecurrenceMemory inner = FixedSteps::memory(solver_named(settings.inner->name), settings.inner->steps, settings.restart, n);
  return {memory.fields + inner.fields, memory.state_bytes + inner.state_bytes};
}

/// At the peak of Solver::solve for n right-hand sides, while a correction by a solver that is not shifted runs.
Vectors vectors_of_correction(const SolverSettings& settings, const NamedKrylovSolver& solver, int images, int n) {
  // b, x, r, e on both parities, and the even-odd system's right-hand side; of a copy both parities, and the other one of
  // the correction
  const int outer = 8 + 1 + (settings.snapshots ? 3 : 0);
  const int krylov = images + recurrences_of(settings, solver, n).fields;
  constexpr int bridge = 2;
  // Beside a RecycledSpace the Krylov solver has a solution and a right-hand side of its own in every precision. Images: of A, its
  // factor's.
  const int gathers = settings.recycle > 0 ? 2 : 0;
  const double space = settings.recycle > 0 ? RecycledSpace::most_vectors_for(settings.recycle, n) : 0;
  if (settings.precision == Precision::double_)
    return {static_cast<double>(n) * (outer + krylov + (gathers > 0 ? bridge + 2 + gathers : 0)) + space, 0};
  const int before = settings.recycle > 0 ? 1 : 0;  // the solution at the last pause, beside refreshes
  return {static_cast<double>(n) * (outer + bridge + images + gathers + before) + space, static_cast<double>(n) * (2 + krylov)};
}

/// The same for a shifted solver and n masses, of which later corrections are by `cg`. Its base system has one vector, y on both parities
/// and a direction for each mass. Memory of one size passes from the first solve to the corrections (runtime/graph/handle_pool.hpp).
Vectors vectors_of_shifts(const SolverSettings& settings, const NamedKrylovSolver& solver, int images, int n) {
  const Vectors corrections = vectors_of_correction(settings, conjugate_gradients(true), images, n);
  const bool mixed = settings.precision != Precision::double_;
  const int base_krylov = 1 + solver.memory(settings.restart, n).fields;
  constexpr int whole = 8 + 2 + 1 + 1;  // b, x, r, e and y on both parities; the outer system's image; directions, below double precision
                                        // what comes back from them
  const Vectors wide{1.0 * whole * n, mixed ? 2.0 * n : 0};
  const Vectors narrow = mixed ? Vectors{1 + 1, 1.0 + base_krylov} : Vectors{1.0 + base_krylov, 0};
  if (n == 1) return {std::max(corrections.outer, wide.outer + narrow.outer), std::max(corrections.inner, wide.inner + narrow.inner)};
  return {std::max(corrections.outer, wide.outer) + narrow.outer, std::max(corrections.inner, wide.inner) + narrow.inner};
}

/// The same where that is for all sites at once (solvers/normal_operator.hpp), and corrections are by `cgnr`. Fields on all sites, twice as
/// large, stay beside the corrections.
Vectors vectors_of_shifts_on_all_sites(const SolverSettings& settings, const NamedKrylovSolver& solver, int images, int n) {
  const Vectors corrections = vectors_of_correction(settings, conjugate_gradients(false), images, n);
  const bool mixed = settings.precision != Precision::double_;
  // As above without directions; the source; what NormalOperator holds, and its system's image.
  constexpr double whole = 8 + 2 + 1, source = 2, of_operator = 2 + 2 + 1;
  const int krylov = solver.memory(settings.restart, n).fields;
  // Solutions, and directions or what comes back from them; the right-hand side, below double precision scaled too.
  const Vectors on_all_sites = mixed ? Vectors{2.0 * n + 2, 2.0 * n + 1 + krylov} : Vectors{2.0 * n + 1 + krylov, 0};
  const double wide = whole * n, narrow = mixed ? source : source + of_operator, inner = mixed ? of_operator : 0;
  const Vectors beside = n == 1 ? Vectors{std::max(corrections.outer, wide + narrow), std::max(corrections.inner, inner)}
                                : Vectors{std::max(corrections.outer, wide) + narrow, corrections.inner + inner};
  return {beside.outer + 2 * on_all_sites.outer, beside.inner + 2 * on_all_sites.inner};
}

/// Right-hand sides of all kinds of hopping operator together.
int sum_of(const std::set<int>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0); }

/// Of multigrid on one block: what stays, and what a solve for n right-hand sides and the set-up take besides. whole: the first level that
/// every rank has whole, where its first block is.
struct MultigridMemory {
  double matrices, null_vectors, of_solve, of_setup;
};
MultigridMemory multigrid_memory(const MultigridSettings& settings, const Coord& lattice, const runtime::Block& block, Precision precision,
                                 int n, int whole, bool is_first) {
  const double complex = 2 * static_cast<double>(computed_bytes(precision)), count = settings.null_vectors;
  const int at_once = coarse::null_vectors_at_once(settings.null_vectors);
  const bool dense = has_dense_inverse(settings, lattice);
  MultigridMemory memory{};
  double of_block = static_cast<double>(volume(block.extents)), all_sites = static_cast<double>(volume(lattice));
  double components = spinor_components, coarse_setup = 0;
  for (int level = 0; level < settings.levels; ++level) {
    const double sites = level < whole ? of_block : is_first ? all_sites : 0;
    const double vectors = sites / 2 * components * complex * count;  // N of one parity
    if (level > 0) {
      const auto of_matrices = [&](Precision stored) {
        return sites * static_cast<double>(coarse::CoarseMatrices::bytes_per_site(2 * settings.null_vectors, stored));
      };
      memory.matrices += of_matrices(settings.half_matrices ? Precision::half : precision);
      if (settings.half_matrices) coarse_setup += of_matrices(precision);
      const auto of_cycle = [&](int right_hand_sides) {
        return MultigridCycle::memory(settings, dense, level, right_hand_sides).fields * right_hand_sides * sites / 2 * components *
               complex;
      };
      if (level + 1 == settings.levels && dense)
        memory.matrices +=
            coarse::DenseInverse::reals(sites, all_sites, 2 * settings.null_vectors) * static_cast<double>(computed_bytes(precision));
      const auto of_pieces = [&](int right_hand_sides) {  // those of the block, and with copies for and from other ranks
        return level == whole ? coarse::Restriction::fields * right_hand_sides * (of_block + 2 * sites) * components * complex : 0;
      };
      memory.of_solve += of_cycle(n) + of_pieces(n);
      coarse_setup += of_cycle(at_once) + of_pieces(at_once);
    }
    if (level + 1 < settings.levels) {
      memory.null_vectors += 3 * vectors;
      // Columns and images of them on both parities, or zeros before, of one field; the raw vectors of further levels. Or a cycle.
      constexpr int image_of_system = 1, of_coarsening = 4, raw = 2;
      const int best = level == 0 ? 1 : 0;  // where the set-up needs further cycles
      const int cycle = level > 0 ? 0 : MultigridCycle::memory(settings, dense, 0, at_once).fields + 1;
      const double of_field = vectors * at_once / count;
      memory.of_setup += vectors * best + of_field * image_of_system +
                         std::max(of_field * of_coarsening + vectors * (settings.levels > 2 ? raw : 0), of_field * cycle);
    }
    for (double* count_of : {&of_block, &all_sites}) *count_of /= static_cast<double>(volume(aggregate_of(settings, lattice, level)));
    components = 2.0 * settings.null_vectors;
  }
  memory.of_setup += coarse_setup;
  return memory;
}

/// While the last of these numbers of right-hand sides is solved.
std::vector<Footprint> footprint_of_last(const runtime::Decomposition& decomposition, const SolverSettings& settings,
                                         const OperatorShape& shape, std::span<const int> vectors, int vectors_in_lanes) {
  const NamedKrylovSolver& solver = solver_named(settings.solver);
  const bool mixed = settings.precision != Precision::double_;
  const int n = vectors.back();
  std::set<int> outer_kinds(vectors.begin(), vectors.end()), inner_kinds;
  if (mixed || shape.one_layout) inner_kinds = outer_kinds;
  if (solver.shifted) (mixed || shape.one_layout ? inner_kinds : outer_kinds).insert(1);

  const auto in = [&](Precision precision, double link_bytes, double fields, int right_hand_sides, bool preconditioned) -> OnePrecision {
    LayoutRequest layout{.reach = shape.reach, .vectors_in_lanes = vectors_in_lanes};
    if (preconditioned && settings.schwarz) layout.unit = settings.schwarz->domain;
    if (preconditioned && settings.multigrid) layout.unit = coarse::unit_of(settings.multigrid->aggregate);
    return {precision,
            layout,
            link_bytes,
            fields * shape.slices * static_cast<double>(site_bytes(precision, 2 * shape.components)),
            static_cast<double>(shape.face.bytes(precision)) * right_hand_sides * shape.slices,
            preconditioned ? settings.schwarz : std::nullopt};
  };
  // Solutions of four dimensions and at the midpoint, beside what the pool of the solve has kept.
  const double physical = shape.slices > 1 ? 4.0 * n / shape.slices : 0;
  const auto precisions = [&](const Vectors& fields) {
    std::vector<OnePrecision> all{in(Precision::double_, shape.outer_links + (shape.one_layout ? shape.inner_links : 0),
                                     fields.outer + physical, sum_of(outer_kinds) + (shape.one_layout ? sum_of(inner_kinds) : 0), !mixed)};
    if (mixed) all.push_back(in(settings.precision, shape.inner_links, fields.inner, sum_of(inner_kinds), true));
    if (shape.slices > 1 && vectors_in_lanes > 1)
      all.push_back({Precision::double_, {.most_lanes = 1}, 0, 0, 0, {}});  // of four dimensions
    return all;
  };
  // A partial sum per task and vector: interior and boundary, three of every hopping operator; and those of the solver.
  const double of_solver = solver.mixes_vectors ? n * n : (3.0 + (solver.keeps_directions ? 2.0 * settings.restart : 0)) * n;
  const double of_space = settings.recycle > 0 ? RecycledSpace::sums_on_a_block(settings.recycle, n) : 0;
  const double sums = 2 * 3 * (sum_of(outer_kinds) + sum_of(inner_kinds)) + of_solver + of_space;
  const int whole = settings.multigrid ? first_whole_level(*settings.multigrid, decomposition) : 0;
  std::set<int> with_first_block;
  std::vector<Footprint> blocks;
  for (const runtime::Block& block : decomposition.blocks()) {
    const auto total = [&](const Vectors& fields) {
      Footprint bytes;
      for (const OnePrecision& one : precisions(fields)) bytes += footprint_of_one(decomposition, block, one);
      return bytes;
    };
    const auto vectors_of = !solver.shifted             ? vectors_of_correction
                            : shape.normal_on_all_sites ? vectors_of_shifts_on_all_sites
                                                        : vectors_of_shifts;
    Footprint bytes = total(vectors_of(settings, solver, shape.images, n));
    bytes.scalars = sums * sizeof(runtime::BinnedSum);
    bytes.multiply_solves(settings.in_flight);
    if (settings.multigrid) {  // which all solves with an operator share, and which is set up before they begin
      const bool is_first = with_first_block.insert(block.rank).second;
      const MultigridMemory multigrid =
          multigrid_memory(*settings.multigrid, decomposition.lattice(), block, settings.precision, n, whole, is_first);
      bytes.links += multigrid.matrices;
      bytes.fields = shape.operators * multigrid.null_vectors +
                     std::max(bytes.fields + settings.in_flight * multigrid.of_solve, shape.operators * multigrid.of_setup);
    }
    blocks.push_back(bytes);
  }
  blocks[static_cast<std::size_t>(decomposition.local().front())].scalars +=
      settings.in_flight * (static_cast<double>(recurrences_of(settings, solver, n).state_bytes) +
                            static_cast<double>(sizeof(double)) * n * recorded_iterations(settings.max_iterations));
  if (settings.recycle > 0) {  // each process has the same matrices: they count where its work on the host does
    std::set<int> ranks;
    for (const runtime::Block& block : decomposition.blocks())
      if (ranks.insert(block.rank).second)
        blocks[static_cast<std::size_t>(block.index)].scalars += RecycledSpace::matrix_bytes(settings.recycle, n);
  }
  return blocks;
}

}  // namespace

Footprint& Footprint::operator+=(const Footprint& other) {
  links += other.links;
  fields += other.fields;
  faces += other.faces;
  tables += other.tables;
  scalars += other.scalars;
  return *this;
}

void Footprint::multiply_solves(int in_flight) {
  for (double* bytes : {&fields, &faces, &scalars}) *bytes *= in_flight;
}

OperatorShape operator_shape(const ActionKind& kind, const SettingValues& values, const SolverSettings& settings) {
  const bool mixed = settings.precision != Precision::double_, has_long = kind.reach > 1;
  // Long links are beside others, which have all reals.
  const auto chosen = [&](Precision precision) { return links_bytes(precision, settings.link_reals); };
  const auto all = [&](Precision precision) { return links_bytes(precision, 18) * (has_long ? 2 : 1); };
  const auto links = [&](Precision precision) { return chosen(precision) + (has_long ? links_bytes(precision, 18) : 0); };
  const auto term = [&](Precision precision) { return kind.term_bytes(values, precision, settings.schur); };
  OperatorShape shape{.components = kind.components,
                      .face = kind.face,
                      .reach = kind.reach,
                      .slices = kind.slices(values),
                      .images = kind.images(settings.schur),
                      .outer_links = term(Precision::double_),
                      .one_layout = !mixed && has_long && settings.link_reals != 18,
                      .normal_on_all_sites = !kind.is_hermitian,
                      .operators = kind.masses_share_links(values) ? 1 : std::min<int>(settings.in_flight, kind.masses(values).size())};
  shape.outer_links += mixed || shape.one_layout ? all(Precision::double_) : links(Precision::double_);
  if (mixed) shape.inner_links = links(settings.precision) + term(settings.precision);
  if (shape.one_layout) shape.inner_links = chosen(Precision::double_);
  return shape;
}

std::vector<Footprint> footprint(const runtime::Decomposition& decomposition, const SolverSettings& given, const OperatorShape& shape,
                                 std::span<const int> vectors, int vectors_in_lanes) {
  const SolverSettings settings = completed(given, decomposition.lattice());
  if (settings.in_flight > 1) {  // the largest together, beside every kind of hopping operator
    std::vector<int> rising(vectors.begin(), vectors.end());
    std::sort(rising.begin(), rising.end());
    return footprint_of_last(decomposition, settings, shape, rising, vectors_in_lanes);
  }
  // An operator stays for every number of right-hand sides that was asked for, its vectors only while they are solved: the
  // peak may be at any of them.
  std::vector<Footprint> peak;
  for (std::size_t k = 1; k <= vectors.size(); ++k) {
    const std::vector<Footprint> now = footprint_of_last(decomposition, settings, shape, vectors.first(k), vectors_in_lanes);
    if (peak.empty()) peak = now;
    for (std::size_t b = 0; b < now.size(); ++b)
      if (now[b].total() > peak[b].total()) peak[b] = now[b];
  }
  return peak;
}

double face_bytes(const runtime::Decomposition& decomposition, const runtime::Block& block, const OperatorShape& shape, int vectors) {
  const double bytes = static_cast<double>(shape.face.bytes(Precision::double_)) * vectors * shape.slices;
  return footprint_of_one(decomposition, block, {Precision::double_, {.reach = shape.reach}, 0, 0, bytes, {}}).faces;
}

double host_bytes_of_setup(const runtime::Decomposition& decomposition, const SolverSettings& given) {
  const Coord& lattice = decomposition.lattice();
  const std::optional<MultigridSettings> multigrid = completed(given, lattice).multigrid;
  if (!multigrid || !has_dense_inverse(*multigrid, lattice)) return 0;
  return coarse::DenseInverse::host_bytes(coarsest_lattice(*multigrid, lattice), 2 * multigrid->null_vectors);
}

Footprint host_copies(const Footprint& on_gpu, const runtime::Block& block, int site_reals) {
  constexpr int transferred = 4;  // b and x on both parities
  const double field = static_cast<double>(volume(block.extents)) / 2 * static_cast<double>(site_bytes(Precision::double_, site_reals));
  return {.links = on_gpu.links, .fields = transferred * field, .faces = 0, .tables = on_gpu.tables, .scalars = on_gpu.scalars};
}

}  // namespace quarkstar
