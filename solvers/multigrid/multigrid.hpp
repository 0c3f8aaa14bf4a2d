#pragma once
// Adaptive multigrid as a preconditioner, on the task graph.
#include "codelets/coarse/dense_inverse.hpp"
#include "codelets/coarse/restriction.hpp"
#include "solvers/krylov/fixed_steps.hpp"
#include "solvers/multigrid/choice.hpp"
#include "solvers/multigrid/smoother.hpp"
#include "solvers/step_watch.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar {

class MultigridCycle;

/// The spaces between the levels for one operator M, made by a set-up. Level 0 has spinors, level l + 1 has a site for each aggregate of
/// level l. Of each level, from the finest on:
///   1. N null vectors v, all at once, of more than 32 in two halves. Level 0: filters on noise, one after another, which leave the modes
///      near zero; noise is a function of global sites. Level l + 1: R v of the level above;
///   2. block-orthonormalised P, and D_c = P^+ M P (codelets/coarse), which is M on the next level;
/// some times: v = one multigrid cycle on v on level 0; then all levels anew. At the end the same on the levels between, from above, with a
/// cycle of each on its own v. Then a probe: where a few iterations leave too much of noise, further cycles; and verification (verify()).
/// Null vectors of this operator from settings.files take the place of those of level 0, and no cycle improves these. Those of an operator
/// near this one stay as they are where |Mh v| is small; else they take the place of the noise, with half of the steps and one improvement.
class Multigrid {
 public:
  /// fine: prepared with coarse::unit_of(aggregate), in the precision of all levels; it outlives this. settings: complete (completed()).
  /// mass: of the operator that is coarsened; others near it are served too, with more iterations. Waits until the set-up has ended. Throws
  /// Error(numerical) where it fails the verification. watch: sees the steps of the set-up, those of its cycles among them.
  Multigrid(PreparedAction& fine, const MultigridSettings& settings, double mass, StepWatch* watch = nullptr);

  /// Iterations of GCR that tell a set-up from a bad one, as many as a solve takes between two restarts unless it is told otherwise, and
  /// what they may leave: a solve to 1e-10 takes some 40 then, soon many more (docs/results/2026-11-29-multigrid-rule-cpu.md).
  static constexpr int probe_iterations = 8;
  static constexpr double most_left = 1e-3;

  const MultigridSettings& settings() const { return settings_; }
  PreparedAction& fine() const { return fine_; }
  int levels() const { return static_cast<int>(spaces_.size()) + 1; }

  /// Between level `level` and the next.
  struct Space {
    Space(const LatticePointer& fine, int components, const Coord& aggregate, int null_vectors, coarse::NextLevel next);
    coarse::Aggregates aggregates;
    coarse::CoarseMatrices matrices;
    std::vector<Field> test;                        ///< the null vectors on solved sites before orthonormalisation, as P holds them
    std::vector<double> smoother{};                 ///< polynomial of the level's even-odd system
    std::optional<coarse::DenseInverse> inverse{};  ///< of the next level, where that is the coarsest and small
  };
  const Space& space(int level) const { return *spaces_[static_cast<std::size_t>(level)]; }

  /// What verification found: the largest of all levels.
  struct Verification {
    double orthonormality = 0;          ///< |P^+ P c - c| / |c|
    double galerkin = 0;                ///< |D_c c - P^+ M P c| / |P^+ M P c|
    double left = 0;                    ///< |b - Mh x| / |b| for noise b after probe_iterations of GCR
    double contraction = 0;             ///< |r - Mh K r| / |r| for noise r, level 0
    std::vector<double> cycle_flops;    ///< of one cycle on one vector, by level, of this rank
    std::vector<double> cycle_seconds;  ///< the same in wall time, of a vector of several, where nothing else was in flight
  };
  const Verification& verification() const { return verification_; }
  /// Times that the null vectors were improved.
  int cycles() const { return cycles_; }
  /// Of them those that a probe asked for.
  int further_cycles() const { return further_cycles_; }
  /// For reports: the verification, and what set-up and cycle cost, in flop per site of the lattice.
  std::vector<std::pair<std::string, double>> numbers() const;
  std::vector<MultigridLevel> level_reports() const;

 private:
  NullVectorFiles::Loaded load_null_vectors();
  void save_null_vectors() const;
  void make_null_vectors(EvenOdd& m, double mass);
  int refresh(EvenOdd& m, double mass);
  int at_once() const { return coarse::null_vectors_at_once(settings_.null_vectors); }
  NullVectorFilter filter_of(double mass, int steps) const;
  void make_levels(EvenOdd& m, double mass);
  void improve(EvenOdd& m, double mass);
  void improve(EvenOdd& m, MultigridCycle& cycle, const Space& space, int level);
  void improve_below(EvenOdd& fine, double mass);
  void coarsen(EvenOdd& fine, std::size_t first);
  double probe(double mass);
  void mend(EvenOdd& m, double mass);
  std::optional<FullField> noise_beside_null_vectors(int vectors) const;
  void fit_smoothers(double mass, std::size_t first);
  void verify(double mass);
  void tell_progress(int cycles) const;
  double on_all_ranks_per_site(double flops) const;
  void step(int level, const char* name, const std::function<void()>& body) const { StepWatch::run(watch_, level, name, body); }

  PreparedAction& fine_;
  MultigridSettings settings_;
  std::vector<std::unique_ptr<Space>> spaces_;
  Verification verification_;
  int cycles_ = 0, further_cycles_ = 0;
  double setup_flops_ = 0, setup_seconds_ = 0;
  StepWatch* watch_;  ///< none once it is set up
};

/// out_v = K in_v, K an approximate inverse of the even-odd system Mh of a level on the sites of its parity, for n vectors:
///   D_c y = R_o in on the next level, on its even-odd system: by the inverse of a small coarsest level, else by a fixed number of
///   GCR steps, on the coarsest level without a preconditioner, on others with K of that level (V-cycle: one step; K-cycle: more);
///   x = P_o y, for M^-1 (0, in) on odd sites is Mh^-1 in, and P_o is P there;
///   out = x + S (in - Mh x), S the smoother.
/// All is tasks of the caller's iteration: nothing waits and nobody looks. K is not linear, so its solver must be flexible. Bits depend on
/// the aggregates, not on cut, device, policy or the other vectors.
class MultigridCycle {
 public:
  /// system: of the multigrid's fine operator; both outlive this.
  MultigridCycle(LinearOperator& system, const Multigrid& multigrid) : MultigridCycle(system, multigrid, 0, nullptr) {}
  /// Fields that it holds for each right-hand side on one level. dense: has_dense_inverse().
  static RecurrenceMemory memory(const MultigridSettings& settings, bool dense, int level, int n);
  /// Submits it. guard: the caller's state; out_v of those it leaves out stay as they are where it keeps them.
  void apply(const Field& out, const Field& in, const runtime::Guard& guard = {}) const;
  /// Steps of further applications are told to it; one that waits is for cycles outside batches.
  void tell(StepWatch* watch);

 private:
  friend class Multigrid;
  /// own: the system of a level below the finest.
  MultigridCycle(LinearOperator& system, const Multigrid& multigrid, int level, coarse::CoarseOperator* own);
  Preconditioner next_cycle() const;
  void step(int level, const char* name, const std::function<void()>& body) const { StepWatch::run(watch_, level, name, body); }

  LinearOperator& system_;
  const coarse::Aggregates& aggregates_;
  int level_;
  coarse::CoarseOperator* own_;
  mutable coarse::Restriction restriction_;
  mutable coarse::CoarseOperator coarse_;
  std::unique_ptr<MultigridCycle> next_;     ///< none above the coarsest level
  std::optional<FixedSteps> coarse_solver_;  ///< where there is no inverse
  mutable std::optional<coarse::DenseSolver> inverse_;
  Smoother smoother_;
  FullField coarse_residual_, coarse_solution_;
  Field coarse_rhs_, residual_;
  StepWatch* watch_ = nullptr;
};

}  // namespace quarkstar
