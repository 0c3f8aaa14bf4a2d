#pragma once
// Even-odd form of the staggered operator M = 2m + D.
#include "codelets/actions/linear_operator.hpp"
#include "codelets/actions/staggered/dslash.hpp"

namespace quarkstar::staggered {

/// The normal operator on the sites of one parity,  A_v = 4 m_v^2 - D D,  hermitian positive;
/// (4m^2 - D_eo D_oe) x_e = 2m b_e - D_eo b_o,  x_o = (b_o - D_oe x_e) / 2m, or with the parities exchanged. Cost: two Dslashes.
/// Source: docs/conventions.md, section 3.
class EvenOdd : public quarkstar::EvenOdd {
 public:
  /// The parity on which systems are solved.
  static constexpr int solved_parity = 0;

  /// mass: m_v of each vector.
  EvenOdd(Dslash& dslash, const PerVector& mass, int parity = solved_parity);

  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override;
  const runtime::PartialSums& sums() const override { return *sums_; }
  const LatticePointer& lattice() const override { return dslash_.lattice(); }
  int parity() const override { return parity_; }
  int components() const override { return colour_components; }
  int vectors() const override { return dslash_.vectors(); }

  void prepare(const Field& rhs, const FullField& b, bool adjoint = false) override;
  void reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint = false) override;
  void times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) override;
  double residual_factor(std::size_t v) const override { return two_mass_[v]; }

 private:
  Dslash& dslash_;
  int parity_;
  PerVector two_mass_, four_mass2_;
  Field image_;  ///< D in
  const runtime::PartialSums* sums_;
  runtime::PartialSums complex_;  ///< of complex dot products, which the Dslash does not take
};

}  // namespace quarkstar::staggered
