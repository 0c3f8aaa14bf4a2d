#pragma once
// The Wilson hopping term on the task graph.
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "codelets/stencil/stencil.hpp"

namespace quarkstar::wilson {

/// H psi(x) = sum_mu [(1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu) U_mu^+(x - mu) psi(x - mu)] for n spinors at once, r = 1, lattice
/// units, with the lattice's boundary phases; psi of one parity in, the other parity out; its adjoint is gamma5 H gamma5. Faces are half
/// spinors. Cost: 1320 flop per site and vector; bytes 8 links + n (in + out [+ x] [+ y]), each once.
/// Source: Gattringer and Lang, ch. 5; signs and basis in docs/conventions.md, section 1.
class Hopping : public stencil::Stencil {
 public:
  /// The links that touch even and odd sites (frozen); vectors: of every field. epilogue_flops: of a class with another epilogue, as
  /// stencil::Kind's. Throws ShapeError when the two do not belong together.
  Hopping(const LinkField& even, const LinkField& odd, int vectors = 1, double epilogue_flops = 0);

  int link_reals() const { return links_[0]->reals(); }

 protected:
  const runtime::Codelet& sites_codelet(bool boundary) const override;

 private:
  std::array<const LinkField*, 2> links(int parity) const override { return {links_[static_cast<std::size_t>(parity)], nullptr}; }
  void complete(stencil::SitesTask& task, int parity) const override;
  const runtime::Codelet& pack_codelet() const override;

  std::array<const LinkField*, 2> links_;
};

}  // namespace quarkstar::wilson
