#pragma once
// Even-odd (Schur) preconditioning of Wilson's hops with a matrix per site.
#include "codelets/actions/wilson/even_odd.hpp"
#include "codelets/actions/wilson/parameters.hpp"
#include "codelets/stencil/site_term.hpp"

#include <array>
#include <optional>

namespace quarkstar::wilson {

/// A matrix per site of one parity, as the SiteTermEpilogue (stencil/site_term.hpp) of an operator applies it, times a factor.
struct SiteMatrix {
  PerVector factor = same_for_all(1);
  PerVector numbers{}, adjoint_numbers{};  ///< EpilogueOptions::numbers of the matrix, and of its adjoint
  std::array<const SiteField*, stencil::most_site_fields> fields{};
};
/// What an application of the operator stores with the matrix, or its adjoint.
stencil::EpilogueOptions epilogue_options(stencil::SiteTermForm form, const SiteMatrix& matrix, bool adjoint);

/// S, S^-1, and a number that no |S z| / |z| exceeds.
struct SiteTerm {
  std::array<SiteMatrix, 2> matrix, inverse;  ///< of even and odd sites
  PerVector norm = same_for_all(1);
};

/// The matrix M = S - h H on both parities, and its Schur complement on the odd sites,
///   asymmetric:  Mh = S_o - h^2 H_oe S_e^-1 H_eo,        right-hand side  b_o + h H_oe S_e^-1 b_e,
///   symmetric:   Mh = 1 - h^2 S_o^-1 H_oe S_e^-1 H_eo,   right-hand side  S_o^-1 (b_o + h H_oe S_e^-1 b_e),
/// with x_e = S_e^-1 (b_e + h H_eo x_o) in both cases. kappa normalisation: h = kappa; mass normalisation: h = 1/2. Cost of Mh: two hopping
/// terms, each with a product of the epilogue; its adjoint in the symmetric case reads and writes a field more. Source:
/// docs/conventions.md, section 3.
class EvenOddWithTerm : public OddSystem {
 public:
  /// hopping: with the epilogue that the term is for. The term's fields must outlive this.
  EvenOddWithTerm(Hopping& hopping, const PerVector& h, const SiteTerm& term, Schur schur);

  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override;
  void prepare(const Field& rhs, const FullField& b, bool adjoint = false) override;
  void reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint = false) override;
  void times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) override;
  /// In the symmetric case a bound: the residual of M x = b is S_o times that of the system.
  double residual_factor(std::size_t v) const override { return schur_ == Schur::symmetric ? 1 / term_.norm[v] : 1; }

 private:
  SiteTerm term_;
  Schur schur_;
  std::optional<Field> odd_{};  ///< S_o^-1 in: of the adjoint in the symmetric case
};

}  // namespace quarkstar::wilson
