#pragma once
// A projector's part of the solutions of M x = b.
#include "codelets/actions/prepared_action.hpp"
#include "solvers/projector.hpp"

#include <memory>
#include <span>

namespace quarkstar {

/// Corrects iterates by what a projector knows of the even-odd system. Where that is hermitian its operator is A itself, and masses shift
/// it by numbers; elsewhere A = Mh^+ Mh of one mass, and v_i, Mh v_i / s_i, s_i = sqrt(lambda_i) are singular
/// triplets of Mh: V S^-1 U^+ = V Lambda^-1 V^+ Mh^+. A correction makes the residual orthogonal to the projector's space, as far as that
/// is invariant under A: a Krylov space of A from there sees of it what the projector leaves (Projector::gain2()). One of Mh sees all
/// (NamedKrylovSolver::known_gain2).
class Deflation {
 public:
  /// mass: of the operator that the projector is of.
  Deflation(std::shared_ptr<const Projector> projector, double mass, bool is_hermitian)
      : projector_(std::move(projector)), mass_(mass), is_hermitian_(is_hermitian) {}

  /// Throws Error(input) naming `deflate` for masses that the projector cannot serve.
  void require_masses(const PreparedAction& action, std::span<const double> masses) const;

  int parity() const { return projector_->parity(); }
  /// Whether a solve on the sites of this parity is served.
  bool serves(int parity) const { return parity == projector_->parity(); }
  /// The projector's; split() is exact, correction() not.
  double gain2(bool exact) const { return projector_->gain2(exact); }
  /// Submits e = the known part of the solution of M e = r, both parities of it; of right-hand sides with such masses. Cost: the
  /// projector's, three hops of both parities, where A is Mh^+ Mh two more.
  void correction(const PreparedAction& action, EvenOdd& system, const PerVector& mass, const FullField& e, const FullField& r) const;

  /// Of hermitian even-odd systems of one rhs for several masses, which share a Krylov space: submits known_v = the known part of each
  /// solution, and takes what they leave no rest of out of rhs. On the other parity than the projector's A has the eigenvectors D v /
  /// sqrt(lambda), so that there the inverses are D (A + shift)^-1 A^-1 D^+. of_one: M of mass 0 for one vector, on the projector's parity;
  /// of_all: for as many as there are masses. Cost: the projector's, twice or three times, and two to four hops.
  void split(const PreparedAction& action, const PerVector& mass, const Field& known, const Field& rhs, EvenOdd& of_one,
             EvenOdd& of_all) const;
  /// Whether split() is possible.
  bool splits() const { return is_hermitian_; }

 private:
  PerVector shifts_of(const PreparedAction& action, const PerVector& mass, int vectors) const;

  std::shared_ptr<const Projector> projector_;
  double mass_;
  bool is_hermitian_;
};

}  // namespace quarkstar
