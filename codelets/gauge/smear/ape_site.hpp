#pragma once
// APE-smeared links in space, of one site: one body for CPUs and GPUs.
#include "codelets/gauge/staple.hpp"
#include "codelets/su3/maximal_trace.hpp"

namespace quarkstar::smear {

/// out = APE-smeared links of in, on the sites inside the border.
struct ApeArguments {
  double* out;
  const double* in;
  gauge::LinkShape out_shape, in_shape;  ///< equal extents
  double alpha;
};

/// ape_links() for U_mu(x).
QUARKSTAR_HD void write_ape_link(const ApeArguments& a, const Coord& x, int mu) {
  const gauge::LinkStrides from = a.in_shape.strides(), to = a.out_shape.strides();
  const gauge::StridedLinks<double> links(a.in, from);
  const std::ptrdiff_t p = a.in_shape.offset(x);
  site::Link<double> u = links.load(p, mu);
  if (mu < 3) {
    const site::Link<double> staples = gauge::staple_sum<3>(links, p, mu);  // from x + mu to x
    const double old = 1 - a.alpha, each = a.alpha / 4;
    const site::Link<double> sum =
        site::link_of<double>([&](auto i, auto j) { return site::scaled(old, u[i][j]) + site::scaled(each, site::conj(staples[j][i])); });
    site::maximise_trace(u, sum);
  }
  site::write_link(a.out + a.out_shape.offset(x) + mu * to.link, u, to.real);
}

}  // namespace quarkstar::smear
