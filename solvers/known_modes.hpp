#pragma once
// What a solver knows of its operator's inverse before a solve begins.
#include "solvers/deflation.hpp"
#include "solvers/eigen/recycled_space.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace quarkstar {

/// Modes that are given, or that solves gather for those after them: SolverSettings::recycle of them.
class KnownModes {
 public:
  /// action: in double precision; outlives this. most_gathered: 0: none.
  KnownModes(PreparedAction& action, int components, bool is_hermitian, int most_gathered)
      : action_(action), components_(components), is_hermitian_(is_hermitian), most_gathered_(most_gathered) {}

  /// mass: of the operator that the projector is of.
  void give(std::shared_ptr<const Projector> projector, double mass) {
    deflation_ = std::make_unique<Deflation>(std::move(projector), mass, is_hermitian_);
  }
  /// A solve for these masses on the sites of this parity begins, or has ended. What is gathered is of one operator: for masses of another
  /// one it is dropped. On the other parity than that of the first solve nothing is gathered and nothing known, and what there is stays.
  void begin(std::span<const double> masses, int parity);
  void end(std::size_t right_hand_sides) {
    if (gathers()) gathered_from_ += right_hand_sides;
  }

  /// Throws Error(input) naming `deflate` for masses that given modes cannot serve.
  void require_masses(std::span<const double> masses) const {
    if (deflation_ && !gathered_) deflation_->require_masses(action_, masses);
  }
  /// The solve that runs gathers modes: the first right-hand sides do, a fourth of the modes. Later ones would improve them by less than it
  /// costs.
  bool gathers() const { return in_use_ && 4 * gathered_from_ < static_cast<std::size_t>(most_gathered_); }
  /// There is something known for the solve that runs.
  bool help() const { return deflation_ && (!gathered_ || (in_use_ && !gathered_->is_empty())); }
  /// nullptr: nothing is known.
  const Deflation* deflation() const { return deflation_.get(); }

  /// Adds d, in double precision, which comes of solves of `system` for these masses, to what is gathered. Submits and waits.
  void gather(EvenOdd& system, const Field& d, const PerVector& mass);

 private:
  PreparedAction& action_;
  int components_;
  bool is_hermitian_;
  int most_gathered_;
  std::unique_ptr<const Deflation> deflation_{};
  std::shared_ptr<RecycledSpace> gathered_{};  ///< what deflation_ is by, once there has been a solve
  double gathered_mass_ = 0;
  std::size_t gathered_from_ = 0;  ///< right-hand sides whose solves have gathered
  bool in_use_ = false;            ///< what is gathered serves the solve that runs
};

}  // namespace quarkstar
