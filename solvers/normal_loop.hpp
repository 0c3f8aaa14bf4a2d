#pragma once
// Correction after correction of shifted systems of the normal operator.
#include "solvers/correction.hpp"
#include "solvers/shifted_system.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace quarkstar {

/// (Mh^+ Mh + shift_v) x_v = b for all shifts: the first correction is of one Krylov space, further ones are of each.
class NormalLoop {
 public:
  /// What is given outlives it.
  NormalLoop(Corrector& corrector, double mass, std::span<const double> shifts, std::span<const double> tolerances);

  /// On the sites and with the vectors of b and x.
  Field field() const { return a_->field(); }
  /// Solves from x = 0. source: b in one vector, is overwritten; b: in each. Submits and waits; results are without times and work.
  std::vector<SolveResult> run(const Field& source, const Field& b, const Field& x);
  /// Submitted and not done, because the graph had stopped.
  const Work& idle() const { return idle_; }

 private:
  void submit_residual(const Field& r, const Field& b, const Field& x, const Field& temporary);
  bool judge(const std::vector<double>& r_norm2);
  void add(const KrylovResults& corrected);

  Corrector& corrector_;
  std::span<const double> tolerances_;
  PerVector shifts_;
  std::unique_ptr<EvenOdd> system_;
  std::unique_ptr<ShiftedSystem> a_;  ///< in double precision
  CorrectionGoal goal_;
  std::vector<double> b_norm2_{};
  std::vector<SolveResult> results_;
  int cycle_ = 0;
  Work idle_{};
};

}  // namespace quarkstar
