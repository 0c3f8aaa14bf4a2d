#include "codelets/actions/wilson/even_odd.hpp"

#include "codelets/actions/submit_together.hpp"

namespace quarkstar::wilson {

EvenOdd::Coefficients EvenOdd::coefficients(double kappa, const WilsonParameters& parameters, Schur schur) {
  const bool by_kappa = parameters.normalisation == WilsonParameters::Normalisation::kappa, symmetric = schur == Schur::symmetric;
  const double a = (by_kappa ? 1.0 : 1.0 / (2 * kappa)) * (1 - 6 * kappa * (1 - parameters.spatial_hops()));
  const double h = (by_kappa ? kappa : 0.5) * parameters.largest_hop();
  return {a, h, symmetric ? 1 : a, -h * h / (symmetric ? a * a : a)};
}

EvenOdd::EvenOdd(Hopping& hopping, const PerVector& kappa, const WilsonParameters& parameters, Schur schur)
    : OddSystem(hopping), schur_(schur) {
  for (std::size_t v = 0; v < kappa.size(); ++v) {
    const Coefficients of_vector = coefficients(kappa[v], parameters, schur);
    a_[v] = of_vector.a;
    h_[v] = of_vector.h;
    diagonal_[v] = of_vector.diagonal;
    scale_[v] = of_vector.scale;
  }
}

void EvenOdd::apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) {
  hopping_.apply(even_, in, {}, adjoint, guard);
  const bool dot = sums.y != nullptr;
  hopping_.apply(out, even_,
                 {.x = &in,
                  .diagonal = diagonal_,
                  .scale = scale_,
                  .y = sums.y,
                  .sums = {.norm = sums.norm, .dot = dot, .imaginary = dot && sums.imaginary}},
                 adjoint, guard);
}

void EvenOdd::prepare(const Field& rhs, const FullField& b, bool adjoint) {
  const PerVector diagonal = for_each_vector(most_vectors, [&](std::size_t v) { return schur_ == Schur::symmetric ? 1 / a_[v] : 1; });
  const PerVector scale = for_each_vector(most_vectors, [&](std::size_t v) { return diagonal[v] * h_[v] / a_[v]; });
  submit_together([&] { hopping_.apply(rhs, b.even, {.x = &b.odd, .diagonal = diagonal, .scale = scale}, adjoint); });
}

void EvenOdd::reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint) {
  const PerVector diagonal = for_each_vector(most_vectors, [&](std::size_t v) { return 1 / a_[v]; });
  const PerVector scale = for_each_vector(most_vectors, [&](std::size_t v) { return h_[v] / a_[v]; });
  submit_together([&] { hopping_.apply(other, x, {.x = &b.even, .diagonal = diagonal, .scale = scale}, adjoint); });
}

void EvenOdd::times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) {
  const PerVector diagonal = for_each_vector(most_vectors, [&](std::size_t v) { return factor * a_[v]; });
  const PerVector scale = for_each_vector(most_vectors, [&](std::size_t v) { return -factor * h_[v]; });
  hopping_.apply(out, x.of(1 - out.parity()), {.x = &x.of(out.parity()), .diagonal = diagonal, .scale = scale}, adjoint, guard);
}

}  // namespace quarkstar::wilson
