#include "solvers/solver.hpp"

#include "codelets/coarse/aggregates.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/field/wait_for_readers.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/handle_pool.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/clock.hpp"
#include "runtime/system/error.hpp"
#include "solvers/correction.hpp"
#include "solvers/normal_loop.hpp"
#include "solvers/solve_loop.hpp"
#include "solvers/solver_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace quarkstar {

struct Solver::Impl {
  template <class... Arguments>
  explicit Impl(Arguments&&... arguments) : corrector(std::forward<Arguments>(arguments)...) {}

  runtime::HandlePools pools;  ///< for the fields of a solve
  Corrector corrector;

  PreparedAction& action() const { return corrector.action(); }
  void require(std::span<const double> masses, std::span<const HostField> solutions, const SolveRequest& request);
  void load(const LoadSources& sources, const FullField& b) const;
  void load_guesses(std::span<const HostField> guesses, const SolveRequest& request, const FullField& x) const;
  void store(const FullField& x, std::vector<SolveResult>& results, std::span<HostField> solutions, std::span<HostField> slices,
             const UseSolutions& use, bool alone) const;
};

/// Throws where the parts of a solve do not belong together, or the solver is not for them.
void Solver::Impl::require(std::span<const double> masses, std::span<const HostField> solutions, const SolveRequest& request) {
  const std::size_t n = masses.size();
  const SolverSettings& settings = corrector.settings();
  if (n < 1 || n > static_cast<std::size_t>(most_vectors) || (!solutions.empty() && solutions.size() != n) ||
      (!request.tolerances.empty() && request.tolerances.size() != n))
    throw ShapeError("Solver::solve", "masses, solutions and tolerances do not belong together");
  for (const HostField& solution : solutions)
    if (solution.origin != solutions[0].origin || solution.extents != solutions[0].extents)
      throw ShapeError("Solver::solve", "the solutions hold different boxes");
  for (const double mass : masses) action().check_mass(mass);
  corrector.modes().require_masses(masses);
  const bool one_mass = std::all_of(masses.begin(), masses.end(), [&](double mass) { return mass == masses[0]; });
  if (corrector.krylov().one_operator && !one_mass)
    throw Error(ErrorKind::input, Parameter("solver"), fmt::format("{} needs one mass for all right-hand sides", corrector.krylov().name),
                "use cg, or multishift for several masses");
  if (settings.recycle > 0 && !corrector.is_hermitian() && !one_mass)
    throw Error(ErrorKind::input, Parameter("recycle"), "right-hand sides of several masses have no modes in common",
                "solve for one mass after the other");
  if (request.resume != nullptr && (request.resume->results.size() != n || settings.recycle > 0))
    throw ShapeError("Solver::solve", "no state of these right-hand sides");
  const std::size_t slices = action().physical() != nullptr ? n * static_cast<std::size_t>(corrector.lattice()->slices()) : 0;
  if (!request.slices.empty() && request.slices.size() != slices)
    throw ShapeError("Solver::solve", "slices and masses do not belong together");
  if (action().physical() != nullptr && request.parity)
    throw Error(ErrorKind::input, Parameter("parity"), "sources of four dimensions are no right-hand sides of the even-odd system",
                "solve on both parities");
}

void Solver::Impl::load(const LoadSources& sources, const FullField& b) const {
  PhysicalFields* const physical = action().physical();
  if (physical == nullptr) {
    for (const int parity : {0, 1}) sources(b.of(parity));
    return;
  }
  const FullField eta(physical->lattice(), corrector.components(), b.even.vectors());
  for (const int parity : {0, 1}) sources(eta.of(parity));
  physical->load(b, eta);
}

void Solver::Impl::load_guesses(std::span<const HostField> guesses, const SolveRequest& request, const FullField& x) const {
  const SolveState* const resume = request.resume;
  for (const int parity : {0, 1}) {
    if (resume != nullptr && !resume->fields.empty())
      transfer::load(x.of(parity), std::span(resume->fields).first(static_cast<std::size_t>(x.even.site_vectors())));
    else if (request.guess) request.guess(x.of(parity));
    else transfer::load(x.of(parity), guesses);
  }
}

/// Where there is a fifth dimension what is between its walls. Waits for what reads x.
void Solver::Impl::store(const FullField& x, std::vector<SolveResult>& results, std::span<HostField> solutions, std::span<HostField> slices,
                         const UseSolutions& use, bool alone) const {
  std::optional<FullField> walls;
  if (PhysicalFields* const physical = action().physical(); physical != nullptr) {
    walls.emplace(physical->lattice(), corrector.components(), x.even.vectors());
    physical->store(*walls, x);
    std::vector<std::vector<double>> midpoint = physical->midpoint(x);
    for (std::size_t v = 0; v < results.size(); ++v) results[v].midpoint = std::move(midpoint[v]);
  }
  const FullField& solved = walls ? *walls : x;
  if (use) use(solved, results);
  if (!solutions.empty())
    for (const int parity : {0, 1}) transfer::store(solutions, solved.of(parity));
  if (!slices.empty())
    for (const int parity : {0, 1}) transfer::store(slices, x.of(parity));
  if (alone) return runtime::Session::current().wait_all();
  wait_for_readers(solved.even, solved.odd);
  if (!slices.empty()) wait_for_readers(x.even, x.odd);
}

namespace {

/// Time and work of a solve, from now on.
class Account {
 public:
  /// alone: no other solve is in flight, so that what the workers do is this one's.
  explicit Account(bool alone) : alone_(alone) {
    if (alone) busy_before_ = runtime::Session::current().events().totals().busy_us;
  }
  /// Each gets an equal share. idle: submitted and not done.
  void close(std::vector<SolveResult>& results, const Work& idle) const {
    const double share = 1 / static_cast<double>(results.size()), seconds = (runtime::now_us() - start_) * 1e-6;
    const double busy_us = alone_ ? runtime::Session::current().events().totals().busy_us - busy_before_ : 0;
    const runtime::Submissions& after = runtime::Events::of_this_thread();
    double work[] = {after.cost.flops - before_.cost.flops - idle.cost.flops, after.cost.bytes - before_.cost.bytes - idle.cost.bytes,
                     static_cast<double>(after.parts - before_.parts - idle.tasks), static_cast<double>(after.tasks - before_.tasks)};
    runtime::mpi::Job::current().combine(std::span<double>(work), runtime::mpi::Combine::sum);
    for (SolveResult& result : results) {
      result.seconds = seconds * share;
      result.flops = work[0] * share;
      result.bytes = work[1] * share;
      result.kernels = static_cast<std::int64_t>(work[2]) / static_cast<std::int64_t>(results.size());
      result.tasks = work[3] * share;
      result.busy_us = busy_us * share;
    }
  }

 private:
  bool alone_;
  runtime::Submissions before_ = runtime::Events::of_this_thread();
  double busy_before_ = 0, start_ = runtime::now_us();
};

}  // namespace

Solver::Solver(const runtime::Decomposition& decomposition, const Action& action, const SolverSettings& given, const Speed& speed) {
  const SolverSettings settings = completed(given, decomposition.lattice());
  const NamedKrylovSolver& krylov = solver_for(action, settings);
  check_limits(settings);
  ActionRequest request{settings.precision, settings.link_reals, settings.schur, settings.schwarz, speed};
  request.speed.measure = settings.tune && !speed.tile && !speed.launch && !runtime::Turns::taken();
  if (speed.vectors_in_lanes > 1 && ((action.components() == colour_components && !krylov.vectors_in_lanes) || settings.multigrid))
    throw ShapeError("Solver", "a solver without kernels for vectors in lanes");
  require_recyclable(settings, action.is_hermitian());
  if (settings.multigrid) {
    check_multigrid(settings, decomposition);
    request.unit = coarse::unit_of(settings.multigrid->aggregate);
  }
  action.check(decomposition, request);
  PreparedActions prepared = action.prepared(decomposition, request);
  if (krylov.shifted && !prepared.outer->shift_between(1, 1))
    throw Error(ErrorKind::input, Parameter("solver"),
                fmt::format("'{}' needs masses that shift M^+ M, which this action's do not", krylov.name), "use another solver");
  if (settings.recycle > 0 && prepared.outer->physical() != nullptr)
    throw Error(ErrorKind::input, Parameter("recycle"), "modes are gathered on lattices of four dimensions only", "leave it out");
  impl_ = std::make_unique<Impl>(settings, krylov, action.components(), action.is_hermitian(), std::move(prepared));
  if (settings.multigrid) impl_->corrector.set_up_multigrid();
}

bool Solver::solves_for(double mass) const { return impl_->action().serves(mass); }

SolveResult Solver::solve(const HostField& source, HostField& solution, const Progress& progress, const Snapshots& snapshots) {
  const std::optional<double> mass = impl_->action().own_mass();
  if (!mass) throw ShapeError("Solver::solve", "no mass, and the action has none of its own");
  return solve(source, *mass, solution, progress, snapshots);
}

std::vector<std::pair<std::string, double>> Solver::numbers() const {
  std::vector<std::pair<std::string, double>> numbers = impl_->action().numbers();
  const Multigrid* const multigrid = impl_->corrector.multigrid();
  if (multigrid != nullptr)
    for (const auto& number : multigrid->numbers()) numbers.push_back(number);
  if (impl_->corrector.settings().multigrid) numbers.emplace_back("multigrid_fell_back", multigrid != nullptr ? 0 : 1);
  return numbers;
}

std::vector<MultigridLevel> Solver::multigrid_levels() const {
  const Multigrid* const multigrid = impl_->corrector.multigrid();
  return multigrid != nullptr ? multigrid->level_reports() : std::vector<MultigridLevel>{};
}

const LatticePointer& Solver::lattice() const { return impl_->corrector.lattice(); }

void Solver::set_projector(std::shared_ptr<const Projector> projector, double mass) {
  if (lattice()->vectors_in_lanes() > 1) throw ShapeError("Solver::set_projector", "vectors are in lanes");
  require_deflatable(impl_->corrector.settings());
  impl_->corrector.modes().give(std::move(projector), mass);
}

std::unique_ptr<EvenOdd> Solver::system(int vectors, double mass) {
  PreparedAction& action = impl_->action();
  action.check_mass(mass);
  action.prepare(vectors);
  return action.system(vectors, same_for_all(mass));
}

void Solver::prepare(int vectors) {
  impl_->corrector.prepare(vectors);
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
  if (n < 1 || n * static_cast<std::size_t>(lattice()->slices()) > static_cast<std::size_t>(most_vectors))
    throw ShapeError("Solver::apply", "no vectors, or too many");
  for (const double mass : masses) s.action().check_mass(mass);
  const int count = static_cast<int>(n);
  s.action().prepare(count);
  const runtime::Settled settled;  // the caller's vectors
  const FullField in(lattice(), s.corrector.components(), count), out(lattice(), s.corrector.components(), count);
  for (const int parity : {0, 1}) load(in.of(parity));
  const PerVector mass = for_each_vector(n, [&](std::size_t v) { return masses[v]; });
  const std::unique_ptr<EvenOdd> outer = s.action().system(count, mass);
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
  if (impl_->corrector.krylov().shifted && std::any_of(sources.begin(), sources.end(), other))
    throw ShapeError("Solver::solve", fmt::format("{} solves for one source", impl_->corrector.krylov().name));
  const LoadSources load = [&](const Field& field) { transfer::load(field, sources.first(static_cast<std::size_t>(field.vectors()))); };
  return solve(load, masses, solutions, progress, snapshots, use, request);
}

std::vector<SolveResult> Solver::solve(const LoadSources& load, std::span<const double> masses, std::span<HostField> solutions,
                                       const Progress& progress, const Snapshots& snapshots, const UseSolutions& use,
                                       const SolveRequest& request) {
  Impl& s = *impl_;
  s.require(masses, solutions, request);
  const auto zero = [](const HostField& field) {
    return std::all_of(field.data.begin(), field.data.end(), [](const std::complex<double>& c) { return c == 0.0; });
  };
  const bool four_dimensions = s.action().physical() == nullptr;  // else what is between the walls follows from no guess of four dimensions
  const std::span<HostField> guesses = four_dimensions ? solutions : request.slices;
  const bool given = request.guess || request.resume != nullptr || !std::all_of(guesses.begin(), guesses.end(), zero);
  const bool guessed = (four_dimensions || !guesses.empty()) && runtime::mpi::Job::current().any(given);
  runtime::Session& session = runtime::Session::current();
  const auto count = static_cast<int>(masses.size());
  auto pool = s.pools.mine(count);  // gives up fields of another size first
  s.corrector.prepare(count);
  const runtime::HandlePool::Use pooled(std::move(pool));
  const runtime::Settled settled;  // the caller's vectors
  const FullField b(lattice(), s.corrector.components(), count), x(lattice(), s.corrector.components(), count);
  if (guessed) s.load_guesses(guesses, request, x);
  s.load(load, b);  // behind guesses: whoever loads sources may wait for them
  std::optional<Box> part;
  if (!guesses.empty()) part = guesses[0].box();
  SolveLoop loop(s.corrector,
                 {.masses = masses, .request = request, .load = load, .b = b, .x = x, .guessed = guessed, .part = part ? &*part : nullptr},
                 progress, snapshots);
  const bool alone = !runtime::Turns::taken();
  if (alone) session.wait_all();
  for (const int parity : {0, 1})
    if (!guessed) blas::submit<blas::Fill>({&x.of(parity)}, {0.0});  // zeros need not cross a bus, and nobody waits for them
  const Account account(alone);
  std::vector<SolveResult> results = loop.run();
  if (alone) session.wait_all();
  account.close(results, loop.idle());
  s.store(x, results, solutions, request.slices, use, alone);
  return results;
}

std::vector<SolveResult> Solver::solve_normal(const LoadSources& load, double mass, std::span<const double> shifts,
                                              std::span<const double> tolerances, const UseVectors& use) {
  Corrector& corrector = impl_->corrector;
  PreparedAction& action = impl_->action();
  const SolverSettings& settings = corrector.settings();
  const std::size_t n = shifts.size();
  if (n < 1 || n * static_cast<std::size_t>(lattice()->slices()) > static_cast<std::size_t>(most_vectors) || tolerances.size() != n)
    throw ShapeError("Solver::solve_normal", "no shifts, too many, or another number of tolerances");
  if (corrector.is_hermitian())
    throw Error(ErrorKind::input, Parameter("shifts"), "the even-odd system of this action is hermitian, and its masses are shifts",
                "solve for several masses with multishift");
  if (settings.recycle > 0) throw Error(ErrorKind::input, Parameter("recycle"), "shifted systems gather no modes", "leave it out");
  for (const double shift : shifts)
    if (!std::isfinite(shift) || shift < 0)
      throw Error(ErrorKind::input, Parameter("shifts"), fmt::format("a shift of {}", shift), "give finite numbers from 0");
  action.check_mass(mass);
  const auto count = static_cast<int>(n);
  auto pool = impl_->pools.mine(-count);  // of other fields than those of solve()
  for (const int vectors : {1, count}) corrector.prepare(vectors);
  const runtime::HandlePool::Use pooled(std::move(pool));
  const runtime::Settled settled;  // the caller's vectors
  NormalLoop loop(corrector, mass, shifts, tolerances);
  const Field b = loop.field(), x = loop.field(), source(lattice(), b.parity(), corrector.components());
  load(source);
  load(b);
  const bool alone = !runtime::Turns::taken();
  if (alone) runtime::Session::current().wait_all();
  const Account account(alone);
  std::vector<SolveResult> results = loop.run(source, b, x);
  if (alone) runtime::Session::current().wait_all();
  account.close(results, loop.idle());
  use(x);
  if (alone) runtime::Session::current().wait_all();
  else wait_for_readers(x, b);
  return results;
}

}  // namespace quarkstar
