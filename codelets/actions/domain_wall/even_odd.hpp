#pragma once
// Even-odd (Schur) preconditioning of domain-wall operators by the parity of the four-dimensional site.
#include "codelets/actions/domain_wall/slices.hpp"
#include "codelets/actions/linear_operator.hpp"
#include "codelets/actions/wilson/hopping.hpp"

#include <optional>

namespace quarkstar::domain_wall {

/// D5 = A - H B on both parities, A and B matrices on the slices of a site (SiteMatrices), and its Schur complement on the odd sites,
///   asymmetric:  Mh = A - H_oe B A^-1 H_eo B,         right-hand side  b_o + H_oe B A^-1 b_e,
///   symmetric:   Mh = 1 - A^-1 H_oe B A^-1 H_eo B,    right-hand side  A^-1 (b_o + H_oe B A^-1 b_e),
/// with x_e = A^-1 (b_e + H_eo B x_o) in both cases. The adjoint is exact: H^+ = gamma_5 H gamma_5, A and B transposed. Cost per site of
/// the fifth dimension: two hopping terms (2640 flop) and two or three products with matrices on the slices, of which B A^-1 is dense (48
/// L_s flop). What stands behind a hopping term is done in its pass over memory, so that there are two, and one more for B, or in the
/// symmetric adjoint for A^-1, before the hops. Source: docs/conventions.md, section 13.
class EvenOdd final : public quarkstar::EvenOdd {
 public:
  static constexpr int solved_parity = 1;

  /// hopping: domain_wall::hopping() for all slices of so many right-hand sides.
  EvenOdd(wilson::Hopping& hopping, int vectors, const PerVector& mass, const Parameters& parameters, Schur schur);

  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override;
  const runtime::PartialSums& sums() const override { return hopping_.sums(); }
  const LatticePointer& lattice() const override { return hopping_.lattice(); }
  int parity() const override { return solved_parity; }
  int components() const override { return spinor_components; }
  int vectors() const override { return even_.vectors(); }
  void prepare(const Field& rhs, const FullField& b, bool adjoint = false) override;
  void reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint = false) override;
  void times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) override;
  /// In the symmetric case a bound: the residual of M x = b is A times that of the system.
  double residual_factor(std::size_t v) const override { return schur_ == Schur::symmetric ? 1 / norm_[v] : 1; }

 private:
  const Field& temporary(int parity) const { return parity == solved_parity ? *odd_ : even_; }
  /// Slices::behind_hops() of h = [x +] H B in, with what is before the hops, unless B is diagonal, in the temporary field of in's parity.
  void hop(const Field& out, const Field& in, const Field* x, const Slices::Term& first, const Slices::Term* second, const ApplySums& sums,
           const runtime::Guard& guard);
  /// out = x + B^+ H^+ in.
  void add_adjoint_hop(const Field& out, const Field& in, const Field& x);

  wilson::Hopping& hopping_;
  Schur schur_;
  Slices slices_;
  PerVector norm_{};          ///< of A, of each right-hand side
  PerVector hop_factors_{};   ///< B where it is diagonal, of each slice and right-hand side
  std::optional<Field> odd_;  ///< for what is before the hops: where B is not diagonal, and in the symmetric adjoint
  Field even_;
};

}  // namespace quarkstar::domain_wall
