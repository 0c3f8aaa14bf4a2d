#include "solvers/multigrid/multigrid.hpp"

#include "codelets/field/noise.hpp"
#include "codelets/field/norms.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/system/clock.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/gcr_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quarkstar {
namespace {

constexpr std::uint64_t noise_seed = 1;
/// Vectors of noise by which levels are verified; smoothers are fitted to one.
constexpr int probes = 4;

const NamedKrylovSolver& gcr() { return *find_krylov_solver("gcr"); }
/// That the set-up adds where a probe leaves too much.
constexpr int most_further_cycles = 3;
/// GCR without restarts, as far as it keeps directions.
int directions_for(int steps) { return std::min(steps, gcr_steps::most_directions); }

double flops_of_this_thread() { return runtime::Events::of_this_thread().cost.flops; }

double norm2(const Field& field) {
  const std::vector<double> of_vectors = norms2(field);
  return std::accumulate(of_vectors.begin(), of_vectors.end(), 0.0);
}

/// sqrt(sum_v |a_v|^2 / sum_v |b_v|^2).
double ratio(const Field& a, const Field& b) { return std::sqrt(norm2(a) / norm2(b)); }
double ratio(const FullField& a, const FullField& b) { return std::sqrt((norm2(a.even) + norm2(a.odd)) / (norm2(b.even) + norm2(b.odd))); }

/// to -= from.
void subtract(const FullField& to, const FullField& from) {
  for (const int parity : {0, 1}) blas::submit<blas::AddScaled>({&to.of(parity), &from.of(parity)}, {-1.0});
}
void copy(const FullField& to, const FullField& from) {
  for (const int parity : {0, 1}) blas::submit<blas::Scale>({&to.of(parity), &from.of(parity)}, {1.0});
}

}  // namespace

Multigrid::Space::Space(const LatticePointer& fine, int components, const Coord& aggregate, int null_vectors, coarse::NextLevel next)
    : aggregates(fine, components, aggregate, null_vectors, next), matrices(aggregates) {
  const int at_once = coarse::null_vectors_at_once(null_vectors);
  for (int first = 0; first < null_vectors; first += at_once) test.emplace_back(fine, 1, components, at_once);
}

Multigrid::Multigrid(PreparedAction& fine, const MultigridSettings& settings, double mass, StepWatch* watch)
    : fine_(fine), settings_(settings), watch_(watch) {
  const runtime::Decomposition& cut = fine.lattice()->decomposition();
  const int whole = first_whole_level(settings, cut);
  for (int level = 0; level + 1 < settings.levels; ++level) {
    const LatticePointer& lattice = level == 0 ? fine.lattice() : spaces_.back()->aggregates.coarse();
    const int components = level == 0 ? spinor_components : spaces_.back()->aggregates.components();
    const auto next = level + 1 >= whole ? coarse::NextLevel::whole : coarse::NextLevel::cut;
    spaces_.push_back(
        std::make_unique<Space>(lattice, components, aggregate_of(settings, cut.lattice(), level), settings.null_vectors, next));
  }
  for (const int vectors : {at_once(), probes, 1}) fine.prepare(vectors);
  const double flops = flops_of_this_thread(), start = runtime::now_us();
  const std::unique_ptr<EvenOdd> m = fine.system(at_once(), same_for_all(mass));
  using Loaded = NullVectorFiles::Loaded;
  const Loaded found = load_null_vectors();
  int cycles = settings.setup_cycles;
  if (found == Loaded::own) cycles = 0;
  else if (found == Loaded::near) step(0, "refreshing", [&] { cycles = refresh(*m, mass); });
  else step(0, "null vectors", [&] { make_null_vectors(*m, mass); });
  make_levels(*m, mass);
  tell_progress(cycles);
  while (cycles_ < cycles) {
    improve(*m, mass);
    tell_progress(cycles);
  }
  improve_below(*m, mass);
  if constexpr (runtime::backend::computes) {
    verification_.left = probe(mass);
    if (found != Loaded::own) mend(*m, mass);
  }
  runtime::Session::current().wait_all();
  setup_flops_ = flops_of_this_thread() - flops;
  setup_seconds_ = (runtime::now_us() - start) * 1e-6;
  watch_ = nullptr;
  if constexpr (runtime::backend::computes) verify(mass);
  if (settings.half_matrices)  // the others were for the set-up
    for (const auto& space : spaces_) space->matrices.keep_narrow();
  runtime::Session::current().wait_all();
  if (found != Loaded::own) save_null_vectors();
}

void Multigrid::tell_progress(int cycles) const {
  if (!settings_.progress || runtime::Turns::taken()) return;  // other solves would be waited for, too
  runtime::Session::current().wait_all();
  settings_.progress(cycles_, cycles);
}

NullVectorFiles::Loaded Multigrid::load_null_vectors() {
  using Loaded = NullVectorFiles::Loaded;
  if (!settings_.files.load) return Loaded::none;
  std::vector<HostField> host(static_cast<std::size_t>(settings_.null_vectors),
                              HostField(spinor_components, fine_.lattice()->decomposition().part()));
  runtime::Session::current().wait_all();  // files are for times without messages
  const Loaded found = settings_.files.load(host);
  if (found == Loaded::none) return found;
  const runtime::Settled settled;
  for (std::size_t first = 0; const Field& test : spaces_.front()->test) {
    const auto n = static_cast<std::size_t>(test.vectors());
    transfer::load(test, std::span(host).subspan(first, n));
    first += n;
  }
  runtime::Session::current().wait_all();
  return found;
}

void Multigrid::save_null_vectors() const {
  if (!settings_.files.save) return;
  std::vector<HostField> host(static_cast<std::size_t>(settings_.null_vectors),
                              HostField(spinor_components, fine_.lattice()->decomposition().part()));
  const runtime::Settled settled;
  for (std::size_t first = 0; const Field& test : spaces_.front()->test) {
    const auto n = static_cast<std::size_t>(test.vectors());
    transfer::store(std::span(host).subspan(first, n), test);
    first += n;
  }
  runtime::Session::current().wait_all();
  settings_.files.save(host);
}

void Multigrid::make_null_vectors(EvenOdd& m, double mass) {
  const Field noise = m.field();
  const NullVectorFilter filter = filter_of(mass, settings_.setup_steps);
  std::uint64_t first = 0;
  for (const Field& test : spaces_.front()->test) {
    write_noise(noise, noise_seed, first);
    filter.apply(m, test, noise);
    first += static_cast<std::uint64_t>(test.vectors());
  }
}

/// Null vectors of another mass on this configuration are near zero modes of this operator too: they stay as they are, for they have been
/// improved by cycles already, and more of them take the lowest modes out. Those of another configuration are not; a contraction would not
/// tell, as it is that of all modes. So |Mh v| decides (battery.multigrid's configuration: 0.3 |v| of another mass, 1.1 |v| a sweep later).
/// Returns the cycles that are left to do.
int Multigrid::refresh(EvenOdd& m, double mass) {
  const Field start = m.field();
  double of_images = 0, of_all = 0;
  for (const Field& test : spaces_.front()->test) {
    m.apply(start, test, {}, false, {});
    of_images += norm2(start);
    of_all += norm2(test);
  }
  constexpr double near_zero = 0.5;
  if (std::sqrt(of_images / of_all) < near_zero) return 0;
  const NullVectorFilter filter = filter_of(mass, std::max(1, settings_.setup_steps / 2));
  for (const Field& test : spaces_.front()->test) filter.apply(m, test, test);
  return std::min(1, settings_.setup_cycles);
}

NullVectorFilter Multigrid::filter_of(double mass, int steps) const {
  const std::unique_ptr<EvenOdd> fine = fine_.system(1, same_for_all(mass));
  const Field noise = fine->field();
  write_noise(noise, noise_seed, static_cast<std::uint64_t>(settings_.null_vectors + 2 * probes));
  return {*fine, noise, 2 * steps};
}

void Multigrid::make_levels(EvenOdd& m, double mass) {
  coarsen(m, 0);
  fit_smoothers(mass, 0);
}

void Multigrid::improve(EvenOdd& m, double mass) {
  {
    MultigridCycle cycle(m, *this);
    improve(m, cycle, *spaces_.front(), 0);
  }
  make_levels(m, mass);
  ++cycles_;
}

/// v = K v.
void Multigrid::improve(EvenOdd& m, MultigridCycle& cycle, const Space& space, int level) {
  const Field better = m.field();
  cycle.tell(watch_);
  for (const Field& test : space.test) {
    cycle.apply(better, test);
    step(level, "normalisation", [&] { normalise(test, better); });
  }
}

/// The null vectors of the levels between: those that R makes are near zero modes of the fine operator, and a cycle of their own level
/// makes them that of their own one. Costs a tenth of a cycle with its levels, and without it iterations scatter.
void Multigrid::improve_below(EvenOdd& fine, double mass) {
  for (std::size_t level = 1; level < spaces_.size(); ++level) {
    {
      coarse::CoarseOperator m(spaces_[level - 1]->matrices, at_once());
      MultigridCycle cycle(m, *this, static_cast<int>(level), &m);
      improve(m, cycle, *spaces_[level], static_cast<int>(level));
    }
    coarsen(fine, level);
    fit_smoothers(mass, level + 1);
  }
}

void Multigrid::coarsen(EvenOdd& fine, std::size_t first) {
  std::unique_ptr<coarse::CoarseOperator> next;
  if (first > 0) next = std::make_unique<coarse::CoarseOperator>(spaces_[first - 1]->matrices, at_once());
  for (std::size_t level = first; level < spaces_.size(); ++level) {
    Space& space = *spaces_[level];
    EvenOdd& m = next ? *next : fine;
    const std::vector<FullField>& null_vectors = space.aggregates.null_vectors();
    const int number = static_cast<int>(level);
    const bool last = level + 1 == spaces_.size();
    std::vector<FullField> raw;
    step(number, "even sites", [&] {
      const FullField zero(m.lattice(), m.components(), at_once());
      for (const int parity : {0, 1}) blas::submit<blas::Fill>({&zero.of(parity)}, {0.0});
      for (std::size_t field = 0; field < null_vectors.size(); ++field) {
        blas::submit<blas::Scale>({&null_vectors[field].odd, &space.test[field]}, {1.0});
        m.reconstruct(null_vectors[field].even, zero, space.test[field]);  // M v = (0, Mh v)
        if (!last) copy(raw.emplace_back(m.lattice(), m.components(), at_once()), null_vectors[field]);
      }
    });
    step(number, "orthonormalisation", [&] { space.aggregates.orthonormalise(); });
    step(number, "coarse operator", [&] { space.matrices.compute(space.aggregates, m); });
    step(number + 1, "inverses", [&] {
      space.matrices.eliminate();
      if (settings_.half_matrices) space.matrices.narrow();
      if (last && has_dense_inverse(settings_, fine_.lattice()->decomposition().lattice())) space.inverse.emplace(space.matrices);
    });
    if (last) break;
    step(number, "restriction", [&] {
      const FullField restricted = space.aggregates.coarse_field(at_once());
      coarse::Restriction restriction(space.aggregates, at_once());
      for (std::size_t field = 0; field < raw.size(); ++field) {
        restriction.null_vectors(restricted, raw[field], static_cast<int>(field));
        normalise(spaces_[level + 1]->test[field], restricted.odd);
      }
    });
    next = std::make_unique<coarse::CoarseOperator>(space.matrices, at_once());
  }
}

/// What GCR with the cycle leaves of noise. Modes that the cycle leaves alone are few among all: one cycle, or a mean over null vectors,
/// does not see them, and the iterations that follow hardly see anything else.
double Multigrid::probe(double mass) {
  const std::unique_ptr<EvenOdd> fine = fine_.system(1, same_for_all(mass));
  const Field b = fine->field(), x = fine->field(), left = fine->field();
  write_noise(b, noise_seed, static_cast<std::uint64_t>(settings_.null_vectors + 2 * probes));
  MultigridCycle cycle(*fine, *this);
  double remains = 0;
  step(0, "probe", [&] {
    FixedSteps(*fine, gcr(), probe_iterations, probe_iterations, [&](const Field& out, const Field& in, const runtime::Guard& guard) {
      cycle.apply(out, in, guard);
    }).apply(x, b, {});
    fine->apply(left, x, {}, false, {});
    blas::submit<blas::AddScaled>({&left, &b}, {-1.0});
    remains = ratio(left, b);
  });
  return remains;
}

/// Where a probe leaves too much: further cycles, of which the best is kept.
void Multigrid::mend(EvenOdd& m, double mass) {
  if (!(verification_.left > most_left)) return;
  const std::vector<Field>& test = spaces_.front()->test;
  std::vector<Field> best;
  for (std::size_t field = 0; field < test.size(); ++field) best.push_back(m.field());
  const auto move = [](const std::vector<Field>& to, const std::vector<Field>& from) {
    for (std::size_t field = 0; field < to.size(); ++field) blas::submit<blas::Scale>({&to[field], &from[field]}, {1.0});
  };
  const int cycles = cycles_;
  int best_cycles = cycles;
  for (double left = verification_.left; left > most_left && cycles_ < cycles + most_further_cycles;) {
    if (cycles_ == best_cycles) move(best, test);
    improve(m, mass);
    improve_below(m, mass);
    left = probe(mass);
    tell_progress(cycles + most_further_cycles);
    if (!(left < verification_.left)) continue;
    verification_.left = left;
    best_cycles = cycles_;
  }
  further_cycles_ = best_cycles - cycles;
  if (best_cycles == cycles_) return;
  move(test, best);
  make_levels(m, mass);
  improve_below(m, mass);
  cycles_ = best_cycles;
}

std::optional<FullField> Multigrid::noise_beside_null_vectors(int vectors) const {
  std::optional<FullField> noise(std::in_place, fine_.lattice(), spinor_components, vectors);
  for (const int parity : {0, 1}) write_noise(noise->of(parity), noise_seed, static_cast<std::uint64_t>(settings_.null_vectors));
  return noise;
}

/// From noise, and from what R makes of it; of this level and those below.
void Multigrid::fit_smoothers(double mass, std::size_t first) {
  if (first >= spaces_.size()) return;
  const std::unique_ptr<EvenOdd> fine = fine_.system(1, same_for_all(mass));
  std::optional<FullField> noise = noise_beside_null_vectors(1);
  std::unique_ptr<coarse::CoarseOperator> above;
  for (std::size_t level = 0; level < spaces_.size(); ++level) {
    Space& space = *spaces_[level];
    EvenOdd& m = above ? *above : *fine;
    const int number = static_cast<int>(level);
    const int degree = smoother_degree(settings_, number);
    if (level > 0 ? level >= first : space.smoother.empty())  // the finest operator stays as it is
      step(number, "fit of the smoother", [&] { space.smoother = minimal_residual_polynomial(m, noise->odd, degree + 1); });
    if (level + 1 == spaces_.size()) break;
    FullField restricted = space.aggregates.coarse_field(1);
    coarse::Restriction restriction(space.aggregates, 1);
    step(number, "restriction", [&] { restriction.apply(restricted, coarse::Aggregates::both(*noise)); });
    noise.emplace(std::move(restricted));
    above = std::make_unique<coarse::CoarseOperator>(space.matrices, 1);
  }
}

void Multigrid::verify(double mass) {
  constexpr int n = probes;
  const std::unique_ptr<EvenOdd> fine = fine_.system(n, same_for_all(mass));
  std::optional<FullField> noise = noise_beside_null_vectors(n);
  std::unique_ptr<coarse::CoarseOperator> above;
  for (const auto& space : spaces_) {
    EvenOdd& m = above ? *above : *fine;
    const coarse::Aggregates& aggregates = space->aggregates;
    const FullField prolonged(m.lattice(), m.components(), n), image(m.lattice(), m.components(), n);
    FullField c = aggregates.coarse_field(n);
    const FullField product = aggregates.coarse_field(n), expected = aggregates.coarse_field(n);
    coarse::Restriction restriction(aggregates, n);
    restriction.apply(c, coarse::Aggregates::both(*noise));  // coarse vectors of chance
    aggregates.prolong(coarse::Aggregates::both(prolonged), c);
    restriction.apply(product, coarse::Aggregates::both(prolonged));
    subtract(product, c);
    const auto keep_larger = [](double& largest, double value) {
      if (!(value <= largest)) largest = value;  // NaN too
    };
    keep_larger(verification_.orthonormality, ratio(product, c));

    submit_together([&] {
      for (const int parity : {0, 1}) m.times_m(image.of(parity), prolonged, 1);
    });
    restriction.apply(expected, coarse::Aggregates::both(image));
    auto operation = std::make_unique<coarse::CoarseOperator>(space->matrices, n);
    for (const int parity : {0, 1}) operation->times_m(product.of(parity), c, 1);
    subtract(product, expected);
    keep_larger(verification_.galerkin, ratio(product, expected));
    noise.emplace(std::move(c));
    above = std::move(operation);
  }

  const Field r = fine->field(), x = fine->field(), left = fine->field();
  write_noise(r, noise_seed, static_cast<std::uint64_t>(settings_.null_vectors + n));
  MultigridCycle cycle(*fine, *this);
  const bool alone = !runtime::Turns::taken();
  StepWatch watch(alone ? StepWatch::Seconds::yes : StepWatch::Seconds::no);
  cycle.tell(&watch);
  cycle.apply(x, r);
  for (int level = 0; level < levels(); ++level) {
    verification_.cycle_flops.push_back(watch.flops_of_level(level) / n);
    if (alone) verification_.cycle_seconds.push_back(watch.seconds_of_level(level) / n);
  }
  fine->apply(left, x, {}, false, {});
  blas::submit<blas::AddScaled>({&left, &r}, {-1.0});
  verification_.contraction = ratio(left, r);

  const double rounding = fine_.lattice()->precision() == Precision::double_ ? 1e-9 : 1e-3;
  const auto fail = [&](const std::string& what, const char* remedy) {
    // Of sums over all ranks, which all throw.
    throw runtime::mpi::SharedError(ErrorKind::numerical, Parameter("null-vectors"), "the multigrid set-up failed: " + what, remedy);
  };
  if (!(verification_.orthonormality < rounding))
    fail(fmt::format("null vectors depend on each other on an aggregate, |P^+ P c - c| / |c| = {:.1e}", verification_.orthonormality),
         "give fewer null vectors or larger aggregates");
  if (std::isnan(verification_.galerkin)) fail("the own block of a coarse site has no inverse", "give other aggregates or null vectors");
  if (!(verification_.galerkin < rounding))
    fail(fmt::format("|D_c c - P^+ M P c| / |P^+ M P c| = {:.1e}", verification_.galerkin), "use double precision");
  if (const auto& inverse = spaces_.back()->inverse; inverse && !inverse->is_finite())
    fail("the coarsest level has no inverse", "give other aggregates or null vectors, fewer levels, or a heavier quark");
  if (!(verification_.contraction < 1))
    fail(fmt::format("a cycle leaves {:.3f} of a residual", verification_.contraction),
         "give more setup-steps or null vectors, or a heavier quark");
}

MultigridCycle::MultigridCycle(LinearOperator& system, const Multigrid& multigrid, int level, coarse::CoarseOperator* own)
    : system_(system),
      aggregates_(multigrid.space(level).aggregates),
      level_(level),
      own_(own),
      restriction_(aggregates_, system.vectors()),
      coarse_(multigrid.space(level).matrices, system.vectors(),
              multigrid.settings().half_matrices ? coarse::CoarseOperator::Stored::narrow : coarse::CoarseOperator::Stored::wide),
      next_(level + 2 < multigrid.levels() ? std::unique_ptr<MultigridCycle>(new MultigridCycle(coarse_, multigrid, level + 1, &coarse_))
                                           : nullptr),
      smoother_(system, multigrid.space(level).smoother),
      coarse_residual_(aggregates_.coarse_field(system.vectors())),
      coarse_solution_(aggregates_.coarse_field(system.vectors())),
      coarse_rhs_(coarse_.field()),
      residual_(system.field()) {
  if (system.lattice() != aggregates_.fine()) throw ShapeError("MultigridCycle", "a system on another lattice");
  const int steps = next_ ? multigrid.settings().cycle_steps : multigrid.settings().coarse_steps;
  if (const auto& inverse = multigrid.space(level).inverse; inverse) inverse_.emplace(*inverse, system.vectors());
  else coarse_solver_.emplace(coarse_, gcr(), steps, directions_for(steps), next_cycle());
}

Preconditioner MultigridCycle::next_cycle() const {
  if (!next_) return {};
  return [cycle = next_.get()](const Field& out, const Field& in, const runtime::Guard& guard) { cycle->apply(out, in, guard); };
}

void MultigridCycle::tell(StepWatch* watch) {
  watch_ = watch;
  if (next_) next_->tell(watch);
}

RecurrenceMemory MultigridCycle::memory(const MultigridSettings& settings, bool dense, int level, int n) {
  const auto steps_of = [&](int steps) { return FixedSteps::memory(gcr(), steps, directions_for(steps), n); };
  RecurrenceMemory all{0, 0};
  const auto add = [&](const RecurrenceMemory& memory, int fields) {
    all.fields += memory.fields + fields;
    all.state_bytes += memory.state_bytes;
  };
  const bool coarsest = level + 1 == settings.levels;
  if (!coarsest) add({Smoother::fields, 0}, 1);
  if (level > 0) {
    const RecurrenceMemory of_inverse{0, 0};
    add(coarsest && dense ? of_inverse : steps_of(coarsest ? settings.coarse_steps : settings.cycle_steps), 4 + 1 + 2);
  }
  return all;
}

void MultigridCycle::apply(const Field& out, const Field& in, const runtime::Guard& guard) const {
  runtime::Guard within = guard;  // of fields that nobody reads later
  within.keeps = false;
  step(level_, "restriction", [&] {
    const Field* right_hand_side = &in;
    if (own_ != nullptr) {  // its system is A^-1 times the Schur complement
      own_->times_own(residual_, in, within);
      right_hand_side = &residual_;
    }
    restriction_.apply(coarse_residual_, coarse::Aggregates::one(*right_hand_side), within);
  });
  step(level_, "even-odd of the next level", [&] { coarse_.prepare(coarse_rhs_, coarse_residual_, within); });
  step(level_ + 1, "solver", [&] {
    if (inverse_) inverse_->apply(coarse_solution_.odd, coarse_rhs_, within);
    else coarse_solver_->apply(coarse_solution_.odd, coarse_rhs_, within);
  });
  step(level_, "even-odd of the next level",
       [&] { coarse_.reconstruct(coarse_solution_.even, coarse_residual_, coarse_solution_.odd, within); });
  step(level_, "prolongation", [&] { aggregates_.prolong(coarse::Aggregates::one(out), coarse_solution_, guard); });
  step(level_, "residual", [&] {
    system_.apply(residual_, out, {}, false, within);
    blas::submit<blas::Direction>({&residual_, &in}, {-1.0}, within);  // in - Mh x
  });
  step(level_, "smoother", [&] { smoother_.apply(out, residual_, guard); });
}

}  // namespace quarkstar
