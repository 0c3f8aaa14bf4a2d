// Links and what is measured on them.
#include "apps/c/fields.hpp"
#include "apps/c/milc/milc.hpp"
#include "apps/run/rank_plan.hpp"
#include "codelets/gauge/smear/smear.hpp"
#include "codelets/lattice/boxes.hpp"
#include "codelets/su3/matrix.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>

using namespace quarkstar;
using namespace quarkstar::c;
using namespace quarkstar::c::milc;

namespace {

/// The sum of weighted paths around each link, and the product of three along a line; `unitarize`: of the first the unitary part too.
/// coefficients: see qudaLoadKSLink. Phases in the links are theirs: paths of links with phases have the phase of a link times the sign
/// that MILC's coefficients undo. Results of nullptr are not wanted.
void smear_as_given(const char* function, int precision, const double coefficients[6], const void* links, void* fat, void* long_links,
                    void* unitarized) {
  const auto [one, naik, three, five, seven, lepage] =
      std::array{coefficients[0], coefficients[1], coefficients[2], coefficients[3], coefficients[4], coefficients[5]};
  const smear::PathWeights weights{one, three, five, seven, lepage};
  const bool has_detours = three != 0 || five != 0 || seven != 0 || lepage != 0;
  const int border = lepage != 0 || long_links != nullptr ? 2 : has_detours ? 1 : 0;
  work(function, [&](Context& context) {
    const runtime::Team& team = context.session->cpu_team();
    const runtime::Decomposition ranks = cut(context);
    const runtime::Decomposition blocks = app::blocks_of_links(lattice(), context.config.ranks, {}, context.session->block_owners(), 2);
    HostGauge part;
    context.job->together([&] { part = links_from(links_at(function, precision, links), ranks.part(), team); });
    const gauge::GaugeField in(blocks, border);
    gauge::load(in, part);
    if (border > 0) gauge::exchange_border(in);
    const auto give = [&](void* to, const gauge::GaugeField& field, const gauge::StoreOptions& options = {}) {
      if (to == nullptr) return;
      gauge::store(part, field, options);
      context.session->wait_all();
      links_to(links_at(function, precision, to), part, team);
    };
    context.session->wait_all();  // `part` has been read
    if (fat != nullptr || unitarized != nullptr) {
      const gauge::GaugeField smeared(blocks, 0);
      if (has_detours) smear::smear_links(smeared, in, weights);
      const gauge::GaugeField& sum = has_detours ? smeared : in;
      give(fat, sum, {.scale = has_detours ? 1 : one});
      if (unitarized != nullptr) {
        smear::unitarize_links(sum);  // a common factor makes no difference
        give(unitarized, sum);
      }
    }
    if (long_links != nullptr) {
      const gauge::GaugeField products(blocks, 0);
      smear::naik_links(products, in, naik);
      give(long_links, products);
    }
  });
}

}  // namespace

void qudaLoadKSLink(int precision, QudaFatLinkArgs_t, const double coefficients[6], void* links, void* fat, void* long_links) {
  smear_as_given(__func__, precision, coefficients, links, fat, long_links, nullptr);
}

void qudaLoadUnitarizedLink(int precision, QudaFatLinkArgs_t, const double coefficients[6], void* links, void* fat, void* unitarized) {
  smear_as_given(__func__, precision, coefficients, links, fat, nullptr, unitarized);
}

void qudaPlaquettePhased(int precision, double plaquette[3], QudaMILCSiteArg_t* site, int phases_in) {
  const GaugePointer gauge = gauge_of(__func__, links_at(__func__, precision, site));
  qs_plaquettes means{};
  means.struct_size = sizeof means;
  require_ok(__func__, qs_gauge_plaquette(gauge.get(), &means));
  const double sign = phases_in != 0 ? -1 : 1;  // of four staggered phases around any plaquette; the boundary's sign comes twice or not
  plaquette[0] = sign * means.mean;
  plaquette[1] = sign * means.spatial;
  plaquette[2] = sign * means.temporal;
}

void qudaPolyakovLoopPhased(int precision, double loop[2], int direction, QudaMILCSiteArg_t* site, int phases_in) {
  if (direction != 3) end(__func__, fmt::format("direction {}: only loops in time, 3, are computed", direction));
  work(__func__, [&](Context& context) {
    const runtime::Decomposition ranks = cut(context);
    HostGauge part;
    context.job->together(
        [&] { part = links_from(links_at("qudaPolyakovLoopPhased", precision, site), ranks.part(), context.session->cpu_team()); });
    Box lines = ranks.part();
    const bool is_first = lines.origin[3] == 0;
    lines.origin[3] = 0;
    lines.extents[3] = lattice()[3];
    const HostGauge links = collected(part, ranks, lines);
    std::array<runtime::BinnedSum, 2> sums{runtime::BinnedSum::zero(), runtime::BinnedSum::zero()};
    const std::int64_t sites = volume(lines.extents) / lattice()[3];
    for (std::int64_t i = 0; i < sites && is_first; ++i) {  // the other ranks of a line have the same loops
      site::Link<double> product = site::read_link(links.link(i, 3).data());
      for (int t = 1; t < lattice()[3]; ++t) product = multiply(product, site::read_link(links.link(i + t * sites, 3).data()));
      runtime::add(sums[0], product[0][0].re + product[1][1].re + product[2][2].re);
      runtime::add(sums[1], product[0][0].im + product[1][1].im + product[2][2].im);
    }
    context.job->combine(sums);
    const double lines_in_all = static_cast<double>(volume(lattice()) / lattice()[3]);
    const double sign = phases_in != 0 ? -1 : 1;  // antiperiodic in time; phases of hops in time are 1
    for (std::size_t i = 0; i < 2; ++i) loop[i] = sign * runtime::value_of(sums[i]) / lines_in_all;
  });
}

namespace {

/// Momenta are antihermitian matrices, four links a site: 01, 02 and 12 re and im, three diagonal numbers im, one unused.
constexpr std::size_t off_diagonal = 6, reals = 10;

/// Where momenta are, and bytes from site to site.
struct Momenta {
  const std::byte* first;
  std::size_t stride;
};
Momenta momenta_at(const char* function, qs_precision precision, const QudaMILCSiteArg_t* site) {
  if (site == nullptr || (site->site == nullptr && site->mom == nullptr)) end(function, "no momenta: give where they are");
  if (site->site != nullptr) return {static_cast<const std::byte*>(site->site) + site->mom_offset, site->size};
  return {static_cast<const std::byte*>(site->mom), 4 * reals * (precision == QS_SINGLE ? sizeof(float) : sizeof(double))};
}

template <class Real>
runtime::BinnedSum momentum_action(const Momenta& where, std::int64_t sites) {
  runtime::BinnedSum sum = runtime::BinnedSum::zero();
  for (std::int64_t site = 0; site < sites; ++site) {
    std::array<Real, 4 * reals> momenta;
    std::memcpy(momenta.data(), where.first + static_cast<std::size_t>(site) * where.stride, sizeof momenta);
    for (std::size_t mu = 0; mu < 4; ++mu) {
      double action = -4;
      for (std::size_t k = 0; k < reals - 1; ++k) {
        const double number = momenta[mu * reals + k];
        action += (k < off_diagonal ? 1 : 0.5) * number * number;
      }
      runtime::add(sum, action);
    }
  }
  return sum;
}

template <class Real>
site::Link<double> momentum(const Momenta& where, std::int64_t site, std::size_t mu) {
  std::array<Real, reals> p;
  std::memcpy(p.data(), where.first + static_cast<std::size_t>(site) * where.stride + mu * sizeof p, sizeof p);
  site::Link<double> matrix;
  std::size_t next = 0;
  for (int row = 0; row < 3; ++row)
    for (int column = row + 1; column < 3; ++column, next += 2) {
      matrix[row][column] = {p[next], p[next + 1]};
      matrix[column][row] = {-p[next], p[next + 1]};
    }
  for (int row = 0; row < 3; ++row) matrix[row][row] = {0, p[off_diagonal + static_cast<std::size_t>(row)]};
  return matrix;
}

/// exp(P) U, by the series up to a term that double precision does not see for |P| < 1.
site::Link<double> moved(const site::Link<double>& p, const site::Link<double>& u) {
  constexpr int order = 20;
  site::Link<double> result = u;
  for (int k = order; k > 0; --k) result = u + site::scaled(1.0 / k, multiply(p, result));
  return result;
}

}  // namespace

double qudaMomAction(int precision, QudaMILCSiteArg_t* site) {
  const qs_precision fields = precision_of(__func__, precision);
  const Momenta where = momenta_at(__func__, fields, site);
  double action = 0;
  work(__func__, [&](Context& context) {
    const std::int64_t sites = volume(cut(context).part().extents);
    std::array sums{fields == QS_SINGLE ? momentum_action<float>(where, sites) : momentum_action<double>(where, sites)};
    context.job->combine(sums);
    action = runtime::value_of(sums[0]);
  });
  return action;
}

void qudaUpdateUPhasedPipeline(int precision, double step, QudaMILCSiteArg_t* site, int, int) {
  const qs_links links = links_at(__func__, precision, site);
  const Momenta where = momenta_at(__func__, links.precision, site);
  work(__func__, [&](Context& context) {
    const runtime::Team& team = context.session->cpu_team();
    HostGauge part = links_from(links, cut(context).part(), team);
    team.for_range(volume(part.extents), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Coord here = coordinates(i, part.extents);  // extents are even, so parities of the part are the lattice's
        const std::int64_t stored = i / 2 + parity_of(here) * (volume(part.extents) / 2);
        for (int mu = 0; mu < 4; ++mu) {
          const auto place = static_cast<std::size_t>(mu);
          const site::Link<double> p =
              links.precision == QS_SINGLE ? momentum<float>(where, stored, place) : momentum<double>(where, stored, place);
          double* const link = part.link(i, mu).data();
          site::write_link(link, moved(site::scaled(step, p), site::read_link(link)));
        }
      }
    });
    links_to(links, part, team);
  });
}

void qudaUpdateUPhased(int precision, double step, QudaMILCSiteArg_t* site, int phases_in) {
  qudaUpdateUPhasedPipeline(precision, step, site, phases_in, 0);
}
void qudaUpdateU(int precision, double step, QudaMILCSiteArg_t* site) { qudaUpdateUPhasedPipeline(precision, step, site, 0, 0); }
