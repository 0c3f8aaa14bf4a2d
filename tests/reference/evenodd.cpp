#include "tests/reference/evenodd.hpp"

#include "runtime/system/error.hpp"
#include "tests/reference/wilson.hpp"

namespace quarkstar::reference {

EvenOdd::EvenOdd(const HostGauge& gauge, SiteMatrices a, double kappa, const Boundary& boundary, Basis basis, int solved_parity)
    : gauge_(gauge),
      a_(std::move(a)),
      a_inverse_(inverse(a_)),
      kappa_(kappa),
      boundary_(boundary),
      basis_(basis),
      p_(solved_parity),
      q_(1 - solved_parity) {
  for (const int extent : gauge.extents)
    if (extent % 2 != 0)
      throw Error(ErrorKind::input, "reference::EvenOdd", "extent = " + std::to_string(extent) + " is odd", "use even extents");
}

Field EvenOdd::hop_to(int parity, const Field& x) const { return hop_parity(gauge_, x, parity, boundary_, basis_); }

Field EvenOdd::hop_dagger_to(int parity, const Field& x) const { return hop_dagger_parity(gauge_, x, parity, boundary_, basis_); }

Field EvenOdd::asymmetric(const Field& x) const {
  return apply_sites(a_, x) - kappa_ * kappa_ * hop_to(p_, apply_sites(a_inverse_, hop_to(q_, x)));
}

Field EvenOdd::asymmetric_dagger(const Field& x) const {
  return apply_sites(a_, x) - kappa_ * kappa_ * hop_dagger_to(p_, apply_sites(a_inverse_, hop_dagger_to(q_, x)));
}

Field EvenOdd::asymmetric_rhs(const Field& b) const {
  return restrict_to_parity(b, p_) + kappa_ * hop_to(p_, apply_sites(a_inverse_, restrict_to_parity(b, q_)));
}

Field EvenOdd::symmetric(const Field& x) const {
  return x - kappa_ * kappa_ * apply_sites(a_inverse_, hop_to(p_, apply_sites(a_inverse_, hop_to(q_, x))));
}

Field EvenOdd::symmetric_dagger(const Field& x) const {
  return x - kappa_ * kappa_ * hop_dagger_to(p_, apply_sites(a_inverse_, hop_dagger_to(q_, apply_sites(a_inverse_, x))));
}

Field EvenOdd::symmetric_rhs(const Field& b) const { return apply_sites(a_inverse_, asymmetric_rhs(b)); }

Field EvenOdd::reconstruct(const Field& b, const Field& x) const {
  return restrict_to_parity(x, p_) + apply_sites(a_inverse_, restrict_to_parity(b, q_) + kappa_ * hop_to(q_, x));
}

}  // namespace quarkstar::reference
