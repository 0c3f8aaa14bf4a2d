#pragma once
// A projector's part of the solutions of M x = b.
#include "codelets/actions/prepared_action.hpp"
#include "solvers/projector.hpp"

#include <memory>
#include <span>

namespace quarkstar {

/// Corrects iterates by what a projector knows of the even-odd system. Where that is hermitian its operator is A itself, and masses shift it
/// by numbers; elsewhere A = Mh^+ Mh of one mass. A correction makes the residual orthogonal to the projector's space, as far as that is
/// invariant under A: a Krylov space from there never sees it.
class Deflation {
 public:
  /// mass: of the operator that the projector is of.
  Deflation(std::shared_ptr<const Projector> projector, double mass, bool is_hermitian)
      : projector_(std::move(projector)), mass_(mass), is_hermitian_(is_hermitian) {}

  /// Throws Error(input) naming `deflate` for masses that the projector cannot serve.
  void require_masses(const PreparedAction& action, std::span<const double> masses) const;

  /// Whether a solve on the sites of this parity is served.
  bool serves(int parity) const { return parity == projector_->parity(); }
  /// Submits e = the known part of the solution of M e = r, both parities of it; of right-hand sides with such masses. Cost: the projector's,
  /// three hops of both parities, where A is Mh^+ Mh two more.
  void correction(const PreparedAction& action, EvenOdd& system, const PerVector& mass, const FullField& e, const FullField& r) const;

  /// For systems (A + shift_v) y_v = rhs with one rhs, on the sites of `parity`: submits known_v = the known parts, and takes what they leave
  /// out of rhs. shifts: over the projector's A. d: M of mass 0 for one vector and for as many as there are shifts, used where the parity is
  /// not the projector's: there A has the eigenvectors D v / sqrt(lambda).
  struct Hops {
    EvenOdd &of_one, &of_all;
  };
  void split(const Field& known, const Field& rhs, const PerVector& shifts, const Hops& d) const;

 private:
  PerVector shifts_of(const PreparedAction& action, const PerVector& mass, int vectors) const;

  std::shared_ptr<const Projector> projector_;
  double mass_;
  bool is_hermitian_;
};

}  // namespace quarkstar
