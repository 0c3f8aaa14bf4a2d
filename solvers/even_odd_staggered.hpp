#pragma once
// Even-odd form of the staggered operator M = 2m + D.
#include "codelets/actions/staggered/dslash.hpp"
#include "solvers/krylov/vector_operator.hpp"

namespace quarkstar {

/// The normal operator on the sites of one parity,  A_v = 4 m_v^2 - D D,  hermitian positive; the other parity is a
/// station on the way. Cost: two Dslashes. Source: docs/conventions.md, section 3.
class StaggeredNormal : public VectorOperator {
 public:
  /// mass: m_v of each vector.
  StaggeredNormal(staggered::Dslash& dslash, int parity, const staggered::PerVector& mass);

  void apply(const staggered::ColourField& out, const staggered::ColourField& in, bool dot, const staggered::Control& control) override;
  const runtime::PartialSums& sums() const override { return dslash_.sums(); }
  const LatticePointer& lattice() const override { return dslash_.lattice(); }
  int parity() const override { return parity_; }
  int vectors() const override { return dslash_.vectors(); }

 private:
  staggered::Dslash& dslash_;
  int parity_;
  staggered::PerVector four_mass2_;
  staggered::ColourField image_;  ///< D in
};

}  // namespace quarkstar
