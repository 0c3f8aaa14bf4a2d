#pragma once
// Linear operators on the task graph, as the solvers see them.
#include "codelets/actions/submit_together.hpp"
#include "codelets/field/field.hpp"
#include "runtime/graph/scalar.hpp"
#include "runtime/system/error.hpp"

#include <cmath>

namespace quarkstar {

/// Sums taken over A in on its way out, for each vector: |out|^2 and/or <y, out>, of which the imaginary part only where it is wanted.
struct ApplySums {
  bool norm = false;
  const Field* y = nullptr;
  bool imaginary = true;
  int count() const { return (norm ? 1 : 0) + (y != nullptr ? imaginary ? 2 : 1 : 0); }
};

/// Everything submits tasks and returns; nothing waits. A_v may differ from vector to vector.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// out_v = A_v in_v, or A_v^+ in_v. The sums are those of the last call, in the order |out|^2, Re <y, out>, Im <y, out>, sum s of vector
  /// v at s n + v.
  virtual void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) = 0;
  virtual const runtime::PartialSums& sums() const = 0;

  virtual const LatticePointer& lattice() const = 0;
  virtual int parity() const = 0;
  virtual int components() const = 0;
  virtual int vectors() const = 0;

  /// A field that A takes and gives, or with another number of vectors.
  Field field() const { return field(vectors()); }
  Field field(int n) const { return {lattice(), parity(), components(), n}; }
};

/// M x = b for n vectors by the sites of one parity, parity(), on which apply() is the operator of the even-odd system; the other parity
/// follows from it.
class EvenOdd : public LinearOperator {
 public:
  // adjoint: of M^+ x = b in place of M x = b. Its even-odd system is that of apply() with `adjoint` where Schur complements are
  // asymmetric; of the symmetric one, M_pp^-1 S, it is M_pp^-+ S^+ x = rhs, and apply() with `adjoint` is S^+ M_pp^-+.

  /// rhs = right-hand side of the even-odd system.
  virtual void prepare(const Field& rhs, const FullField& b, bool adjoint = false) = 0;
  /// The other parity of the solution from this one's, x.
  virtual void reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint = false) = 0;
  /// out = factor M x, or factor M^+ x, on the sites of out's parity.
  virtual void times_m(const Field& out, const FullField& x, double factor, bool adjoint = false, const runtime::Guard& guard = {}) = 0;
  /// out = what M takes to the sites of out's parity from their neighbours forward along direction mu: of an M whose hops are
  /// gamma_5-hermitian, so that those backward follow. Throws ShapeError of others, which multigrid is not for.
  virtual void forward_hop(const Field& /*out*/, const FullField& /*x*/, int /*mu*/) {
    throw ShapeError("EvenOdd::forward_hop", "an operator without single hops");
  }
  /// out = M^+ x, both parities.
  void adjoint_m(const FullField& out, const FullField& x, const runtime::Guard& guard = {}) {
    submit_together([&] {
      for (const int parity : {0, 1}) times_m(out.of(parity), x, 1, true, guard);
    });
  }
  /// |residual of the even-odd system| / |residual of M x = b| for vector v, exact when the other parity has been reconstructed.
  virtual double residual_factor(std::size_t v) const = 0;
  /// |b - M x| / |b| from |residual of the even-odd system|^2.
  virtual double relative_residual(std::size_t v, double norm2, double b_norm2) const {
    const double factor = residual_factor(v);
    return std::sqrt(norm2 / (factor * factor) / b_norm2);
  }
};

}  // namespace quarkstar
