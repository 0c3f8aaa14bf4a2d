#pragma once
// What a solver knows of an operator's inverse before it begins.
#include "codelets/field/field.hpp"
#include "codelets/field/vector_status.hpp"

namespace quarkstar {

/// The inverse of a hermitian positive operator A on a space P of which it is known, zero elsewhere; linear. Solvers ask for it and do not
/// know how it was made: from eigenvectors (solvers/eigen/eigen_projector.hpp), or by a coarse operator.
class Projector {
 public:
  virtual ~Projector() = default;
  /// Of the sites that A acts on.
  virtual int parity() const = 0;
  /// Submits out_v = P (A + shift_v)^-1 P in_v. in: as many vectors as out, or one that serves for all. Fields of the lattice in double
  /// precision for which the projector was made. May wait. exact: products with `in` to the precision of double numbers, for one that is
  /// not corrected later.
  virtual void apply(const Field& out, const Field& in, const PerVector& shifts, bool exact = false) const = 0;
  /// Where vectors are only nearly right a part of each low mode is left, which a Krylov solver would have to find: when |r|^2 has become
  /// this part of what it was, the next correction takes it out. 0: nothing is left.
  virtual double gain2([[maybe_unused]] bool exact = false) const { return 0; }
};

}  // namespace quarkstar
