#pragma once
// What one site adds to the sums of a configuration, for host and GPU alike.
#include "codelets/gauge/block_links.hpp"

namespace quarkstar::gauge {

/// The links around the site at offset p of a block, as site_sums() reads them.
struct LinksOfSite {
  const StridedLinks<double>& links;
  std::ptrdiff_t p;
  QUARKSTAR_HD Link<double> operator()(int nu, int mu = -1) const { return links.load(mu < 0 ? p : p + links.stride(mu), nu); }
};

/// sum = {Re tr of a site's spatial plaquettes, of its temporal ones, of its links}. link(nu): U_nu(x); link(nu, mu): U_nu(x + mu).
template <class LinkAt>
QUARKSTAR_HD void site_sums(double (&sum)[3], LinkAt&& link) {
  double trace = 0, plane[2] = {0, 0};
  for (int nu = 0; nu < 4; ++nu) {
    const Link<double> u = link(nu);
    trace += u[0][0].re + u[1][1].re + u[2][2].re;
    for (int mu = 0; mu < nu; ++mu)
      plane[nu == 3 ? 1 : 0] += real_trace_adjoint(multiply(link(mu), link(nu, mu)), multiply(u, link(mu, nu)));
  }
  sum[0] = plane[0];
  sum[1] = plane[1];
  sum[2] = trace;
}

}  // namespace quarkstar::gauge
