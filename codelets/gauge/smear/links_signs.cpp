#include "codelets/gauge/smear/links_signs.hpp"

#include "codelets/su3/matrix.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/mpi/job.hpp"

#include <algorithm>
#include <cmath>

namespace quarkstar::smear {
namespace {

using Matrix = site::Link<double>;

constexpr std::size_t plaquettes_a_site = 6;

double cosine(const Matrix& a, const Matrix& b) {
  const double norms = real_trace_adjoint(a, a) * real_trace_adjoint(b, b);
  return norms > 0 ? real_trace_adjoint(a, b) / std::sqrt(norms) : 0;
}

Coord shifted(Coord site, int mu, int by, const Coord& lattice) {
  site[mu] = (site[mu] + by) % lattice[mu];
  return site;
}

}  // namespace

LinksSigns signs_of(const StaggeredLinks& links, const Coord& lattice, const Box& part, const runtime::Team& team) {
  const auto link = [&](const HostGauge& field, const Coord& site, int mu) {
    return site::read_link(field.link(index_in(field.box(), site, lattice), mu).data());
  };
  const auto fat = [&](const Coord& site, int mu) { return link(links.fat, site, mu); };
  const int reach = links.reach();
  constexpr int of_plaquettes = 0, of_lines = 1, of_edges = 2, count = 6;
  runtime::ThreadSums sums(team.threads(), count);
  team.for_range(volume(part.extents), [&](std::int64_t begin, std::int64_t end, int thread) {
    runtime::BinnedSum* sum = sums.of(thread);
    for (std::int64_t index = begin; index < end; ++index) {
      const Coord site = site_of(part, index);
      double plaquette = 0, line = 0;
      for (int mu = 0; mu < 4; ++mu) {
        for (int nu = mu + 1; nu < 4; ++nu)
          plaquette += cosine(multiply(fat(site, mu), fat(shifted(site, mu, 1, lattice), nu)),
                              multiply(fat(site, nu), fat(shifted(site, nu, 1, lattice), mu)));
        const Matrix two = multiply(fat(site, mu), fat(shifted(site, mu, 1, lattice), mu));
        const double along = cosine(link(links.long_links, site, mu), multiply(two, fat(shifted(site, mu, 2, lattice), mu)));
        line += along;
        if (site[mu] + reach >= lattice[mu]) runtime::add(sum[of_edges + mu], along);
      }
      runtime::add(sum[of_plaquettes], plaquette);
      runtime::add(sum[of_lines], line);
    }
  });
  std::array<runtime::BinnedSum, count> total;
  sums.merge_into(total.data(), count);
  if (part.extents != lattice) runtime::mpi::Job::current().combine(total);
  const auto sites = static_cast<double>(volume(lattice));
  LinksSigns signs;
  signs.plaquette = runtime::value_of(total[of_plaquettes]) / (plaquettes_a_site * sites);
  signs.line = runtime::value_of(total[of_lines]) / (4 * sites);
  for (std::size_t mu = 0; mu < 4; ++mu)
    signs.edge[mu] = runtime::value_of(total[of_edges + mu]) * lattice[mu] / (sites * std::min(reach, lattice[mu]));
  return signs;
}

}  // namespace quarkstar::smear
