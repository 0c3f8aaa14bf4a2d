#pragma once
// Even-odd (Schur) preconditioning of M = A - kappa H as plain compositions of whole-lattice operators
// (docs/conventions.md, section 3). Fields have all sites; those of the other parity are zero.
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/clover.hpp"
#include "tests/reference/field.hpp"

namespace quarkstar::reference {

/// The reduced systems on the sites of parity p (q the other):
/// asymmetric  (A_pp - kappa^2 H_pq A_qq^-1 H_qp) x_p = b_p + kappa H_pq A_qq^-1 b_q,
/// symmetric   the same multiplied by A_pp^-1 from the left.
class EvenOdd {
 public:
  /// Default p = 1 (odd). Extents must be even, else the parities do not decouple: throws Error(input).
  EvenOdd(const HostGauge& gauge, SiteMatrices a, double kappa, const Boundary& boundary = {}, Basis basis = Basis::degrand_rossi,
          int solved_parity = 1);

  Field asymmetric(const Field& x) const;
  Field asymmetric_dagger(const Field& x) const;
  Field asymmetric_rhs(const Field& b) const;

  Field symmetric(const Field& x) const;
  /// 1 - kappa^2 H^+_pq A_qq^-1 H^+_qp A_pp^-1
  Field symmetric_dagger(const Field& x) const;
  Field symmetric_rhs(const Field& b) const;

  /// Both parities of the solution: x_q = A_qq^-1 (b_q + kappa H_qp x_p).
  Field reconstruct(const Field& b, const Field& x) const;

 private:
  Field hop_to(int parity, const Field& x) const;
  Field hop_dagger_to(int parity, const Field& x) const;

  const HostGauge& gauge_;
  SiteMatrices a_;
  SiteMatrices a_inverse_;
  double kappa_;
  Boundary boundary_;
  Basis basis_;
  int p_;
  int q_;
};

}  // namespace quarkstar::reference
