#include "solvers/known_modes.hpp"

#include "codelets/field/blas.hpp"

namespace quarkstar {

void KnownModes::begin(std::span<const double> masses, int parity) {
  if (most_gathered_ == 0) return;
  const double mass = is_hermitian_ ? 0 : masses[0];  // a shift leads from there to any other
  in_use_ = !gathered_ || gathered_mass_ != mass || gathered_->parity() == parity;
  if (gathered_ && gathered_mass_ == mass) return;
  gathered_mass_ = mass;
  gathered_from_ = 0;
  gathered_ = std::make_shared<RecycledSpace>(action_.lattice(), parity, components_, most_gathered_);
  give(gathered_, mass);
}

void KnownModes::gather(EvenOdd& system, const Field& d, const PerVector& mass) {
  const Field image = system.field();
  system.apply(image, d, {}, false, {});
  if (is_hermitian_) {
    const PerVector shifts = for_each_vector(static_cast<std::size_t>(d.vectors()),
                                             [&](std::size_t v) { return action_.shift_between(mass[v], gathered_mass_).value_or(0); });
    blas::submit<blas::AddScaled>({&image, &d}, {-blas::Coefficient(shifts)});
    gathered_->add(d, image);
  } else {
    const Field squared = system.field();
    system.apply(squared, image, {}, true, {});
    gathered_->add(d, squared);
  }
}

}  // namespace quarkstar
