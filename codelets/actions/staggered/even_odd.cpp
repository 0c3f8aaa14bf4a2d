#include "codelets/actions/staggered/even_odd.hpp"

#include "codelets/actions/submit_together.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/lattice/placement.hpp"

namespace quarkstar::staggered {
namespace {

PerVector times(const PerVector& values, double factor) {
  PerVector products = values;
  for (double& value : products) value *= factor;
  return products;
}

}  // namespace

EvenOdd::EvenOdd(Dslash& dslash, const PerVector& mass, int parity)
    : dslash_(dslash),
      parity_(parity),
      two_mass_(times(mass, 2)),
      four_mass2_(mass),
      image_(dslash.lattice(), 1 - parity, colour_components, dslash.vectors()),
      sums_(&dslash.sums()),
      complex_(partial_sums_on(*dslash.lattice(), 3 * dslash.vectors())) {
  for (double& m : four_mass2_) m = 4 * m * m;
}

void EvenOdd::apply(const Field& out, const Field& in, const ApplySums& sums, bool, const runtime::Guard& guard) {
  dslash_.apply(image_, in, {}, false, guard);
  const bool apart = sums.y != nullptr && sums.imaginary;
  stencil::Output output{.x = &in, .diagonal = four_mass2_, .scale = same_for_all(-1)};
  if (!apart) {
    output.y = sums.y;
    output.sums = {.norm = sums.norm, .dot = sums.y != nullptr};
  }
  dslash_.apply(out, image_, output, false, guard);
  sums_ = apart ? &complex_ : &dslash_.sums();
  if (!apart) return;
  if (sums.norm) blas::submit<blas::NormDot>({&out, sums.y}, {}, guard, &complex_);
  else blas::submit<blas::Dot>({&out, sums.y}, {}, guard, &complex_);
}

void EvenOdd::prepare(const Field& rhs, const FullField& b, bool adjoint) {
  submit_together([&] {
    dslash_.apply(rhs, b.of(1 - parity_), {.x = &b.of(parity_), .diagonal = two_mass_, .scale = same_for_all(adjoint ? 1 : -1)});
  });
}

void EvenOdd::reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint) {
  PerVector inverse{}, of_hops{};  // D^+ = -D
  for (std::size_t v = 0; v < inverse.size(); ++v) {
    inverse[v] = 1 / two_mass_[v];
    of_hops[v] = (adjoint ? 1 : -1) / two_mass_[v];
  }
  submit_together([&] { dslash_.apply(other, x, {.x = &b.of(1 - parity_), .diagonal = inverse, .scale = of_hops}); });
}

void EvenOdd::times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) {
  const double of_hops = adjoint ? -factor : factor;  // D^+ = -D
  dslash_.apply(out, x.of(1 - out.parity()),
                {.x = &x.of(out.parity()), .diagonal = times(two_mass_, factor), .scale = same_for_all(of_hops)}, false, guard);
}

}  // namespace quarkstar::staggered
