#include "solvers/even_odd_wilson.hpp"

#include "solvers/krylov/submit_together.hpp"

namespace quarkstar {

EvenOddWilson::EvenOddWilson(wilson::Hopping& hopping, const WilsonParameters& parameters, Schur schur)
    : hopping_(hopping),
      a_(parameters.normalisation == WilsonParameters::Normalisation::kappa ? 1.0 : 1.0 / (2 * parameters.kappa)),
      h_(parameters.normalisation == WilsonParameters::Normalisation::kappa ? parameters.kappa : 0.5),
      schur_(schur),
      even_(hopping.lattice(), 1 - solved_parity) {}

void EvenOddWilson::apply(const SpinorField& out, const SpinorField& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) {
  hopping_.apply(even_, in, {}, adjoint, guard);
  hopping_.apply(out, even_,
                 {.x = &in, .diagonal = diagonal(), .scale = hops(), .y = sums.y, .sums = {.norm = sums.norm, .dot = sums.y != nullptr}},
                 adjoint, guard);
}

void EvenOddWilson::prepare(const SpinorField& rhs, const SpinorField& even, const SpinorField& odd) {
  const double scale = schur_ == Schur::symmetric ? 1 / a_ : 1;
  submit_together([&] { hopping_.apply(rhs, even, {.x = &odd, .diagonal = scale, .scale = scale * h_ / a_}); });
}

void EvenOddWilson::reconstruct(const SpinorField& x_even, const SpinorField& b_even, const SpinorField& x_odd) {
  submit_together([&] { hopping_.apply(x_even, x_odd, {.x = &b_even, .diagonal = 1 / a_, .scale = h_ / a_}); });
}

void EvenOddWilson::minus_m(const SpinorField& out, const SpinorField& same, const SpinorField& other) {
  hopping_.apply(out, other, {.x = &same, .diagonal = -a_, .scale = h_});
}

}  // namespace quarkstar
