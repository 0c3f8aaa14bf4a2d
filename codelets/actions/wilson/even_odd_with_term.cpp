#include "codelets/actions/wilson/even_odd_with_term.hpp"

#include "codelets/actions/submit_together.hpp"
#include "codelets/stencil/site_term.hpp"

namespace quarkstar::wilson {
namespace {

using stencil::EpilogueOptions, stencil::SiteTermForm;

PerVector times(const PerVector& a, const PerVector& b) {
  return for_each_vector(most_vectors, [&](std::size_t v) { return a[v] * b[v]; });
}
PerVector negative(const PerVector& a) { return times(a, same_for_all(-1)); }

}  // namespace

EpilogueOptions epilogue_options(SiteTermForm form, const SiteMatrix& matrix, bool adjoint) {
  return {.form = form, .numbers = adjoint ? matrix.adjoint_numbers : matrix.numbers, .fields = matrix.fields};
}

EvenOddWithTerm::EvenOddWithTerm(Hopping& hopping, const PerVector& h, const SiteTerm& term, Schur schur)
    : OddSystem(hopping, h), term_(term), schur_(schur) {}

void EvenOddWithTerm::apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) {
  const SiteMatrix &inverse_even = term_.inverse[1 - solved_parity], &inverse_odd = term_.inverse[solved_parity];
  const PerVector minus_h2 = negative(times(h_, h_));
  const bool symmetric = schur_ == Schur::symmetric, dot = sums.y != nullptr;
  const Field* from = &in;
  if (symmetric && adjoint) {
    if (!odd_) odd_.emplace(field());
    hopping_.apply_epilogue(
        *odd_, {.x = &in, .diagonal = inverse_odd.factor, .epilogue = epilogue_options(stencil::on_x, inverse_odd, true)}, guard);
    from = &*odd_;
  }
  hopping_.apply(even_, *from, {.scale = inverse_even.factor, .epilogue = epilogue_options(stencil::on_hops, inverse_even, adjoint)},
                 adjoint, guard);
  stencil::Output output{.x = &in,
                         .diagonal = same_for_all(1),
                         .scale = minus_h2,
                         .y = sums.y,
                         .sums = {.norm = sums.norm, .dot = dot, .imaginary = dot && sums.imaginary}};
  if (!symmetric) {
    const SiteMatrix& matrix = term_.matrix[solved_parity];
    output.diagonal = matrix.factor;
    output.epilogue = epilogue_options(stencil::on_x, matrix, adjoint);
  } else if (!adjoint) {
    output.scale = times(minus_h2, inverse_odd.factor);
    output.epilogue = epilogue_options(stencil::on_hops, inverse_odd, false);
  }
  hopping_.apply(out, even_, output, adjoint, guard);
}

void EvenOddWithTerm::prepare(const Field& rhs, const FullField& b, bool adjoint) {
  const SiteMatrix &inverse_even = term_.inverse[1 - solved_parity], &inverse_odd = term_.inverse[solved_parity];
  hopping_.apply_epilogue(
      even_, {.x = &b.even, .diagonal = inverse_even.factor, .epilogue = epilogue_options(stencil::on_x, inverse_even, adjoint)});
  stencil::Output output{.x = &b.odd, .diagonal = same_for_all(1), .scale = h_};
  if (schur_ == Schur::symmetric) {
    output.diagonal = inverse_odd.factor;
    output.scale = times(h_, inverse_odd.factor);
    output.epilogue = epilogue_options(stencil::on_both, inverse_odd, adjoint);
  }
  submit_together([&] { hopping_.apply(rhs, even_, output, adjoint); });
}

void EvenOddWithTerm::reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint) {
  const SiteMatrix& inverse = term_.inverse[1 - solved_parity];
  const stencil::Output output{.x = &b.even,
                               .diagonal = inverse.factor,
                               .scale = times(h_, inverse.factor),
                               .epilogue = epilogue_options(stencil::on_both, inverse, adjoint)};
  submit_together([&] { hopping_.apply(other, x, output, adjoint); });
}

void EvenOddWithTerm::times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) {
  const SiteMatrix& matrix = term_.matrix[static_cast<std::size_t>(out.parity())];
  hopping_.apply(out, x.of(1 - out.parity()),
                 {.x = &x.of(out.parity()),
                  .diagonal = times(matrix.factor, same_for_all(factor)),
                  .scale = times(h_, same_for_all(-factor)),
                  .epilogue = epilogue_options(stencil::on_x, matrix, adjoint)},
                 adjoint, guard);
}

}  // namespace quarkstar::wilson
