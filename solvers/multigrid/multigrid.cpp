#include "solvers/multigrid/multigrid.hpp"

#include "codelets/field/transfer.hpp"
#include "codelets/lattice/random.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/gcr_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

namespace quarkstar {
namespace {

constexpr std::uint64_t noise_seed = 1;

const NamedKrylovSolver& gcr() { return *find_krylov_solver("gcr"); }
/// GCR without restarts, as far as it keeps directions.
int directions_for(int steps) { return std::min(steps, gcr_steps::most_directions); }

std::vector<double> norms2(const Field& field) {
  const runtime::PartialSums sums(static_cast<int>(field.lattice()->local_blocks().size()), field.vectors());
  blas::submit<blas::Norm>({&field}, {}, {}, &sums);
  return runtime::values_of(sums, field.vectors());
}

/// sqrt(sum_v |a_v|^2 / sum_v |b_v|^2).
double ratio(const Field& a, const Field& b) {
  double above = 0, below = 0;
  for (const double norm2 : norms2(a)) above += norm2;
  for (const double norm2 : norms2(b)) below += norm2;
  return std::sqrt(above / below);
}

/// Normal numbers on the field's sites; first: the number of the first vector among all that are drawn.
void load_noise(const Field& field, int first) {
  const runtime::Decomposition& decomposition = field.lattice()->decomposition();
  std::vector<HostField> host(static_cast<std::size_t>(field.vectors()), HostField(spinor_components, decomposition.part()));
  for (std::size_t v = 0; v < host.size(); ++v)
    for (std::int64_t i = 0; i < volume(host[v].extents); ++i) {
      const Coord site = site_of(host[v].box(), i);
      if (parity_of(site) != field.parity()) continue;
      RandomStream stream(noise_seed, RandomPurpose::null_vectors, lexicographic(site, decomposition.lattice()),
                          static_cast<std::uint64_t>(first) + v);
      for (int c = 0; c < spinor_components; c += 2) {
        const std::array<double, 4> numbers = stream.gaussians();
        host[v].at(i, c) = {numbers[0], numbers[1]};
        host[v].at(i, c + 1) = {numbers[2], numbers[3]};
      }
    }
  transfer::load(field, host);
  runtime::Session::current().wait_all();
}

/// to = x / |x|, vector by vector.
void normalise(const Field& to, const Field& x) {
  const std::vector<double> norm2 = norms2(x);
  blas::submit<blas::Scale>({&to, &x}, {for_each_vector(norm2.size(), [&](std::size_t v) { return 1 / std::sqrt(norm2[v]); })});
}

}  // namespace

void check_multigrid(const MultigridSettings& settings, const runtime::Decomposition& decomposition, Precision precision, Schur schur) {
  coarse::require_aggregates(decomposition, settings.aggregate, settings.null_vectors);
  constexpr int most_steps = 1000;
  for (const auto& [name, steps, least] : {std::tuple{"smoother-steps", settings.smoother_steps, 1},
                                           {"coarse-steps", settings.coarse_steps, 1},
                                           {"setup-steps", settings.setup_steps, 1},
                                           {"setup-cycles", settings.setup_cycles, 0}})
    if (steps < least || steps > most_steps)
      throw Error(ErrorKind::input, Parameter(name), fmt::format("{} of them", steps), fmt::format("give {} to {}", least, most_steps));
  if (precision == Precision::half)
    throw Error(ErrorKind::input, Parameter("precision"), "multigrid has no fields in half precision", "use single or double");
  if (schur != Schur::asymmetric)
    throw Error(ErrorKind::input, Parameter("schur"), "multigrid is for the asymmetric Schur complement", "use asymmetric");
}

Multigrid::Multigrid(PreparedAction& fine, const MultigridSettings& settings, double mass)
    : fine_(fine),
      settings_(settings),
      aggregates_(fine.lattice(), settings.aggregate, settings.null_vectors),
      matrices_(aggregates_),
      test_(fine.lattice(), 1, spinor_components, settings.null_vectors) {
  fine.prepare(settings.null_vectors);
  const std::unique_ptr<EvenOdd> m = fine.system(settings.null_vectors, same_for_all(mass));
  make_null_vectors(*m);
  coarsen(*m);
  for (int cycle = 0; cycle < settings.setup_cycles; ++cycle) {
    improve(*m);
    coarsen(*m);
  }
  if constexpr (runtime::backend::computes) verify(mass);
  runtime::Session::current().wait_all();
}

void Multigrid::make_null_vectors(EvenOdd& m) {
  const Field noise = m.field(), filtered = m.field();
  load_noise(noise, 0);
  FixedSteps(m, *find_krylov_solver("bicgstab"), settings_.setup_steps, 1).apply(filtered, noise, {});
  normalise(test_, filtered);
}

void Multigrid::improve(EvenOdd& m) {
  const Field better = m.field();
  MultigridCycle(m, *this).apply(better, test_);
  normalise(test_, better);
}

void Multigrid::coarsen(EvenOdd& m) {
  const FullField& null_vectors = aggregates_.null_vectors();
  const FullField zero(fine_.lattice(), spinor_components, settings_.null_vectors);
  for (const int parity : {0, 1}) blas::submit<blas::Fill>({&zero.of(parity)}, {0.0});
  blas::submit<blas::Scale>({&null_vectors.odd, &test_}, {1.0});
  m.reconstruct(null_vectors.even, zero, test_);  // M v = (0, Mh v)
  aggregates_.orthonormalise();
  matrices_.compute(aggregates_, m);
}

void Multigrid::verify(double mass) {
  constexpr int n = 4;
  fine_.prepare(n);
  const std::unique_ptr<EvenOdd> m = fine_.system(n, same_for_all(mass));
  const FullField fine(fine_.lattice(), spinor_components, n), image(fine_.lattice(), spinor_components, n);
  const Field c = aggregates_.coarse_field(n), product = aggregates_.coarse_field(n), expected = aggregates_.coarse_field(n);
  for (const int parity : {0, 1}) load_noise(fine.of(parity), settings_.null_vectors);
  aggregates_.restrict(c, coarse::Aggregates::both(fine));  // coarse vectors of chance
  aggregates_.prolong(coarse::Aggregates::both(fine), c);
  aggregates_.restrict(product, coarse::Aggregates::both(fine));
  blas::submit<blas::AddScaled>({&product, &c}, {-1.0});
  verification_.orthonormality = ratio(product, c);

  submit_together([&] {
    for (const int parity : {0, 1}) m->times_m(image.of(parity), fine, 1);
  });
  aggregates_.restrict(expected, coarse::Aggregates::both(image));
  coarse::CoarseOperator operation(matrices_, n);
  operation.apply(product, c, {}, false, {});
  blas::submit<blas::AddScaled>({&expected, &product}, {-1.0});
  verification_.galerkin = ratio(expected, product);

  const Field r = m->field(), x = m->field(), left = m->field();
  load_noise(r, settings_.null_vectors + n);
  MultigridCycle(*m, *this).apply(x, r);
  m->apply(left, x, {}, false, {});
  blas::submit<blas::AddScaled>({&left, &r}, {-1.0});
  verification_.contraction = ratio(left, r);

  const double rounding = fine_.lattice()->precision() == Precision::double_ ? 1e-10 : 1e-3;
  const auto fail = [&](const char* what, double value, const char* remedy) {
    throw Error(ErrorKind::numerical, Parameter("null-vectors"), fmt::format("the multigrid set-up failed: {} {:.1e}", what, value),
                remedy);
  };
  if (!(verification_.orthonormality < rounding))
    fail("null vectors depend on each other on an aggregate, |P^+ P c - c| / |c| =", verification_.orthonormality,
         "give fewer null vectors or larger aggregates");
  if (!(verification_.galerkin < rounding)) fail("|D_c c - P^+ M P c| / |D_c c| =", verification_.galerkin, "use double precision");
  if (!(verification_.contraction < 1))
    fail("a cycle leaves of a residual", verification_.contraction, "give more setup-steps or null vectors, or a heavier quark");
}

MultigridCycle::MultigridCycle(LinearOperator& system, const Multigrid& multigrid)
    : system_(system),
      multigrid_(multigrid),
      coarse_(multigrid.matrices(), system.vectors()),
      coarse_solver_(coarse_, gcr(), multigrid.settings().coarse_steps, directions_for(multigrid.settings().coarse_steps)),
      smoother_(system, gcr(), multigrid.settings().smoother_steps, directions_for(multigrid.settings().smoother_steps)),
      coarse_residual_(coarse_.field()),
      coarse_solution_(coarse_.field()),
      residual_(system.field()),
      correction_(system.field()) {
  if (system.lattice() != multigrid.aggregates().fine()) throw ShapeError("MultigridCycle", "a system on another lattice");
}

RecurrenceMemory MultigridCycle::fine_memory(const MultigridSettings& settings, int n) {
  RecurrenceMemory memory = FixedSteps::memory(gcr(), settings.smoother_steps, directions_for(settings.smoother_steps), n);
  memory.fields += 2;
  return memory;
}

RecurrenceMemory MultigridCycle::coarse_memory(const MultigridSettings& settings, int n) {
  RecurrenceMemory memory = FixedSteps::memory(gcr(), settings.coarse_steps, directions_for(settings.coarse_steps), n);
  memory.fields += 2;
  return memory;
}

void MultigridCycle::apply(const Field& out, const Field& in, const runtime::Guard& guard) const {
  const coarse::Aggregates& aggregates = multigrid_.aggregates();
  const auto on_solved_sites = [&](const Field& field) {
    coarse::Aggregates::Fine fine{nullptr, nullptr};
    fine[static_cast<std::size_t>(field.parity())] = &field;
    return fine;
  };
  runtime::Guard within = guard;  // of fields that nobody reads later
  within.keeps = false;
  aggregates.restrict(coarse_residual_, on_solved_sites(in), within);
  coarse_solver_.apply(coarse_solution_, coarse_residual_, within);
  aggregates.prolong(on_solved_sites(out), coarse_solution_, guard);
  system_.apply(residual_, out, {}, false, within);
  blas::submit<blas::Direction>({&residual_, &in}, {-1.0}, within);  // in - Mh x
  smoother_.apply(correction_, residual_, within);
  blas::submit<blas::AddScaled>({&out, &correction_}, {1.0}, guard);
}

}  // namespace quarkstar
