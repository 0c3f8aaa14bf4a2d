#pragma once
// Even-odd (Schur) preconditioning of the Wilson operator.
#include "codelets/actions/linear_operator.hpp"
#include "codelets/actions/wilson/hopping.hpp"
#include "codelets/actions/wilson/parameters.hpp"

namespace quarkstar::wilson {

/// What even-odd systems of Wilson's hops on the odd sites share.
class OddSystem : public quarkstar::EvenOdd {
 public:
  static constexpr int solved_parity = 1;

  const runtime::PartialSums& sums() const override { return hopping_.sums(); }
  const LatticePointer& lattice() const override { return hopping_.lattice(); }
  int parity() const override { return solved_parity; }
  int components() const override { return spinor_components; }
  int vectors() const override { return hopping_.vectors(); }
  void forward_hop(const Field& out, const FullField& x, int mu) override {
    const PerVector scale = for_each_vector(most_vectors, [&](std::size_t v) { return -h_[v]; });
    hopping_.apply(out, x.of(1 - out.parity()), {.scale = scale, .forward_along = mu});
  }

 protected:
  explicit OddSystem(Hopping& hopping, const PerVector& h = {})
      : hopping_(hopping), h_(h), even_(hopping.lattice(), 1 - solved_parity, spinor_components, hopping.vectors()) {}

  Hopping& hopping_;
  PerVector h_;  ///< of each vector, M = S - h H
  Field even_;   ///< image of the first hop
};

/// The Wilson matrix M = a - h H on both parities, and its Schur complement on the odd sites,
///   asymmetric:  Mh = a - (h^2 / a) H_oe H_eo,   right-hand side  b_o + (h / a) H_oe b_e,
///   symmetric:   Mh = 1 - (h / a)^2 H_oe H_eo,   right-hand side (b_o + (h / a) H_oe b_e) / a,
/// with x_e = (b_e + h H_eo x_o) / a in both cases. kappa normalisation: a = 1 - 6 kappa (1 - nu / xi0), h = kappa; mass normalisation: a =
/// m0 + 1 + 3 nu / xi0, h = 1/2; h times WilsonParameters::largest_hop(), for links that have been divided by it. Cost of Mh: two hopping
/// terms (2640 flop and 16 links per site of one parity). Source: docs/conventions.md, sections 1 and 3.
class EvenOdd : public OddSystem {
 public:
  /// Of one kappa: M = a - h H, and Mh = diagonal + scale H_oe H_eo.
  struct Coefficients {
    double a, h, diagonal, scale;
  };
  static Coefficients coefficients(double kappa, const WilsonParameters& parameters, Schur schur);

  /// kappa: of each vector; parameters: all but that.
  EvenOdd(Hopping& hopping, const PerVector& kappa, const WilsonParameters& parameters, Schur schur);

  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override;
  void prepare(const Field& rhs, const FullField& b, bool adjoint = false) override;
  void reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint = false) override;
  void times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) override;
  double residual_factor(std::size_t v) const override { return schur_ == Schur::symmetric ? 1 / a_[v] : 1; }
  double relative_residual(std::size_t v, double norm2, double b_norm2) const override {
    return std::sqrt(norm2) * ((schur_ == Schur::symmetric ? a_[v] : 1) / std::sqrt(b_norm2));
  }

 private:
  Schur schur_;
  PerVector a_{}, diagonal_{}, scale_{};  ///< coefficients() of each vector
};

}  // namespace quarkstar::wilson
