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

constexpr const Field* of_hops = nullptr;  ///< Slices::Term::field

}  // namespace

EvenOdd::EvenOdd(wilson::Hopping& hopping, int vectors, const PerVector& mass, const Parameters& parameters, Schur schur)
    : hopping_(hopping),
      schur_(schur),
      slices_(hopping, vectors, matrices_of(vectors, mass, parameters)),
      even_(hopping.lattice(), 1 - solved_parity, spinor_components, vectors) {
  const auto n = static_cast<std::size_t>(vectors);
  for (std::size_t v = 0; v < n; ++v) {
    const SiteMatrices m = site_matrices(parameters, mass[v]);
    norm_[v] = m.site.norm();
    for (int s = 0; s < parameters.slices(); ++s) hop_factors_[static_cast<std::size_t>(s) * n + v] = m.hops.at(0, s, s);
  }
  if (schur == Schur::symmetric || slices_.form(hops) != Form::diagonal)
    odd_ = Field(hopping.lattice(), solved_parity, spinor_components, vectors);
}

void EvenOdd::hop(const Field& out, const Field& in, const Field* x, const Slices::Term& first, const Slices::Term* second,
                  const ApplySums& sums, const runtime::Guard& guard) {
  Slices::Hops of{.from = &in, .x = x};
  if (slices_.form(hops) == Form::diagonal) {
    of.scale = hop_factors_;
  } else {
    of.from = &temporary(in.parity());
    slices_.apply(*of.from, {hops, &in}, guard);
  }
  slices_.behind_hops(out, of, first, second, sums, guard);
}

void EvenOdd::apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) {
  const bool symmetric = schur_ == Schur::symmetric;
  if (!adjoint) {
    hop(even_, in, nullptr, {hops_inverse, of_hops}, nullptr, {}, guard);
    const Slices::Term behind{symmetric ? site_inverse : one, of_hops, -1}, beside{symmetric ? one : site, &in};
    if (symmetric) slices_.behind_hops(out, {.from = &even_}, behind, &beside, sums, guard);
    else slices_.behind_hops(out, {.from = &even_}, beside, &behind, sums, guard);
    return;
  }
  if (symmetric) slices_.apply(*odd_, {site_inverse_adjoint, &in}, guard);
  slices_.behind_hops(even_, {.from = symmetric ? &*odd_ : &in, .adjoint = true}, {hops_inverse_adjoint, of_hops}, nullptr, {}, guard);
  const Slices::Term behind{hops_adjoint, of_hops, -1};
  slices_.behind_hops(out, {.from = &even_, .adjoint = true}, {symmetric ? one : site_adjoint, &in}, &behind, sums, guard);
}

void EvenOdd::add_adjoint_hop(const Field& out, const Field& in, const Field& x) {
  const Slices::Term behind{hops_adjoint, of_hops};
  slices_.behind_hops(out, {.from = &in, .adjoint = true}, {one, &x}, &behind);
}

void EvenOdd::prepare(const Field& rhs, const FullField& b, bool adjoint) {
  submit_together([&] {
    if (adjoint) {
      slices_.apply(even_, {site_inverse_adjoint, &b.even});
      add_adjoint_hop(schur_ == Schur::symmetric ? *odd_ : rhs, even_, b.odd);
      if (schur_ == Schur::symmetric) slices_.apply(rhs, {site_inverse_adjoint, &*odd_});
      return;
    }
    slices_.apply(even_, {hops_inverse, &b.even});
    if (schur_ == Schur::symmetric) slices_.behind_hops(rhs, {.from = &even_, .x = &b.odd}, {site_inverse, of_hops});
    else hopping_.apply(rhs, even_, {.x = &b.odd, .diagonal = same_for_all(1)});
  });
}

void EvenOdd::reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint) {
  submit_together([&] {
    if (!adjoint) return hop(other, x, &b.even, {site_inverse, of_hops}, nullptr, {}, {});
    add_adjoint_hop(even_, x, b.even);
    slices_.apply(other, {site_inverse_adjoint, &even_});
  });
}

void EvenOdd::times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) {
  const Field &own = x.of(out.parity()), &in = x.of(1 - out.parity());
  const Slices::Term beside{adjoint ? site_adjoint : site, &own, factor}, behind{adjoint ? hops_adjoint : one, of_hops, -factor};
  if (adjoint) slices_.behind_hops(out, {.from = &in, .adjoint = true}, beside, &behind, {}, guard);
  else hop(out, in, nullptr, beside, &behind, {}, guard);
}

}  // namespace quarkstar::domain_wall
