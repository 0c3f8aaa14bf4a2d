#include "codelets/actions/domain_wall/even_odd.hpp"

#include "codelets/actions/submit_together.hpp"

namespace quarkstar::domain_wall {
namespace {

/// The numbers of the matrices in Slices.
enum Matrix : int { one, site, site_adjoint, site_inverse, site_inverse_adjoint, hops, hops_adjoint, hops_inverse, hops_inverse_adjoint };

std::vector<std::vector<SliceMatrix>> matrices_of(int vectors, const PerVector& mass, const Parameters& parameters) {
  std::vector<std::vector<SliceMatrix>> all(hops_inverse_adjoint + 1);
  all[one].push_back(SliceMatrix::identity(parameters.slices()));
  for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); ++v) {
    const SiteMatrices m = site_matrices(parameters, mass[v]);
    const SliceMatrix inverse = m.site.inverse(), both = m.hops * inverse;
    all[site].push_back(m.site);
    all[site_adjoint].push_back(m.site.transposed());
    all[site_inverse].push_back(inverse);
    all[site_inverse_adjoint].push_back(inverse.transposed());
    all[hops].push_back(m.hops);
    all[hops_adjoint].push_back(m.hops.transposed());
    all[hops_inverse].push_back(both);
    all[hops_inverse_adjoint].push_back(both.transposed());
  }
  return all;
}

}  // namespace

EvenOdd::EvenOdd(wilson::Hopping& hopping, int vectors, const PerVector& mass, const Parameters& parameters, Schur schur)
    : hopping_(hopping),
      schur_(schur),
      slices_(hopping.lattice(), vectors, matrices_of(vectors, mass, parameters), {hops_inverse, hops_inverse_adjoint}),
      odd_(hopping.lattice(), solved_parity, spinor_components, vectors),
      even_(hopping.lattice(), 1 - solved_parity, spinor_components, vectors) {
  const auto n = static_cast<std::size_t>(vectors);
  for (std::size_t v = 0; v < n; ++v) {
    const SiteMatrices m = site_matrices(parameters, mass[v]);
    norm_[v] = m.site.norm();
    for (int s = 0; s < parameters.slices(); ++s) hop_factors_[static_cast<std::size_t>(s) * n + v] = m.hops.at(0, s, s);
  }
}

// The hops work on right-hand sides that have stopped too: their masks count slices as vectors of their own.

void EvenOdd::hop(const Field& out, const Field& in, const Field* x, const runtime::Guard& guard) {
  stencil::Output output{.x = x, .diagonal = same_for_all(1)};
  if (slices_.form(hops) == Form::diagonal) {
    output.scale = hop_factors_;
    hopping_.apply(out, in, output, false, guard.of_all_vectors());
    return;
  }
  const Field& combined = temporary(in.parity());
  slices_.apply(combined, {hops, &in}, nullptr, {}, guard);
  hopping_.apply(out, combined, output, false, guard.of_all_vectors());
}

void EvenOdd::apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) {
  const bool symmetric = schur_ == Schur::symmetric;
  if (!adjoint) {
    hop(even_, in, nullptr, guard);
    slices_.apply(even_, {hops_inverse, &even_}, nullptr, {}, guard);
    hopping_.apply(odd_, even_, {}, false, guard.of_all_vectors());
    const Slices::Term of_hops{symmetric ? site_inverse : one, &odd_, -1}, of_site{symmetric ? one : site, &in};
    if (symmetric) slices_.apply(out, of_hops, &of_site, sums, guard);
    else slices_.apply(out, of_site, &of_hops, sums, guard);
    return;
  }
  if (symmetric) slices_.apply(odd_, {site_inverse_adjoint, &in}, nullptr, {}, guard);
  hopping_.apply(even_, symmetric ? odd_ : in, {}, true, guard.of_all_vectors());
  slices_.apply(even_, {hops_inverse_adjoint, &even_}, nullptr, {}, guard);
  hopping_.apply(odd_, even_, {}, true, guard.of_all_vectors());
  const Slices::Term of_hops{hops_adjoint, &odd_, -1};
  slices_.apply(out, {symmetric ? one : site_adjoint, &in}, &of_hops, sums, guard);
}

void EvenOdd::prepare(const Field& rhs, const FullField& b) {
  submit_together([&] {
    const bool symmetric = schur_ == Schur::symmetric;
    slices_.apply(even_, {hops_inverse, &b.even});
    hopping_.apply(symmetric ? odd_ : rhs, even_, {.x = &b.odd, .diagonal = same_for_all(1)});
    if (symmetric) slices_.apply(rhs, {site_inverse, &odd_});
  });
}

void EvenOdd::reconstruct(const Field& other, const FullField& b, const Field& x) {
  submit_together([&] {
    hop(even_, x, &b.even, {});
    slices_.apply(other, {site_inverse, &even_});
  });
}

void EvenOdd::times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) {
  const int parity = out.parity();
  const Field &hopped = temporary(parity), &in = x.of(1 - parity);
  if (adjoint) hopping_.apply(hopped, in, {}, true, guard.of_all_vectors());
  else hop(hopped, in, nullptr, guard);
  const Slices::Term of_hops{adjoint ? hops_adjoint : one, &hopped, -factor};
  slices_.apply(out, {adjoint ? site_adjoint : site, &x.of(parity), factor}, &of_hops, {}, guard);
}

}  // namespace quarkstar::domain_wall
