#include "solvers/deflation.hpp"

#include "codelets/field/blas.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar {

void Deflation::require_masses(const PreparedAction& action, std::span<const double> masses) const {
  for (const double mass : masses)
    if (mass != mass_ && !(is_hermitian_ && action.shift_between(mass, mass_)))
      throw Error(ErrorKind::input, Parameter("deflate"),
                  fmt::format("eigenvectors of the operator with mass (or kappa) {} do not serve {}", mass_, mass),
                  "give those of this operator");
}

PerVector Deflation::shifts_of(const PreparedAction& action, const PerVector& mass, int vectors) const {
  if (!is_hermitian_) return {};
  return for_each_vector(static_cast<std::size_t>(vectors),
                         [&](std::size_t v) { return action.shift_between(mass[v], mass_).value_or(0); });
}

void Deflation::correction(const PreparedAction& action, EvenOdd& system, const PerVector& mass, const FullField& e,
                           const FullField& r) const {
  const int solved = system.parity();
  const Field& known = e.of(solved);
  const Field rhs = system.field();
  system.prepare(rhs, r);
  const PerVector shifts = shifts_of(action, mass, system.vectors());
  if (is_hermitian_) {
    projector_->apply(known, rhs, shifts);
  } else {
    const Field image = system.field();
    system.apply(image, rhs, {}, true, {});
    projector_->apply(known, image, shifts);
  }
  system.reconstruct(e.of(1 - solved), r, known);
}

void Deflation::split(const PreparedAction& action, const PerVector& mass, const Field& known, const Field& rhs, EvenOdd& of_one,
                      EvenOdd& of_all) const {
  const PerVector shifts = shifts_of(action, mass, known.vectors());
  const Field base = of_one.field(), image(rhs.lattice(), rhs.parity(), rhs.components());
  if (serves(rhs.parity())) {
    projector_->apply(known, rhs, shifts, true);
    projector_->apply(base, rhs, {}, true);
    of_one.apply(image, base, {}, false, {});
  } else {
    const auto zeros_beside = [&](const FullField& whole, int parity, const Field& x) {
      blas::submit<blas::Scale>({&whole.of(parity), &x}, {1.0});
      blas::submit<blas::Fill>({&whole.of(1 - parity)}, {0.0});
    };
    const FullField one(rhs.lattice(), rhs.components()), all(rhs.lattice(), rhs.components(), known.vectors());
    const Field there = of_one.field(), many = of_one.field(known.vectors());
    zeros_beside(one, rhs.parity(), rhs);
    of_one.times_m(there, one, 1, true);
    projector_->apply(base, there, {}, true);
    projector_->apply(many, base, shifts, true);
    zeros_beside(one, base.parity(), base);
    of_one.times_m(image, one, 1);
    zeros_beside(all, many.parity(), many);
    of_all.times_m(known, all, 1);
  }
  blas::submit<blas::AddScaled>({&rhs, &image}, {-1.0});
}

}  // namespace quarkstar
