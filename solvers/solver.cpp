#include "solvers/solver.hpp"

#include "codelets/actions/submit_together.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/norms.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/field/wait_for_readers.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/handle_pool.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/clock.hpp"
#include "runtime/system/error.hpp"
#include "solvers/deflation.hpp"
#include "solvers/eigen/recycled_space.hpp"
#include "solvers/krylov/fixed_steps.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/set_up.hpp"
#include "solvers/normal_operator.hpp"
#include "solvers/solve_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace quarkstar {
namespace {

/// Iterations after which multigrid stalls: several times as many as it ever needs.
constexpr int most_multigrid_iterations = 100;

bool is_failure(StopReason reason) {
  return reason == StopReason::stagnation || reason == StopReason::zero_denominator || reason == StopReason::not_finite;
}

/// Iterations after which what a solution has gained goes into a RecycledSpace: the fewer, the more of the modes that are resolved late,
/// and each time costs two applications of the operator and the products with the space (docs/results/2026-11-28-recycling.md).
constexpr int iterations_of_a_gain = 8;

constexpr double infinite = std::numeric_limits<double>::max();

/// A power of two that brings numbers of this square near 1, away from where single precision underflows; it changes no
/// digit.
double scale_of(double norm2) { return norm2 > 0 && std::isfinite(norm2) ? std::exp2(-std::round(0.5 * std::log2(norm2))) : 1; }

const NamedKrylovSolver& solver_for(const Action& action, const SolverSettings& settings) {
  const NamedKrylovSolver* solver = find_krylov_solver(settings.solver);
  const std::vector<std::string>& names = solver_names(action.is_hermitian());
  if (solver == nullptr)
    throw Error(ErrorKind::input, Parameter("solver"), fmt::format("unknown solver '{}'", settings.solver),
                fmt::format("use one of {}", fmt::join(names, ", ")));
  for (const auto& [parameter, given] : {std::pair{"schwarz-block", settings.schwarz.has_value()},
                                         {"inner-solver", settings.inner.has_value()},
                                         {"aggregate", settings.multigrid.has_value()}})
    if (given && !solver->flexible)
      throw Error(ErrorKind::input, Parameter(parameter),
                  fmt::format("the preconditioner differs from one application to the next, and {} cannot do with that", settings.solver),
                  "use the solver gcr");
  if (settings.inner) {
    if (settings.schwarz)
      throw Error(ErrorKind::input, Parameter("inner-solver"), "there is a preconditioner already, schwarz-block", "give one of them");
    const NamedKrylovSolver* inner = find_krylov_solver(settings.inner->name);
    if (inner == nullptr || !inner->can_be_inner() || std::find(names.begin(), names.end(), settings.inner->name) == names.end())
      throw Error(ErrorKind::input, Parameter("inner-solver"), fmt::format("'{}' is no inner solver for this action", settings.inner->name),
                  fmt::format("use one of {}", fmt::join(names, ", ")));
  }
  if (settings.multigrid) {
    if (settings.schwarz || settings.inner)
      throw Error(ErrorKind::input, Parameter("aggregate"),
                  fmt::format("there is a preconditioner already, {}", settings.schwarz ? "schwarz-block" : "inner-solver"),
                  "give one of them");
    if (action.components() != spinor_components)
      throw Error(ErrorKind::input, Parameter("aggregate"), "multigrid is for Wilson-type actions", "leave it out");
  }
  const bool listed = solver->multigrid ? !action.is_hermitian() : std::find(names.begin(), names.end(), settings.solver) != names.end();
  if (!solver->shifted && !listed)
    throw Error(ErrorKind::input, Parameter("solver"),
                action.is_hermitian()
                    ? fmt::format("'{}' is no solver for this action, whose even-odd system is hermitian and positive", settings.solver)
                    : fmt::format("'{}' needs a hermitian positive operator, which this action's is not", settings.solver),
                fmt::format("use one of {}", fmt::join(names, ", ")));
  return *solver;
}

/// Throws Error(input) where a shifted solver was asked for and masses do not shift the operator.
void require_shifts(const NamedKrylovSolver& solver, const PreparedActions& prepared) {
  if (solver.shifted && !prepared.outer->shift_between(1, 1))
    throw Error(ErrorKind::input, Parameter("solver"),
                fmt::format("'{}' needs masses that shift M^+ M, which this action's do not", solver.name), "use another solver");
}

}  // namespace

int most_vectors_in_lanes(int components, const SolverSettings& settings, std::span<const int> vectors) {
  if constexpr (!runtime::backend::computes) return 1;  // speeds of machine files are those of lanes of sites
  const runtime::Session& session = runtime::Session::current();
  const bool spinors = components == spinor_components;
  if (settings.recycle > 0) return 1;  // a RecycledSpace has lanes of sites
  const bool elsewhere =
      spinors ? session.gpu_count() == 0 || session.cpus_join() : session.gpu_count() > 0 || arch::name_of(arch::current()) == "scalar";
  if (runtime::mpi::Job::current().any(elsewhere)) return 1;
  const auto fill = [&](int lanes) { return std::all_of(vectors.begin(), vectors.end(), [lanes](int n) { return n % lanes == 0; }); };
  if (spinors) {
    if (settings.link_reals == 8 || settings.precision == Precision::half) return 1;
    for (const int lanes : {16, 12, 8})
      if (fill(lanes)) return lanes;
    return 1;
  }
  if (!find_krylov_solver(settings.solver)->vectors_in_lanes || settings.link_reals != 18) return 1;
  for (const int lanes : {16, 8}) {
    const bool fit_a_line = lanes * computed_bytes(settings.precision) <= 64;  // of double precision 8, as Lattice has them
    if (fit_a_line && fill(lanes)) return lanes;
  }
  return 1;
}

int vectors_in_lanes_for(int components, const SolverSettings& settings, std::span<const int> vectors) {
  // Wilson's hopping term is faster with vectors in lanes, its solves are not: docs/results/2026-11-24-gpu-layouts-h200.md.
  if (components == spinor_components) return 1;
  if (settings.precision == Precision::half) return 1;  // slower: docs/results/2026-11-23-vectors-in-lanes.md
  return most_vectors_in_lanes(components, settings, vectors);
}

void require_deflatable(const SolverSettings& settings) {
  const NamedKrylovSolver* const solver = find_krylov_solver(settings.solver);
  if (settings.recycle > 0)
    throw Error(ErrorKind::input, Parameter("recycle"), "solves begin with modes that they gather, and eigenvectors are given",
                "leave it out, or give no eigenvectors");
  if (solver != nullptr && solver->mixes_vectors && settings.precision == Precision::half)
    throw Error(ErrorKind::input, Parameter("precision"),
                fmt::format("{} in half precision loses known modes again in each correction, and may not converge", settings.solver),
                "use single precision, or the solver cg");
}

struct Solver::Impl {
  static constexpr int usual_patience = 200;  ///< KrylovLimits, below double precision

  SolverSettings settings;
  const NamedKrylovSolver* krylov;
  int components;
  bool is_hermitian;
  PreparedActions prepared;
  runtime::HandlePools pools;                    ///< for the fields of a solve
  std::unique_ptr<const Multigrid> multigrid{};  ///< none where its set-up failed: then krylov is the fallback
  std::unique_ptr<const Deflation> deflation{};
  std::shared_ptr<RecycledSpace> recycled{};  ///< settings.recycle: what deflation is by, once there has been a solve
  double recycled_mass = 0;
  std::size_t recycled_from = 0;  ///< right-hand sides whose solves have gathered
  bool recycles = false;          ///< the space serves the solve that runs

  void set_up_multigrid() {
    PreparedAction& fine = prepared.krylov();
    if (!fine.own_mass())
      throw Error(ErrorKind::input, Parameter("aggregate"), "multigrid is set up for one mass, and this action has several, or none",
                  "give one");
    multigrid = set_up(fine, *settings.multigrid, *fine.own_mass());
    if (!multigrid) krylov = find_krylov_solver(fallback_solver);
  }

  /// Every hopping operator that a solve for n right-hand sides applies.
  void prepare(int n) {
    prepared.outer->prepare(n);
    if (krylov->shifted) prepared.krylov().prepare(1);
    if (krylov->shifted && deflation) prepared.outer->prepare(1);
    if (prepared.inner) prepared.inner->prepare(n);  // a shifted solve refines with all of them
  }

  /// Whether the Krylov solver has fields in a precision of its own.
  bool below_double() const { return settings.precision != Precision::double_; }
  const LatticePointer& lattice() const { return prepared.outer->lattice(); }

  /// Whether a solve gathers modes: the first right-hand sides, a fourth of the modes. Later ones would improve them by less than it costs.
  bool gathers() const { return recycles && 4 * recycled_from < static_cast<std::size_t>(settings.recycle); }
  /// Whether there is something known of the operator's inverse, for the solve that runs.
  bool deflates() const { return deflation && (!recycled || (recycles && !recycled->is_empty())); }

  /// The space that a solve for these masses gathers, and begins with; a new one where they are of another operator than those before. On
  /// the other parity than the space's a solve has none and leaves the space as it is, for who needs both asks for them in turns.
  void set_recycled(std::span<const double> masses, int parity) {
    const double mass = is_hermitian ? 0 : masses[0];  // a shift leads from there to any other
    recycles = !recycled || recycled_mass != mass || recycled->parity() == parity;
    if (recycled && recycled_mass == mass) return;
    recycled_mass = mass;
    recycled_from = 0;
    recycled = std::make_shared<RecycledSpace>(lattice(), parity, components, settings.recycle);
    deflation = std::make_unique<Deflation>(recycled, mass, is_hermitian);
  }

  /// Adds d to the space, which comes of solves of `system`, in double precision.
  void recycle(EvenOdd& system, const Field& d, const PerVector& mass) {
    const Field image = system.field();
    system.apply(image, d, {}, false, {});
    if (is_hermitian) {
      const PerVector shifts = for_each_vector(static_cast<std::size_t>(d.vectors()), [&](std::size_t v) {
        return prepared.outer->shift_between(mass[v], recycled_mass).value_or(0);
      });
      blas::submit<blas::AddScaled>({&image, &d}, {-blas::Coefficient(shifts)});
      recycled->add(d, image);
    } else {
      const Field squared = system.field();
      system.apply(squared, image, {}, true, {});
      recycled->add(d, squared);
    }
  }

  /// One correction of all right-hand sides: what is asked of it.
  struct Goal {
    std::size_t n;
    PerVector mass;
    const NamedKrylovSolver* solver = nullptr;
    bool by_multigrid = false;
    PerVector target2{};  ///< of |b - M x|^2; infinite: this right-hand side is done
    double gain2 = 0;     ///< of the projector with which it begins
    PerVector r_norm2{};
    PerVector least2{};  ///< the same, or before deflation where that is less: it makes an error smaller, and may make its residual larger
    std::array<int, most_vectors> budget{};         ///< iterations
    std::array<int, most_vectors> more_patience{};  ///< KrylovLimits
    KrylovProgress progress{};                      ///< with |residual of the even-odd system|^2
    decltype(KrylovLimits::observe) observe{};
    const SolveState* resume = nullptr;  ///< that this correction goes on from
  };

  /// What of a correction is kept: below double precision its sum too, beside the Krylov solver's own fields.
  std::vector<const Field*> kept_fields(const Field& sum, std::span<const Field* const> of_solver) const {
    std::vector<const Field*> fields;
    if (below_double()) fields.push_back(&sum);
    fields.insert(fields.end(), of_solver.begin(), of_solver.end());
    return fields;
  }

  /// After a correction that has gained little: whether the next one should wait longer for a new least residual before it gives up. In low
  /// precision most often nothing comes of that but iterations, and a new correction is better; but |r| of conjugate gradient does rest,
  /// for up to about 1 / m iterations (16^3 x 32, HISQ: 295 at m = 0.004), and where none waits the solve would end here.
  bool waits_longer(Goal& goal, std::size_t v) const {
    if (!is_hermitian || !below_double() || goal.more_patience[v] > 0) return false;
    goal.more_patience[v] = static_cast<int>(std::min(2 / goal.mass[v], 1e9));
    return goal.more_patience[v] > usual_patience;
  }

  /// Limits of a Krylov solve, with refreshes or without, whose residual is factor_v times that of M x = b.
  KrylovLimits limits_of(const NamedKrylovSolver& solver, const Goal& goal, const PerVector& factor, bool refreshes) {
    KrylovLimits limits;
    limits.check_every = settings.check_every;
    limits.restart = settings.restart;
    limits.most_iterations = goal.budget;
    limits.observe = goal.observe;
    limits.refresh.every = solver.refresh_every;
    if (solver.flexible) limits.precondition = prepared.krylov().preconditioner();
    // What one solve without refreshes can gain: five digits in single precision, two in half; asking for more would
    // end in stagnation.
    const bool half = settings.precision == Precision::half;
    const double gain2 = half ? 1e-4 : 1e-10;
    if (below_double()) {
      limits.patience = usual_patience;
      limits.resolution = half ? 1e-2 : 1e-3;  // what the low precision's products leave certain
    }
    for (std::size_t v = 0; v < goal.n; ++v) {
      const bool done = goal.target2[v] == infinite;
      // |r| of conjugate gradient does not fall all the time. Of a source that is smooth it first stays above |b| until the lowest modes
      // are resolved, for about the largest eigenvalue over the smallest, some 1 / m iterations.
      if (is_hermitian && !done) limits.patience_at_first[v] = static_cast<int>(std::min(5 / goal.mass[v], 1e9));
      limits.more_patience[v] = goal.more_patience[v];
      double target2 = below_double() && !refreshes ? std::max(goal.target2[v], gain2 * goal.r_norm2[v]) : goal.target2[v];
      target2 = std::max(target2, goal.gain2 * goal.least2[v]);
      limits.target_norm2[v] = done ? infinite : target2 * factor[v] * factor[v];
    }
    return limits;
  }

  /// Runs `solver` in its precision for A x = rhs, rhs overwritten, x and rhs in double precision. factor: as above. outer_system: A in
  /// double precision, for reliable updates where the solver knows them, and to gather modes; nullptr: without.
  KrylovResults solve_scaled(const NamedKrylovSolver& solver, LinearOperator& system, EvenOdd* outer_system, const Field& x,
                             const Field& rhs, const Goal& goal, const PerVector& factor, const PerVector& shifts) {
    const PerVector scale =
        below_double() ? for_each_vector(goal.n, [&](std::size_t v) { return scale_of(goal.r_norm2[v]); }) : same_for_all(1);
    const PerVector inverse = for_each_vector(goal.n, [&](std::size_t v) { return 1 / scale[v]; });
    const PerVector whole = for_each_vector(goal.n, [&](std::size_t v) { return factor[v] * scale[v]; });
    KrylovProgress progress;
    if (goal.progress)
      progress = [&](int iterations, const double* norm2) {
        const PerVector unscaled = for_each_vector(goal.n, [&](std::size_t v) { return norm2[v] / (scale[v] * scale[v]); });
        return goal.progress(iterations, unscaled.data());
      };
    // What low precision lets come back of a projector's space only a correction takes out again. Of a normal operator one in half
    // precision may gain nothing: its errors come back divided by 2m.
    const bool restarts = settings.updates != Updates::reliable || (deflates() && !(is_hermitian && settings.precision == Precision::half));
    const bool refreshes = below_double() && outer_system != nullptr && solver.reliable_updates && !restarts;
    KrylovLimits limits = limits_of(solver, goal, whole, refreshes);
    limits.shifts = shifts;
    if (goal.resume != nullptr)
      limits.resume = {krylov_numbers(*goal.resume), [&](std::span<const Field* const> fields) {
                         load_halves(kept_fields(x, fields), std::span(goal.resume->fields).subspan(goal.n));
                       }};
    std::optional<FixedSteps> inner;
    if (solver.flexible && settings.inner) {
      inner.emplace(system, *find_krylov_solver(settings.inner->name), settings.inner->steps, settings.restart);
      limits.precondition = [&](const Field& out, const Field& in, const runtime::Guard& guard) { inner->apply(out, in, guard); };
    }
    std::optional<MultigridCycle> cycle;
    if (goal.by_multigrid) {
      for (std::size_t v = 0; v < goal.n; ++v) limits.most_iterations[v] = std::min(limits.most_iterations[v], most_multigrid_iterations);
      cycle.emplace(system, *multigrid);
      limits.precondition = [&](const Field& out, const Field& in, const runtime::Guard& guard) { cycle->apply(out, in, guard); };
    }
    KrylovResults results;
    if (below_double() || gathers()) {
      const Field low_x = system.field(x.vectors()), low_b = system.field(rhs.vectors());
      const Field scaled(lattice(), x.parity(), components, rhs.vectors()), wide(lattice(), x.parity(), components, x.vectors());
      blas::submit<blas::Fill>({&x}, {0.0});
      blas::submit<blas::Fill>({&wide}, {0.0});  // a refresh that is not due keeps what is there, so something must be
      blas::submit<blas::Scale>({&scaled, &rhs}, {scale});
      transfer::convert(low_b, scaled);
      const auto add_to_x = [&](const Field& low, const runtime::Guard& guard) {
        transfer::convert(wide, low, guard);
        blas::submit<blas::AddScaled>({&x, &wide}, {inverse}, guard);
      };
      if (refreshes) {
        limits.refresh.drop = settings.refresh_drop > 0 ? settings.refresh_drop : settings.precision == Precision::half ? 0.1 : 1e-3;
        limits.refresh.submit = [&](const Field& low, const Field& low_r, const runtime::Guard& due) {
          add_to_x(low, due);
          blas::submit<blas::Fill>({&low}, {0.0}, due);
          outer_system->apply(wide, x, {}, false, due);
          blas::submit<blas::AddScaled>({&wide, &rhs}, {-1.0}, due);
          blas::submit<blas::Scale>({&scaled, &wide}, {-blas::Coefficient(scale)}, due);
          transfer::convert(low_r, scaled, due);
        };
      }
      std::optional<Field> before;  // x at the last pause: of what is gained a refresh has moved some into x already
      if (gathers()) {
        if (refreshes) {
          before.emplace(lattice(), x.parity(), components, x.vectors());
          blas::submit<blas::Fill>({&*before}, {0.0});
        }
        limits.pauses.every = limits.check_every = iterations_of_a_gain;
        limits.pauses.at = [&](const Field& low) {
          add_to_x(low, {});
          blas::submit<blas::Fill>({&low}, {0.0});
          if (before) {
            blas::submit<blas::Scale>({&wide, &x}, {1.0});
            blas::submit<blas::AddScaled>({&wide, &*before}, {-1.0});
            blas::submit<blas::Scale>({&*before, &x}, {1.0});
          }
          recycle(*outer_system, wide, goal.mass);
        };
      }
      results = solve_by(solver.make, system, low_x, low_b, limits, progress);
      add_to_x(low_x, {});
    } else {
      results = solve_by(solver.make, system, x, rhs, limits, progress);
    }
    for (std::size_t v = 0; v < goal.n; ++v)
      for (double& norm2 : results.of_vectors[v].norm2) norm2 /= scale[v] * scale[v];
    return results;
  }

  /// Solves M e = r through the even-odd system, of double precision.
  KrylovResults correction(EvenOdd& outer, const FullField& e, const FullField& r, const Goal& goal) {
    const auto n = static_cast<int>(goal.n);
    const Field rhs = outer.field();
    outer.prepare(rhs, r);
    const std::unique_ptr<EvenOdd> inner = prepared.inner ? prepared.inner->system(n, goal.mass, outer.parity()) : nullptr;
    EvenOdd& system = inner ? *inner : outer;
    const PerVector factor = for_each_vector(goal.n, [&](std::size_t v) { return outer.residual_factor(v); });
    const NamedKrylovSolver& solver = krylov->shifted ? *find_krylov_solver(is_hermitian ? "cg" : "cgnr") : *goal.solver;
    KrylovResults results = solve_scaled(solver, system, &outer, e.of(outer.parity()), rhs, goal, factor, {});
    outer.reconstruct(e.of(1 - outer.parity()), r, e.of(outer.parity()));
    return results;
  }

  /// x + e as far as correction() has come with e; x alone of right-hand sides that `working` leaves out. Waits for the
  /// tasks before it.
  std::vector<HostField> copy_of_iterate(EvenOdd& outer, const FullField& x, const FullField& e, const FullField& r,
                                         const runtime::Guard& working, const Box& part) {
    const int n = x.even.vectors(), solved = outer.parity();
    const FullField copy(lattice(), components, n);
    const Field other(lattice(), 1 - solved, components, n);
    outer.reconstruct(other, r, e.of(solved));
    for (const int parity : {0, 1}) {
      blas::submit<blas::Scale>({&copy.of(parity), &x.of(parity)}, {1.0});
      blas::submit<blas::AddScaled>({&copy.of(parity), parity == solved ? &e.of(solved) : &other}, {1.0}, working);
    }
    std::vector<HostField> host(static_cast<std::size_t>(n), HostField(components, part));
    for (const int parity : {0, 1}) transfer::store(host, copy.of(parity));
    runtime::Session::current().wait_all();
    return host;
  }

  /// The solve as it is behind all that was submitted. sum: of the correction.
  SolveState state_of(const CorrectionNumbers& numbers, const std::vector<SolveResult>& results, const FullField& x, const Field& sum,
                      const KrylovSnapshot& now, const Box& part) {
    SolveState state{results, {}, std::vector<HostField>(results.size(), HostField(components, part))};
    const std::span<const std::byte> bytes = std::as_bytes(std::span(&numbers, 1));
    state.numbers.assign(bytes.begin(), bytes.end());
    state.numbers.insert(state.numbers.end(), now.numbers.begin(), now.numbers.end());
    for (const int parity : {0, 1}) transfer::store(state.fields, x.of(parity));
    store_halves(state.fields, kept_fields(sum, now.fields), part);
    return state;
  }

  /// Solves M_s e_s = source for all masses: M M^+ y = source from one Krylov space, then e = M^+ y. Where M M^+ leaves the parities apart
  /// each by itself.
  KrylovResults shifted_correction(EvenOdd& outer, const FullField& e, const LoadSources& load, const Goal& goal) {
    const auto n = static_cast<int>(goal.n);
    const auto shift = [this](double mass, double base) { return prepared.outer->shift_between(mass, base).value(); };
    const double least = *std::min_element(goal.mass.begin(), goal.mass.begin() + n, [&](double a, double b) { return shift(a, b) < 0; });
    const PerVector shifts = for_each_vector(goal.n, [&](std::size_t v) { return shift(goal.mass[v], least); });
    const FullField y(lattice(), components, n);
    if (!prepared.outer->normal_keeps_parity()) {
      const FullField b(lattice(), components);
      const Field rhs(lattice(), both_parities, components), solutions(lattice(), both_parities, components, n);
      for (const int parity : {0, 1}) load(b.of(parity));
      for (const int parity : {0, 1}) transfer::convert(rhs, b.of(parity));
      const std::unique_ptr<EvenOdd> m = prepared.krylov().system(1, same_for_all(least));
      NormalOperator system(*m);
      KrylovResults results = solve_scaled(*krylov, system, nullptr, solutions, rhs, goal, same_for_all(1), shifts);
      for (const int parity : {0, 1}) transfer::convert(y.of(parity), solutions);
      outer.adjoint_m(e, y);
      return results;
    }
    Goal half = goal;  // a parity may keep half of the residual
    for (double& target2 : half.target2)
      if (target2 != infinite) target2 /= 2;
    KrylovResults all{std::vector<KrylovResult>(goal.n), 0, {}};
    for (const int parity : {0, 1}) {
      const Field rhs(lattice(), parity, components);
      load(rhs);
      std::optional<Field> known;
      if (deflation && deflation->splits()) {
        known.emplace(lattice(), parity, components, n);
        const std::unique_ptr<EvenOdd> of_one = prepared.outer->system(1, same_for_all(0), deflation->parity());
        deflation->split(*prepared.outer, goal.mass, *known, rhs, *of_one, outer);
      }
      const std::unique_ptr<EvenOdd> system = prepared.krylov().system(1, same_for_all(least), parity);
      const KrylovResults part = solve_scaled(*krylov, *system, nullptr, y.of(parity), rhs, half, same_for_all(1), shifts);
      if (known) blas::submit<blas::AddScaled>({&y.of(parity), &*known}, {1.0});
      all.idle += part.idle;
      for (std::size_t v = 0; v < goal.n; ++v) {
        const KrylovResult& of_parity = part.of_vectors[v];
        KrylovResult& result = all.of_vectors[v];
        if (parity == 0 || result.reason == StopReason::converged) result.reason = of_parity.reason;
        result.iterations += of_parity.iterations;
        result.norm2.insert(result.norm2.end(), of_parity.norm2.begin(), of_parity.norm2.end());
        half.budget[v] = std::max(1, half.budget[v] - of_parity.iterations);
      }
      runtime::Session::current().wait_all();  // the vectors of one parity go before those of the other come
    }
    outer.adjoint_m(e, y);
    return all;
  }

  /// |f_v|^2 over both parities; waits for the tasks before it.
  std::vector<double> norm2(const FullField& f) {
    std::vector<double> total = norms2(f.even);
    const std::vector<double> odd = norms2(f.odd);
    for (std::size_t v = 0; v < total.size(); ++v) total[v] += odd[v];
    // Nothing was computed there, and a source of norm 0 would need no solve.
    if constexpr (!runtime::backend::computes) std::fill(total.begin(), total.end(), 1.0);
    return total;
  }

  /// r = b - M x.
  void residual(EvenOdd& outer, const FullField& r, const FullField& b, const FullField& x) {
    submit_together([&] {
      for (const int parity : {0, 1}) outer.times_m(r.of(parity), x, -1);
      for (const int parity : {0, 1}) blas::submit<blas::AddScaled>({&r.of(parity), &b.of(parity)}, {1.0});
    });
  }
};

Solver::Solver(const runtime::Decomposition& decomposition, const Action& action, const SolverSettings& given, const Speed& speed) {
  const SolverSettings settings = completed(given, decomposition.lattice());
  const NamedKrylovSolver& krylov = solver_for(action, settings);
  check_limits(settings);
  ActionRequest request{settings.precision, settings.link_reals, settings.schur, settings.schwarz, speed};
  request.speed.measure = settings.tune && !speed.tile && !speed.launch && !runtime::Turns::taken();
  if (speed.vectors_in_lanes > 1 && ((action.components() == colour_components && !krylov.vectors_in_lanes) || settings.multigrid))
    throw ShapeError("Solver", "a solver without kernels for vectors in lanes");
  if (settings.recycle > 0 && !krylov.pauses)
    throw Error(ErrorKind::input, Parameter("recycle"), fmt::format("{} gathers no modes", krylov.name),
                fmt::format("use {}", action.is_hermitian() ? "cg" : "cgnr"));
  if (settings.multigrid) {
    check_multigrid(*settings.multigrid, decomposition, settings.precision, settings.schur);
    request.unit = coarse::unit_of(settings.multigrid->aggregate);
  }
  action.check(decomposition, request);
  impl_ = std::unique_ptr<Impl>(
      new Impl{settings, &krylov, action.components(), action.is_hermitian(), action.prepared(decomposition, request), {}});
  require_shifts(krylov, impl_->prepared);
  if (settings.recycle > 0 && impl_->prepared.outer->physical() != nullptr)
    throw Error(ErrorKind::input, Parameter("recycle"), "modes are gathered on lattices of four dimensions only", "leave it out");
  impl_->prepared.set_resident();
  if (settings.multigrid) impl_->set_up_multigrid();
}

bool Solver::solves_for(double mass) const { return impl_->prepared.outer->serves(mass); }

SolveResult Solver::solve(const HostField& source, HostField& solution, const Progress& progress, const Snapshots& snapshots) {
  const std::optional<double> mass = impl_->prepared.outer->own_mass();
  if (!mass) throw ShapeError("Solver::solve", "no mass, and the action has none of its own");
  return solve(source, *mass, solution, progress, snapshots);
}

std::vector<std::pair<std::string, double>> Solver::numbers() const {
  std::vector<std::pair<std::string, double>> numbers = impl_->prepared.outer->numbers();
  if (impl_->multigrid)
    for (const auto& number : impl_->multigrid->numbers()) numbers.push_back(number);
  if (impl_->settings.multigrid) numbers.emplace_back("multigrid_fell_back", impl_->multigrid ? 0 : 1);
  return numbers;
}

const LatticePointer& Solver::lattice() const { return impl_->lattice(); }

void Solver::set_projector(std::shared_ptr<const Projector> projector, double mass) {
  if (impl_->lattice()->vectors_in_lanes() > 1) throw ShapeError("Solver::set_projector", "vectors are in lanes");
  require_deflatable(impl_->settings);
  impl_->deflation = std::make_unique<Deflation>(std::move(projector), mass, impl_->is_hermitian);
}

void Solver::prepare(int vectors) {
  impl_->prepare(vectors);
  if (!runtime::Turns::taken()) runtime::Session::current().wait_all();
}

Solver::~Solver() {
  if (runtime::Session::is_running()) wait_quietly(runtime::Session::current());
}

void Solver::apply(std::span<const HostField> vectors, std::span<const double> masses, std::span<HostField> images, bool adjoint) {
  const auto slices = static_cast<std::size_t>(lattice()->slices());
  if (slices > 1 && vectors.size() != masses.size() * slices)
    throw Error(ErrorKind::input, Parameter("vectors"),
                fmt::format("{} for {} masses of an operator with {} slices", vectors.size(), masses.size(), slices),
                "give one for each slice");
  if (vectors.size() != masses.size() * slices || images.size() != vectors.size())
    throw ShapeError("Solver::apply", "vectors, masses and images do not belong together");
  apply([&](const Field& field) { transfer::load(field, vectors); }, masses, [&](const Field& field) { transfer::store(images, field); },
        adjoint);
}

void Solver::apply(const LoadSources& load, std::span<const double> masses, const UseVectors& use, bool adjoint) {
  Impl& s = *impl_;
  const std::size_t n = masses.size();
  if (n < 1 || n * static_cast<std::size_t>(s.lattice()->slices()) > static_cast<std::size_t>(most_vectors))
    throw ShapeError("Solver::apply", "no vectors, or too many");
  for (const double mass : masses) s.prepared.outer->check_mass(mass);
  const int count = static_cast<int>(n);
  s.prepared.outer->prepare(count);
  const runtime::Settled settled;  // the caller's vectors
  const FullField in(s.lattice(), s.components, count), out(s.lattice(), s.components, count);
  for (const int parity : {0, 1}) load(in.of(parity));
  const PerVector mass = for_each_vector(n, [&](std::size_t v) { return masses[v]; });
  const std::unique_ptr<EvenOdd> outer = s.prepared.outer->system(count, mass);
  for (const int parity : {0, 1}) outer->times_m(out.of(parity), in, 1, adjoint);
  for (const int parity : {0, 1}) use(out.of(parity));
  runtime::Session::current().wait_all();
}

std::vector<SolveResult> Solver::solve(std::span<const HostField> sources, std::span<const double> masses, std::span<HostField> solutions,
                                       const Progress& progress, const Snapshots& snapshots, const UseSolutions& use,
                                       const SolveRequest& request) {
  if (masses.size() != sources.size() || solutions.size() != sources.size())
    throw ShapeError("Solver::solve", "sources, masses and solutions do not belong together");
  const auto other = [&](const HostField& source) { return source.data != sources[0].data; };
  if (impl_->krylov->shifted && std::any_of(sources.begin(), sources.end(), other))
    throw ShapeError("Solver::solve", fmt::format("{} solves for one source", impl_->krylov->name));
  const LoadSources load = [&](const Field& field) { transfer::load(field, sources.first(static_cast<std::size_t>(field.vectors()))); };
  return solve(load, masses, solutions, progress, snapshots, use, request);
}

std::vector<SolveResult> Solver::solve(const LoadSources& load, std::span<const double> masses, std::span<HostField> solutions,
                                       const Progress& progress, const Snapshots& snapshots, const UseSolutions& use,
                                       const SolveRequest& request) {
  Impl& s = *impl_;
  const std::size_t n = masses.size();
  if (n < 1 || n > static_cast<std::size_t>(most_vectors) || (!solutions.empty() && solutions.size() != n) ||
      (!request.tolerances.empty() && request.tolerances.size() != n))
    throw ShapeError("Solver::solve", "masses, solutions and tolerances do not belong together");
  for (const HostField& solution : solutions)
    if (solution.origin != solutions[0].origin || solution.extents != solutions[0].extents)
      throw ShapeError("Solver::solve", "the solutions hold different boxes");
  for (const double mass : masses) s.prepared.outer->check_mass(mass);
  if (s.deflation && !s.recycled) s.deflation->require_masses(*s.prepared.outer, masses);
  if (s.krylov->one_operator && std::any_of(masses.begin(), masses.end(), [&](double mass) { return mass != masses[0]; }))
    throw Error(ErrorKind::input, Parameter("solver"), fmt::format("{} needs one mass for all right-hand sides", s.krylov->name),
                "use cg, or multishift for several masses");
  if (s.settings.recycle > 0 && !s.is_hermitian &&
      std::any_of(masses.begin(), masses.end(), [&](double mass) { return mass != masses[0]; }))
    throw Error(ErrorKind::input, Parameter("recycle"), "right-hand sides of several masses have no modes in common",
                "solve for one mass after the other");
  const auto zero = [](const HostField& field) {
    return std::all_of(field.data.begin(), field.data.end(), [](const std::complex<double>& c) { return c == 0.0; });
  };
  const SolveState* const resume = request.resume;
  if (resume != nullptr && (resume->results.size() != n || s.settings.recycle > 0))
    throw ShapeError("Solver::solve", "no state of these right-hand sides");
  const bool given = request.guess || resume != nullptr || !std::all_of(solutions.begin(), solutions.end(), zero);
  const bool guessed =  // what is between the walls follows from no guess of four dimensions
      s.prepared.outer->physical() == nullptr && runtime::mpi::Job::current().any(given);
  runtime::Session& session = runtime::Session::current();
  const int count = static_cast<int>(n);
  auto pool = s.pools.mine(count);  // gives up fields of another size first
  prepare(count);
  const runtime::HandlePool::Use pooled(std::move(pool));
  const runtime::Settled settled;  // the caller's vectors
  const FullField b(s.lattice(), s.components, count), x(s.lattice(), s.components, count), r(s.lattice(), s.components, count),
      e(s.lattice(), s.components, count);
  PhysicalFields* const physical = s.prepared.outer->physical();
  if (physical != nullptr && request.parity)
    throw Error(ErrorKind::input, Parameter("parity"), "sources of four dimensions are no right-hand sides of the even-odd system",
                "solve on both parities");
  if (physical != nullptr) {
    const FullField eta(physical->lattice(), s.components, count);
    for (const int parity : {0, 1}) load(eta.of(parity));
    physical->load(b, eta);
  }
  for (const int parity : {0, 1}) {
    if (physical == nullptr) load(b.of(parity));
    if (!guessed) blas::submit<blas::Fill>({&x.of(parity)}, {0.0});  // zeros need not cross a bus
    else if (resume != nullptr && !resume->fields.empty()) transfer::load(x.of(parity), std::span(resume->fields).first(n));
    else if (request.guess) request.guess(x.of(parity));
    else transfer::load(x.of(parity), solutions);
  }
  const auto is_zero = [](double norm2) { return norm2 == 0; };
  const auto all_zero = [&](const std::vector<double>& norm2) { return std::all_of(norm2.begin(), norm2.end(), is_zero); };
  const bool shares = s.krylov->shifted && (!guessed || all_zero(s.norm2(x)));
  const bool alone = !runtime::Turns::taken();
  if (alone) session.wait_all();
  const runtime::Submissions before = runtime::Events::of_this_thread();
  const double busy_before = alone ? session.events().totals().busy_us : 0;
  const double start = runtime::now_us();

  std::vector<SolveResult> results(n);
  int spent = 0;  // iterations of all cycles so far, of the right-hand side that took most
  Work idle;
  Impl::Goal goal{.n = n, .mass = for_each_vector(n, [&](std::size_t v) { return masses[v]; })};
  const std::unique_ptr<EvenOdd> outer = s.prepared.outer->system(count, goal.mass, request.parity);
  const std::vector<double> b_norm2 = s.norm2(b);
  // The solution for a zero source is zero, whatever the guess.
  if (guessed && std::any_of(b_norm2.begin(), b_norm2.end(), is_zero)) {
    const PerVector keep = for_each_vector(n, [&](std::size_t v) { return b_norm2[v] == 0 ? 0.0 : 1.0; });
    for (const int parity : {0, 1}) {
      blas::submit<blas::Scale>({&e.of(parity), &x.of(parity)}, {keep});
      blas::submit<blas::Scale>({&x.of(parity), &e.of(parity)}, {1.0});
    }
  }
  if (s.settings.recycle > 0) s.set_recycled(masses, outer->parity());
  goal.solver = s.krylov;
  goal.by_multigrid = s.multigrid != nullptr;
  const auto tolerance_of = [&](std::size_t v) { return request.tolerances.empty() ? s.settings.tolerance : request.tolerances[v]; };
  /// What is asked for v in this cycle: whether it runs.
  const auto set_goal = [&](std::size_t v, int cycle) {
    const bool running = results[v].reason == StopReason::running;
    if (running) results[v].restarts = cycle;
    goal.target2[v] = running ? tolerance_of(v) * tolerance_of(v) * b_norm2[v] : infinite;
    goal.budget[v] = std::max(1, s.settings.max_iterations - results[v].iterations);
    return running;
  };
  PerVector previous2{};
  int first_cycle = 0;
  if (resume != nullptr) results = resume->results;
  bool resumes = resume != nullptr && !resume->numbers.empty();  // this cycle, whose goal is known
  if (resumes) {
    const CorrectionNumbers then = correction_numbers(*resume);
    first_cycle = then.cycle;
    spent = then.spent;
    if (goal.by_multigrid && then.by_multigrid == 0) goal.solver = find_krylov_solver(fallback_solver);
    goal.by_multigrid = then.by_multigrid != 0;
    goal.target2 = then.target2;
    goal.r_norm2 = then.r_norm2;
    goal.least2 = then.least2;
    goal.budget = then.budget;
    goal.more_patience = then.more_patience;
    previous2 = then.previous2;
    goal.resume = resume;
  }
  for (int cycle = first_cycle;; ++cycle, resumes = false, goal.resume = nullptr) {
    s.residual(*outer, r, b, x);
    const std::vector<double> r_norm2 = s.norm2(r);
    bool working = resumes;
    for (std::size_t v = 0; v < n && !resumes; ++v) {
      SolveResult& result = results[v];
      const double tolerance2 = tolerance_of(v) * tolerance_of(v) * b_norm2[v];
      if (goal.target2[v] == infinite) continue;
      result.true_residual = b_norm2[v] > 0 ? std::sqrt(r_norm2[v] / b_norm2[v]) : std::sqrt(r_norm2[v]);
      if (!std::isfinite(r_norm2[v])) result.reason = StopReason::not_finite;
      else if (r_norm2[v] <= tolerance2 || (tolerance_of(v) == 0 && result.reason == StopReason::converged))
        result.reason = StopReason::converged;
      else if (result.reason == StopReason::converged || result.reason == StopReason::stagnation)
        // The Krylov solver is done but the true residual is not there: correct again as long as that halves it.
        result.reason =
            cycle > 0 && r_norm2[v] > 0.25 * previous2[v] && !s.waits_longer(goal, v) ? StopReason::stagnation : StopReason::running;
      else if (goal.by_multigrid && result.reason == StopReason::iteration_limit && result.iterations < s.settings.max_iterations)
        result.reason = StopReason::stagnation;
      if (result.reason == StopReason::running && result.iterations >= s.settings.max_iterations)
        result.reason = StopReason::iteration_limit;
      previous2[v] = goal.r_norm2[v] = goal.least2[v] = r_norm2[v];
      working = set_goal(v, cycle) || working;
    }
    if (!working && !resumes && goal.by_multigrid && s.settings.multigrid->fallback) {
      // Only when multigrid is done with all of them: what becomes of one must not depend on those beside it.
      goal.by_multigrid = false;
      goal.solver = find_krylov_solver(fallback_solver);
      for (std::size_t v = 0; v < n; ++v) {
        SolveResult& result = results[v];
        if (!std::isfinite(r_norm2[v]) || !is_failure(result.reason) || result.iterations >= s.settings.max_iterations) continue;
        tell_of_multigrid(fmt::format("multigrid came to |b - M x| / |b| = {:.1e} in {} iterations ({}); {} goes on", result.true_residual,
                                      result.iterations, describe(result.reason), fallback_solver));
        result.reason = StopReason::running;
        working = set_goal(v, cycle) || working;
      }
    }
    if (!working) break;

    // A right-hand side that is done stays as it is, whatever happens to its correction meanwhile.
    VectorStatus done{};
    for (std::size_t v = 0; v < n; ++v)
      if (goal.target2[v] == infinite) done.stopped[v] = 1;
    const runtime::GraphState<VectorStatus> mask(done, 1);
    const runtime::Guard working_ones(&mask.handle());
    const bool shifted = shares && cycle == 0;
    const bool begins_deflated = s.deflates() && (shifted ? s.deflation->splits() : s.deflation->serves(outer->parity()));
    // What half precision lets come back between reliable updates only the next correction takes out again.
    constexpr double half_gain2 = 1e-10;
    goal.gain2 = begins_deflated ? std::max(s.deflation->gain2(), s.settings.precision == Precision::half ? half_gain2 : 0) : 0;
    if (begins_deflated && !shifted && !resumes) {
      s.deflation->correction(*s.prepared.outer, *outer, goal.mass, e, r);
      for (const int parity : {0, 1}) blas::submit<blas::AddScaled>({&x.of(parity), &e.of(parity)}, {1.0}, working_ones);
      s.residual(*outer, r, b, x);
      const std::vector<double> left = s.norm2(r);
      std::copy(left.begin(), left.end(), goal.r_norm2.begin());
      for (std::size_t v = 0; v < n; ++v) goal.least2[v] = std::min(goal.least2[v], left[v]);
    }
    const auto relative = [&](std::size_t v, double norm2) {
      return shifted ? std::sqrt(norm2 / b_norm2[v]) : outer->relative_residual(v, norm2, b_norm2[v]);
    };
    if (progress)
      goal.progress = [&, relative](int iterations, const double* norm2) {
        double worst = 0;
        for (std::size_t v = 0; v < n; ++v)
          if (goal.target2[v] != infinite) worst = std::max(worst, relative(v, norm2[v]));
        return progress(spent + iterations, worst);
      };
    if (snapshots.due && !shifted && physical == nullptr && !solutions.empty())
      goal.observe = [&, cycle](const KrylovState& seen, const std::function<KrylovSnapshot()>& now) {
        if (!snapshots.due(spent + seen.status.step)) return;
        if (snapshots.take_state) {
          const CorrectionNumbers numbers{.cycle = cycle,
                                          .spent = spent,
                                          .by_multigrid = goal.by_multigrid ? 1 : 0,
                                          .target2 = goal.target2,
                                          .r_norm2 = goal.r_norm2,
                                          .least2 = goal.least2,
                                          .previous2 = previous2,
                                          .budget = goal.budget,
                                          .more_patience = goal.more_patience};
          return snapshots.take_state(s.state_of(numbers, results, x, e.of(outer->parity()), now(), solutions[0].box()));
        }
        const std::vector<HostField> iterates = s.copy_of_iterate(*outer, x, e, r, working_ones, solutions[0].box());
        KrylovState then;
        std::memcpy(static_cast<void*>(&then), now().numbers.data(), sizeof then);
        std::vector<int> iterations(n);
        for (std::size_t v = 0; v < n; ++v)
          iterations[v] = results[v].iterations + (goal.target2[v] == infinite ? 0
                                                   : then.stopped[v] != 0      ? then.iterations[v]
                                                                               : then.status.step);
        snapshots.take(iterates, iterations);
      };
    const KrylovResults inner = shifted ? s.shifted_correction(*outer, e, load, goal) : s.correction(*outer, e, r, goal);
    idle += inner.idle;
    const auto interrupted = [](const KrylovResult& result) { return result.reason == StopReason::interrupted; };
    if (!shifted || std::none_of(inner.of_vectors.begin(), inner.of_vectors.end(), interrupted))
      for (const int parity : {0, 1}) blas::submit<blas::AddScaled>({&x.of(parity), &e.of(parity)}, {1.0}, working_ones);
    int longest = 0;
    for (std::size_t v = 0; v < n; ++v) {
      const KrylovResult& of_vector = inner.of_vectors[v];
      longest = std::max(longest, of_vector.iterations);
      if (goal.target2[v] == infinite) continue;
      results[v].refreshes += inner.refreshes;
      results[v].reason = of_vector.reason;
      results[v].iterations += of_vector.iterations;
      if (s.settings.keep_history)
        for (const double norm2 : of_vector.norm2) results[v].residual_history.push_back(relative(v, norm2));
    }
    spent += longest;
  }
  if (s.gathers()) s.recycled_from += n;
  if (alone) session.wait_all();
  const double share = 1 / static_cast<double>(n), seconds = (runtime::now_us() - start) * 1e-6;
  const double busy_us = alone ? session.events().totals().busy_us - busy_before : 0;
  const runtime::Submissions& after = runtime::Events::of_this_thread();
  double work[] = {after.cost.flops - before.cost.flops - idle.cost.flops, after.cost.bytes - before.cost.bytes - idle.cost.bytes,
                   static_cast<double>(after.parts - before.parts - idle.tasks), static_cast<double>(after.tasks - before.tasks)};
  runtime::mpi::Job::current().combine(std::span<double>(work), runtime::mpi::Combine::sum);
  for (SolveResult& result : results) {
    result.seconds = seconds * share;
    result.flops = work[0] * share;
    result.bytes = work[1] * share;
    result.kernels = static_cast<std::int64_t>(work[2]) / static_cast<std::int64_t>(n);
    result.tasks = work[3] * share;
    result.busy_us = busy_us * share;
  }
  std::optional<FullField> walls;
  if (physical != nullptr) {
    walls.emplace(physical->lattice(), s.components, count);
    physical->store(*walls, x);
    std::vector<std::vector<double>> midpoint = physical->midpoint(x);
    for (std::size_t v = 0; v < n; ++v) results[v].midpoint = std::move(midpoint[v]);
  }
  const FullField& solved = walls ? *walls : x;
  if (use) use(solved, results);
  if (!solutions.empty())
    for (const int parity : {0, 1}) transfer::store(solutions, solved.of(parity));
  if (alone) session.wait_all();
  else wait_for_readers(solved.even, solved.odd);
  return results;
}

}  // namespace quarkstar
