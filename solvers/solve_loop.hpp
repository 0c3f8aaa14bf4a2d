#pragma once
// Correction after correction, until every right-hand side is at its tolerance or cannot get there.
#include "solvers/correction.hpp"
#include "solvers/solver.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace quarkstar {

/// One solve for n right-hand sides, whose bits are each those of its own: a right-hand side that is done stays as it is.
class SolveLoop {
 public:
  struct Problem {
    std::span<const double> masses;
    const SolveRequest& request;
    const LoadSources& load;    ///< for masses that share a Krylov space
    const FullField &b, &x;     ///< x: the guesses, then the solutions
    bool guessed = false;       ///< x may be other than zero
    const Box* part = nullptr;  ///< of the host's fields, for snapshots; nullptr: none are taken
  };
  /// All outlive it. Waits for b, which the norms take to the memory of the workers that have the lattice: sources in host memory come to a
  /// GPU here, at the speed of the bus, the even parity while the odd one is still being arranged.
  SolveLoop(Corrector& corrector, const Problem& problem, const Progress& progress, const Snapshots& snapshots);

  /// Submits and waits; results are without times and work.
  std::vector<SolveResult> run();
  /// Submitted and not done, because the graph had stopped.
  const Work& idle() const { return idle_; }

 private:
  double tolerance2(std::size_t v) const;
  bool has_tolerance(std::size_t v) const;
  double relative(std::size_t v, double norm2) const;
  void zero_solutions_of_zero_sources();
  void go_on(const SolveState& state);
  bool set_goal(std::size_t v);
  bool judge(const std::vector<double>& r_norm2);
  bool fall_back(const std::vector<double>& r_norm2);
  void begin_with_modes(const runtime::Guard& working);
  void watch(const runtime::Guard& working);
  void take_snapshot(const std::function<KrylovSnapshot()>& now, const runtime::Guard& working);
  void correct(const runtime::Guard& working);

  Corrector& corrector_;
  Problem problem_;
  const Progress& progress_;
  const Snapshots& snapshots_;
  std::size_t n_;
  FullField r_, e_;  ///< residual, correction
  bool shares_;      ///< masses share a Krylov space in the first cycle
  CorrectionGoal goal_;
  std::unique_ptr<EvenOdd> system_;
  std::vector<double> b_norm2_;
  std::vector<SolveResult> results_;
  PerVector previous2_{};  ///< |r|^2 a cycle before
  int cycle_ = 0;
  int spent_ = 0;         ///< iterations of all cycles so far, of the right-hand side that took most
  bool shifted_ = false;  ///< this cycle's correction is of shifted systems
  Work idle_;
};

}  // namespace quarkstar
