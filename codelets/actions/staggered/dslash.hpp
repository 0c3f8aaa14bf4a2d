#pragma once
// The staggered Dslash on the task graph.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/actions/staggered/links.hpp"
#include "codelets/stencil/stencil.hpp"

namespace quarkstar::staggered {

/// Per site and right-hand side: 16 products of a matrix and a vector and 15 sums, half of that without long links.
constexpr double dslash_flops(bool has_long) { return has_long ? 1146 : 570; }
/// Bytes of links per site: eight fat ones, and eight long ones of `long_reals` reals (0: none).
constexpr double dslash_link_bytes(Precision precision, int long_reals) {
  return links_bytes(precision, 18) + links_bytes(precision, long_reals);
}

/// D chi(x) = sum_mu [X_mu(x) chi(x + mu) - X_mu^+(x - mu) chi(x - mu) + N_mu(x) chi(x + 3 mu) - N_mu^+(x - 3 mu) chi(x
/// - 3 mu)] for n vectors at once; chi of one parity in, the other parity out; lattice units, phases within the links.
/// D^+ = -D. Faces are three layers of colour vectors, one where there are no long links. Cost: 1146 flop
/// per site and vector (570 without long links); bytes 16 links + n (in + out [+ x] [+ y]), each once. In half precision
/// in, out, x and y have a unit per site, links one for the lattice; arithmetic is in single precision. Source: Follana et al.,
/// hep-lat/0610092; phases and normalisation in docs/conventions.md, sections 4 and 5.
class Dslash : public stencil::Stencil {
 public:
  /// The links of even and odd sites; vectors: of every field. Throws ShapeError when the two do not belong together, and for compressed
  /// long links on a lattice with vectors in lanes, which have no kernels.
  Dslash(const Links& even, const Links& odd, int vectors);

  int long_reals() const { return links_[0]->long_reals(); }

 private:
  std::array<const LinkField*, 2> links(int parity) const override;
  void complete(stencil::SitesTask& task, int parity) const override;
  const runtime::Codelet& sites_codelet(bool boundary) const override;
  const runtime::Codelet& pack_codelet() const override;

  std::array<const Links*, 2> links_;
};

}  // namespace quarkstar::staggered
