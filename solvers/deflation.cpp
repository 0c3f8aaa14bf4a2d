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

}  // namespace quarkstar
