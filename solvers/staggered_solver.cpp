#include "solvers/staggered_solver.hpp"

#include "codelets/arch/dispatch.hpp"
#include "runtime/graph/handle_pool.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/clock.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/submit_together.hpp"
#include "solvers/krylov/vector_krylov.hpp"
#include "solvers/staggered_level.hpp"
#include "solvers/wait_for_readers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace quarkstar {
namespace {

constexpr double infinite = std::numeric_limits<double>::max();
/// The parity on which the even-odd system is solved.
constexpr int solved_parity = 0;

/// A power of two that brings numbers of this square near 1, away from where single precision underflows; it changes no
/// digit.
double scale_of(double norm2) { return norm2 > 0 && std::isfinite(norm2) ? std::exp2(-std::round(0.5 * std::log2(norm2))) : 1; }

/// f(v) for the first n vectors.
template <class Function>
PerVector for_each_vector(std::size_t n, Function&& f) {
  PerVector values{};
  for (std::size_t v = 0; v < n; ++v) values[v] = f(v);
  return values;
}

}  // namespace

const std::vector<std::string>& staggered_solver_names() {
  static const std::vector<std::string> names{"cg", "blockcg", "multishift"};
  return names;
}

int vectors_in_lanes_for(const SolverSettings& settings, std::span<const int> vectors) {
  if constexpr (runtime::simulate::active) return 1;  // speeds of machine files are those of lanes of sites
  const bool elsewhere = runtime::Session::current().gpu_count() > 0 || arch::name_of(arch::current()) == "scalar";
  if (runtime::mpi::Job::current().any(elsewhere) || settings.solver != "cg" || settings.link_reals != 18) return 1;
  if (settings.precision == Precision::half) return 1;  // slower: docs/results/2026-11-23-vectors-in-lanes.md
  for (const int lanes : {16, 8}) {
    const bool fit_a_line = lanes * computed_bytes(settings.precision) <= 64;  // of double precision 8, as Lattice has them
    if (fit_a_line && std::all_of(vectors.begin(), vectors.end(), [lanes](int n) { return n % lanes == 0; })) return lanes;
  }
  return 1;
}

struct StaggeredSolver::Impl {
  SolverSettings settings;
  StaggeredLevel outer;                   ///< double precision, long links as they are: right-hand sides, corrections, true residuals
  std::unique_ptr<StaggeredLevel> inner;  ///< precision and long links of the Krylov solver where they are others
  runtime::HandlePools pools;             ///< for the fields of a solve

  Impl(const runtime::Decomposition& decomposition, const smear::StaggeredLinks& links, const SolverSettings& s,
       const StaggeredSpeed& speed, bool measure)
      : settings(s), outer(decomposition, Precision::double_, links, 18, speed, measure, 0) {
    if (below_double())
      inner = std::make_unique<StaggeredLevel>(decomposition, s.precision, links, s.link_reals, speed, measure, outer.bytes_a_site());
    else if (links.has_long && s.link_reals != 18) inner = std::make_unique<StaggeredLevel>(outer, links, s.link_reals);
    const double links_bytes = outer.bytes_a_site() + (inner ? inner->bytes_a_site() : 0);
    outer.set_resident(links_bytes);
    if (inner) inner->set_resident(links_bytes);
  }

  /// Every Dslash that a solve for n right-hand sides applies.
  void prepare(int n) {
    outer.dslash(n);
    krylov_level().dslash(settings.solver == "multishift" ? 1 : n);
    if (inner) inner->dslash(n);  // multishift refines with all of them
  }

  StaggeredLevel& krylov_level() { return inner ? *inner : outer; }

  /// Whether the Krylov solver has fields in a precision of its own.
  bool below_double() const { return settings.precision != Precision::double_; }

  /// One correction of all right-hand sides: what is asked of it.
  struct Goal {
    std::size_t n;
    PerVector mass;     ///< positive
    PerVector target2;  ///< of |b - M x|^2; infinite: this right-hand side is done
    PerVector r_norm2;
    std::array<int, most_vectors> budget;  ///< iterations
    VectorProgress progress;               ///< with |b - M x|^2
    decltype(VectorLimits::observe) observe;
  };

  /// Limits of a Krylov solve, with refreshes or without, whose residual is factor_v times that of M x = b.
  VectorLimits limits_of(const Goal& goal, const PerVector& factor, bool refreshes) const {
    VectorLimits limits;
    limits.check_every = settings.check_every;
    limits.most_iterations = goal.budget;
    limits.observe = goal.observe;
    // What one solve without refreshes can gain: five digits in single precision, two in half; asking for more would
    // end in stagnation.
    const bool half = settings.precision == Precision::half;
    const double gain2 = half ? 1e-4 : 1e-10;
    if (below_double()) {
      limits.patience = 200;
      limits.resolution = half ? 1e-2 : 1e-3;  // what the low precision's products leave certain
    }
    for (std::size_t v = 0; v < goal.n; ++v) {
      const bool done = goal.target2[v] == infinite;
      const double target2 = below_double() && !refreshes ? std::max(goal.target2[v], gain2 * goal.r_norm2[v]) : goal.target2[v];
      limits.target_norm2[v] = done ? infinite : target2 * factor[v] * factor[v];
    }
    return limits;
  }

  /// Runs solve(x, b, scaled limits, progress) in the Krylov solver's precision for A x = rhs; rhs is overwritten, x in
  /// double precision. factor: as above. refreshed_system: A in double precision where `solve` knows reliable updates.
  template <class Solve>
  std::vector<VectorResult> solve_scaled(const ColourField& x, const ColourField& rhs, const Goal& goal, const PerVector& factor,
                                         VectorOperator* refreshed_system, Solve&& solve) {
    const PerVector scale =
        below_double() ? for_each_vector(goal.n, [&](std::size_t v) { return scale_of(goal.r_norm2[v]); }) : staggered::same_for_all(1);
    const PerVector inverse = for_each_vector(goal.n, [&](std::size_t v) { return 1 / scale[v]; });
    const PerVector whole = for_each_vector(goal.n, [&](std::size_t v) { return factor[v] * scale[v]; });
    VectorProgress progress;
    if (goal.progress)
      progress = [&](int iterations, const double* norm2) {
        const PerVector unscaled = for_each_vector(goal.n, [&](std::size_t v) { return norm2[v] / (whole[v] * whole[v]); });
        return goal.progress(iterations, unscaled.data());
      };
    const bool refreshes = below_double() && refreshed_system != nullptr && settings.updates == Updates::reliable;
    VectorLimits limits = limits_of(goal, whole, refreshes);
    std::vector<VectorResult> results;
    if (below_double()) {
      const ColourField low_x(inner->lattice(), x.parity(), x.vectors()), low_b(inner->lattice(), x.parity(), rhs.vectors());
      const ColourField scaled(outer.lattice(), x.parity(), rhs.vectors()), wide(outer.lattice(), x.parity(), x.vectors());
      staggered::submit<blas::Fill>({&x}, {0.0});
      staggered::submit<blas::Fill>({&wide}, {0.0});  // a refresh that is not due keeps what is there, so something must be
      staggered::submit<blas::Scale>({&scaled, &rhs}, {scale});
      staggered::convert(low_b, scaled);
      const auto add_to_x = [&](const ColourField& low, const Control& control) {
        staggered::convert(wide, low, control);
        staggered::submit<blas::AddScaled>({&x, &wide}, {inverse}, control);
      };
      if (refreshes) {
        limits.refresh.drop = settings.refresh_drop > 0 ? settings.refresh_drop : settings.precision == Precision::half ? 0.1 : 1e-3;
        limits.refresh.submit = [&](const ColourField& low, const ColourField& low_r, const Control& due) {
          add_to_x(low, due);
          staggered::submit<blas::Fill>({&low}, {0.0}, due);
          refreshed_system->apply(wide, x, false, due);
          staggered::submit<blas::AddScaled>({&wide, &rhs}, {-1.0}, due);
          staggered::submit<blas::Scale>({&scaled, &wide}, {-VectorCoefficient(scale)}, due);
          staggered::convert(low_r, scaled, due);
        };
      }
      results = solve(low_x, low_b, limits, progress);
      add_to_x(low_x, {});
    } else {
      results = solve(x, rhs, limits, progress);
    }
    for (std::size_t v = 0; v < goal.n; ++v)
      for (double& norm2 : results[v].norm2) norm2 /= whole[v] * whole[v];
    return results;
  }

  /// Solves M e = r:  (4m^2 - D_eo D_oe) e_e = 2m r_e - D_eo r_o,  e_o = (r_o - D_oe e_e) / 2m.
  std::vector<VectorResult> correction(const ColourFields& e, const ColourFields& r, const Goal& goal) {
    const auto n = static_cast<int>(goal.n);
    staggered::Dslash& dslash = outer.dslash(n);
    const PerVector two_mass = for_each_vector(goal.n, [&](std::size_t v) { return 2 * goal.mass[v]; });
    const ColourField rhs(outer.lattice(), solved_parity, n);
    submit_together([&] { dslash.apply(rhs, r.odd, {.x = &r.even, .diagonal = two_mass, .scale = staggered::same_for_all(-1)}); });
    StaggeredNormal system(krylov_level().dslash(n), solved_parity, goal.mass);
    StaggeredNormal outer_system(dslash, solved_parity, goal.mass);
    const bool block = settings.solver == "blockcg";
    const auto krylov = block ? block_conjugate_gradient : conjugate_gradient;
    // The residual of the system is 2m times that of M e = r.
    auto results = solve_scaled(e.even, rhs, goal, two_mass, block ? nullptr : &outer_system,
                                [&](const ColourField& x, const ColourField& b, const VectorLimits& limits,
                                    const VectorProgress& progress) { return krylov(system, x, b, limits, progress); });
    reconstruct(e.odd, e.even, r.odd, goal);
    return results;
  }

  /// e_o = (r_o - D_oe e_e) / 2m.
  void reconstruct(const ColourField& odd, const ColourField& even, const ColourField& r_odd, const Goal& goal) {
    const PerVector inverse = for_each_vector(goal.n, [&](std::size_t v) { return 1 / (2 * goal.mass[v]); });
    const PerVector minus_inverse = for_each_vector(goal.n, [&](std::size_t v) { return -1 / (2 * goal.mass[v]); });
    staggered::Dslash& dslash = outer.dslash(static_cast<int>(goal.n));
    submit_together([&] { dslash.apply(odd, even, {.x = &r_odd, .diagonal = inverse, .scale = minus_inverse}); });
  }

  /// x + e as far as correction() has come with e; x alone of right-hand sides that `working` leaves out. Waits for the
  /// tasks before it.
  std::vector<HostColour> copy_of_iterate(const ColourFields& x, const ColourFields& e, const ColourFields& r, const Goal& goal,
                                          const Control& working, const Box& part) {
    const int n = x.even.vectors();
    const ColourFields copy(outer.lattice(), n);
    const ColourField odd(outer.lattice(), 1, n);
    reconstruct(odd, e.even, r.odd, goal);
    for (const int parity : {0, 1}) {
      staggered::submit<blas::Scale>({&copy.of(parity), &x.of(parity)}, {1.0});
      staggered::submit<blas::AddScaled>({&copy.of(parity), parity == 0 ? &e.even : &odd}, {1.0}, working);
    }
    std::vector<HostColour> host(goal.n, HostColour(part));
    for (const int parity : {0, 1}) staggered::store_vectors(host, copy.of(parity));
    runtime::Session::current().wait_all();
    return host;
  }

  /// Solves M_s e_s = source for all masses, each parity of (4m^2 - D^2) y = source by itself, then e = M^+ y = 2m y -
  /// D y.
  std::vector<VectorResult> shifted_correction(const ColourFields& e, const HostColour& source, const Goal& goal) {
    const auto n = static_cast<int>(goal.n);
    const double least = *std::min_element(goal.mass.begin(), goal.mass.begin() + n);
    const PerVector shifts = for_each_vector(goal.n, [&](std::size_t v) { return 4 * (goal.mass[v] * goal.mass[v] - least * least); });
    const ColourFields y(outer.lattice(), n);
    Goal half = goal;  // a parity may keep half of the residual
    for (double& target2 : half.target2)
      if (target2 != infinite) target2 /= 2;
    std::vector<VectorResult> results(goal.n);
    for (const int parity : {0, 1}) {
      const ColourField rhs(outer.lattice(), parity, 1);
      staggered::load_vectors(rhs, {&source, 1});
      StaggeredNormal system(krylov_level().dslash(1), parity, staggered::same_for_all(least));
      const auto part =
          solve_scaled(y.of(parity), rhs, half, staggered::same_for_all(1), nullptr,
                       [&](const ColourField& x, const ColourField& b, const VectorLimits& limits, const VectorProgress& progress) {
                         return multishift_conjugate_gradient(system, x, b, shifts, limits, progress);
                       });
      for (std::size_t v = 0; v < goal.n; ++v) {
        VectorResult& result = results[v];
        if (parity == 0 || result.reason == StopReason::converged) result.reason = part[v].reason;
        result.iterations += part[v].iterations;
        result.idle += part[v].idle;
        result.norm2.insert(result.norm2.end(), part[v].norm2.begin(), part[v].norm2.end());
        half.budget[v] = std::max(1, half.budget[v] - part[v].iterations);
      }
      runtime::Session::current().wait_all();  // the vectors of one parity go before those of the other come
    }
    outer.apply(e, y, for_each_vector(goal.n, [&](std::size_t v) { return 2 * goal.mass[v]; }), -1);
    return results;
  }
};

StaggeredSolver::StaggeredSolver(const runtime::Decomposition& decomposition, const smear::StaggeredLinks& links,
                                 const SolverSettings& settings, const StaggeredSpeed& speed) {
  const auto& names = staggered_solver_names();
  if (std::find(names.begin(), names.end(), settings.solver) == names.end())
    throw Error(ErrorKind::input, "--solver", fmt::format("'{}' is no solver for staggered fermions", settings.solver),
                fmt::format("use one of {}", fmt::join(names, ", ")));
  check_limits(settings);
  if (speed.vectors_in_lanes > 1 && (settings.solver != "cg" || settings.link_reals != 18))
    throw ShapeError("StaggeredSolver", "vectors in lanes are for cg with long links of 18 reals");
  impl_ = std::make_unique<Impl>(decomposition, links, settings, speed,
                                 settings.tune && !speed.tile && !speed.launch && !runtime::Turns::taken());
}

void StaggeredSolver::prepare(int vectors) {
  impl_->prepare(vectors);
  if (!runtime::Turns::taken()) runtime::Session::current().wait_all();
}

StaggeredSolver::~StaggeredSolver() {
  if (runtime::Session::is_running()) runtime::Session::current().wait_all();
}

std::vector<SolveResult> StaggeredSolver::solve(std::span<const HostColour> sources, std::span<const double> masses,
                                                std::span<HostColour> solutions, const Progress& progress,
                                                const ColourSnapshots& snapshots) {
  Impl& s = *impl_;
  const std::size_t n = sources.size();
  if (n < 1 || n > static_cast<std::size_t>(most_vectors) || masses.size() != n || solutions.size() != n)
    throw ShapeError("StaggeredSolver::solve", "sources, masses and solutions do not belong together");
  for (const double mass : masses)
    if (!(mass > 0) || !std::isfinite(mass))
      throw Error(ErrorKind::input, "--mass", fmt::format("mass {}", mass), "give a positive number: the even-odd system divides by it");
  if (s.settings.solver == "blockcg" && std::any_of(masses.begin(), masses.end(), [&](double mass) { return mass != masses[0]; }))
    throw Error(ErrorKind::input, "--solver", "blockcg needs one mass for all right-hand sides",
                "use cg, or multishift for several masses");
  const auto zero = [](const HostColour& field) {
    return std::all_of(field.data.begin(), field.data.end(), [](const std::complex<double>& c) { return c == 0.0; });
  };
  const bool shifts = s.settings.solver == "multishift";
  if (shifts && std::any_of(sources.begin(), sources.end(), [&](const HostColour& source) { return source.data != sources[0].data; }))
    throw ShapeError("StaggeredSolver::solve", "multishift solves for one source");
  const bool guessed = runtime::mpi::Job::current().any(!std::all_of(solutions.begin(), solutions.end(), zero));
  runtime::Session& session = runtime::Session::current();
  auto pool = s.pools.mine(static_cast<int>(n));  // gives up fields of another size first
  prepare(static_cast<int>(n));
  const runtime::HandlePool::Use pooled(std::move(pool));
  const ColourFields b(s.outer.lattice(), static_cast<int>(n)), x(s.outer.lattice(), static_cast<int>(n)),
      r(s.outer.lattice(), static_cast<int>(n)), e(s.outer.lattice(), static_cast<int>(n));
  for (const int parity : {0, 1}) {
    staggered::load_vectors(b.of(parity), sources);
    if (guessed) staggered::load_vectors(x.of(parity), solutions);
    else staggered::submit<blas::Fill>({&x.of(parity)}, {0.0});  // zeros need not cross a bus
  }
  const bool alone = !runtime::Turns::taken();
  if (alone) session.wait_all();
  const runtime::Submissions before = runtime::Events::of_this_thread();
  const double busy_before = alone ? session.events().totals().busy_us : 0;
  const double start = runtime::now_us();

  std::vector<SolveResult> results(n);
  int spent = 0;  // iterations of all cycles so far, of the right-hand side that took most
  Work idle;
  Impl::Goal goal{.n = n,
                  .mass = for_each_vector(n, [&](std::size_t v) { return masses[v]; }),
                  .target2 = {},
                  .r_norm2 = {},
                  .budget = {},
                  .progress = {},
                  .observe = {}};
  const std::vector<double> b_norm2 = s.outer.norm2(b);
  PerVector keep = for_each_vector(n, [&](std::size_t v) { return b_norm2[v] == 0 ? 0.0 : 1.0; }), previous2{};
  // The solution for a zero source is zero, whatever the guess.
  for (const int parity : {0, 1}) {
    staggered::submit<blas::Scale>({&e.of(parity), &x.of(parity)}, {keep});
    staggered::submit<blas::Scale>({&x.of(parity), &e.of(parity)}, {1.0});
  }
  for (int cycle = 0;; ++cycle) {
    s.outer.residual(r, b, x, goal.mass);
    const std::vector<double> r_norm2 = s.outer.norm2(r);
    bool working = false;
    for (std::size_t v = 0; v < n; ++v) {
      SolveResult& result = results[v];
      const double tolerance2 = s.settings.tolerance * s.settings.tolerance * b_norm2[v];
      if (goal.target2[v] == infinite) continue;
      result.true_residual = b_norm2[v] > 0 ? std::sqrt(r_norm2[v] / b_norm2[v]) : std::sqrt(r_norm2[v]);
      if (!std::isfinite(r_norm2[v])) result.reason = StopReason::not_finite;
      else if (r_norm2[v] <= tolerance2) result.reason = StopReason::converged;
      else if (result.reason == StopReason::converged || result.reason == StopReason::stagnation)
        // The Krylov solver is done but the true residual is not there: correct again as long as that halves it.
        result.reason = cycle > 0 && r_norm2[v] > 0.25 * previous2[v] ? StopReason::stagnation : StopReason::running;
      if (result.reason == StopReason::running && result.iterations >= s.settings.max_iterations)
        result.reason = StopReason::iteration_limit;
      const bool running = result.reason == StopReason::running;
      working = working || running;
      if (running) result.restarts = cycle;
      previous2[v] = goal.r_norm2[v] = r_norm2[v];
      goal.target2[v] = running ? tolerance2 : infinite;
      goal.budget[v] = std::max(1, s.settings.max_iterations - result.iterations);
    }
    if (!working) break;

    // A right-hand side that is done stays as it is, whatever happens to its correction meanwhile.
    VectorKrylovState done{};
    for (std::size_t v = 0; v < n; ++v)
      if (goal.target2[v] == infinite) done.stopped[v] = 1;
    const runtime::GraphState<VectorKrylovState> mask(done, 1);
    const Control working_ones{&mask.handle()};
    const bool shifted = shifts && cycle == 0 && !guessed;
    if (progress)
      goal.progress = [&](int iterations, const double* norm2) {
        double worst = 0;
        for (std::size_t v = 0; v < n; ++v)
          if (goal.target2[v] != infinite) worst = std::max(worst, std::sqrt(norm2[v] / b_norm2[v]));
        return progress(spent + iterations, worst);
      };
    if (snapshots.due && !shifted)
      goal.observe = [&](const VectorKrylovState& seen, const std::function<VectorKrylovState()>& now) {
        if (!snapshots.due(spent + seen.status.step)) return;
        const std::vector<HostColour> iterates = s.copy_of_iterate(x, e, r, goal, working_ones, solutions[0].box());
        const VectorKrylovState then = now();
        std::vector<int> iterations(n);
        for (std::size_t v = 0; v < n; ++v)
          iterations[v] = results[v].iterations + (goal.target2[v] == infinite ? 0
                                                   : then.stopped[v] != 0      ? then.iterations[v]
                                                                               : then.status.step);
        snapshots.take(iterates, iterations);
      };
    const std::vector<VectorResult> inner = shifted ? s.shifted_correction(e, sources[0], goal) : s.correction(e, r, goal);
    for (SolveResult& result : results) result.refreshes += inner.front().refreshes;
    idle += inner.front().idle;
    const auto interrupted = [](const VectorResult& result) { return result.reason == StopReason::interrupted; };
    if (!shifted || std::none_of(inner.begin(), inner.end(), interrupted))
      for (const int parity : {0, 1}) staggered::submit<blas::AddScaled>({&x.of(parity), &e.of(parity)}, {1.0}, working_ones);
    const auto fewer = [](const VectorResult& a, const VectorResult& b) { return a.iterations < b.iterations; };
    spent += std::max_element(inner.begin(), inner.end(), fewer)->iterations;
    for (std::size_t v = 0; v < n; ++v) {
      if (goal.target2[v] == infinite) continue;
      results[v].reason = inner[v].reason;
      results[v].iterations += inner[v].iterations;
      if (s.settings.keep_history)
        for (const double norm2 : inner[v].norm2) results[v].residual_history.push_back(std::sqrt(norm2 / b_norm2[v]));
    }
  }
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
  for (const int parity : {0, 1}) staggered::store_vectors(solutions, x.of(parity));
  if (alone) session.wait_all();
  else wait_for_readers(x.of(0), x.of(1));
  return results;
}

}  // namespace quarkstar
