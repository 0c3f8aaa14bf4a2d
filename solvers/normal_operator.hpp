#pragma once
// M M^+ on all sites, for actions whose masses shift that and no even-odd system.
#include "codelets/actions/linear_operator.hpp"

namespace quarkstar {

/// A = M M^+, hermitian and positive, of one mass of an even-odd system `m`, which must outlive it, on fields of both parities. Cost: four
/// times the hops of one parity to the other, and three passes over the vectors from and to those of single parities and for the sums.
class NormalOperator : public LinearOperator {
 public:
  explicit NormalOperator(EvenOdd& m);

  /// guard: not of single vectors, which would have to stay as they are.
  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override;
  const runtime::PartialSums& sums() const override { return sums_; }
  const LatticePointer& lattice() const override { return m_.lattice(); }
  int parity() const override { return both_parities; }
  int components() const override { return m_.components(); }
  int vectors() const override { return m_.vectors(); }

 private:
  EvenOdd& m_;
  FullField parts_, image_;  ///< in, then A in; M^+ in
  runtime::PartialSums sums_;
};

}  // namespace quarkstar
