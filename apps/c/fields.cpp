#include "apps/c/fields.hpp"

#include "apps/c/context.hpp"

#include <fmt/format.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace quarkstar::c {
namespace {

constexpr int matrix_entries = 9;

bool is_of_sites(qs_layout layout) { return layout == QS_MILC_SITE; }

/// What links and vectors have in common. reals: of a site.
void check(const char* argument, qs_precision precision, qs_layout layout, qs_location location, std::size_t site_stride,
           std::size_t reals) {
  if (precision != QS_DOUBLE && precision != QS_SINGLE)
    refuse(argument, fmt::format("precision {}", static_cast<int>(precision)), "give QS_DOUBLE or QS_SINGLE");
  if (layout < QS_LEXICOGRAPHIC || layout > QS_PYQUDA_PROPAGATOR)
    refuse(argument, fmt::format("layout {}", static_cast<int>(layout)), "give one of qs_layout");
  if (location == QS_CUDA) refuse(argument, "fields in GPU memory are not supported by this version", "copy them to the host: QS_HOST");
  if (location != QS_HOST) refuse(argument, fmt::format("location {}", static_cast<int>(location)), "give QS_HOST");
  const std::size_t real = precision == QS_DOUBLE ? sizeof(double) : sizeof(float);
  if (is_of_sites(layout) != (site_stride != 0) || site_stride % real != 0)
    refuse(argument, fmt::format("site_stride {}", site_stride),
           is_of_sites(layout) ? "give the size of the struct of a site, a multiple of a real's" : "it is for QS_MILC_SITE: give 0");
  if (is_of_sites(layout) && site_stride < reals * real)
    refuse(argument, fmt::format("site_stride {}, but a site has {} bytes", site_stride, reals * real),
           "give the size of the struct of a site");
}

/// The number of a site in storage.
std::int64_t place(qs_layout layout, const Box& part, std::int64_t lexicographic) {
  if (layout == QS_LEXICOGRAPHIC) return lexicographic;
  return lexicographic / 2 + parity_of(site_of(part, lexicographic)) * (volume(part.extents) / 2);
}

/// The matrix U_mu(x) of the caller, 18 reals that follow each other.
template <class Real>
Real* matrix(const qs_links& links, std::int64_t site, int mu, std::int64_t sites) {
  constexpr std::int64_t reals = 2 * matrix_entries;
  auto* const first = static_cast<Real*>(links.data[0]);
  switch (links.layout) {
    case QS_MILC_SITE:
      return reinterpret_cast<Real*>(static_cast<std::byte*>(links.data[0]) + static_cast<std::size_t>(site) * links.site_stride) +
             mu * reals;
    case QS_QDP:
      return static_cast<Real*>(links.data[mu]) + site * reals;
    case QS_PYQUDA:
      return first + (mu * sites + site) * reals;
    default:
      return first + (site * 4 + mu) * reals;
  }
}

template <class Real, class Gauge, class Move>
void each_matrix(const qs_links& links, Gauge& gauge, const runtime::Team& team, Move&& move) {
  const Box part = gauge.box();
  const std::int64_t sites = volume(part.extents);
  team.for_range(sites, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t site = begin; site < end; ++site)
      for (int mu = 0; mu < 4; ++mu) move(gauge.link(site, mu), matrix<Real>(links, place(links.layout, part, site), mu, sites));
  });
}

void check_links(const qs_links& links) {
  check("links", links.precision, links.layout, links.location, links.site_stride, HostGauge::reals_per_site);
  if (links.layout == QS_PYQUDA_PROPAGATOR) refuse("links", "the layout is a propagator's", "give QS_PYQUDA");
  for (int mu = 0; mu < (links.layout == QS_QDP ? 4 : 1); ++mu) require(links.data[mu], "links");
}

/// The component-th number of a vector's site.
template <class Real>
Real* number(const qs_vectors& vectors, int v, std::int64_t site, int component, int components) {
  const std::size_t at = static_cast<std::size_t>(site), c = static_cast<std::size_t>(component), n = static_cast<std::size_t>(components);
  if (vectors.layout == QS_MILC_SITE)
    return reinterpret_cast<Real*>(static_cast<std::byte*>(vectors.data[v]) + at * vectors.site_stride) + 2 * c;
  if (vectors.layout != QS_PYQUDA_PROPAGATOR) return static_cast<Real*>(vectors.data[v]) + 2 * (at * n + c);
  constexpr std::size_t colours = 3;
  const std::size_t column = static_cast<std::size_t>(v), spins = n / colours;
  const std::size_t of_spins = (c / colours) * spins + column / colours, of_colours = (c % colours) * colours + column % colours;
  return static_cast<Real*>(vectors.data[0]) + 2 * ((at * spins * spins + of_spins) * colours * colours + of_colours);
}

template <class Real, class Fields, class Move>
void each_number(const qs_vectors& vectors, int first, Fields& fields, qs_parity parity, const runtime::Team& team, Move&& move) {
  const Box part = fields.front().box();
  const int components = fields.front().components;
  team.for_range(volume(part.extents), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t site = begin; site < end; ++site) {
      if (!is_in(parity, part, site)) continue;
      const std::int64_t there = place(vectors.layout, part, site);
      for (std::size_t v = 0; v < fields.size(); ++v)
        for (int c = 0; c < components; ++c)
          move(fields[v].at(site, c), number<Real>(vectors, first + static_cast<int>(v), there, c, components));
    }
  });
}

}  // namespace

HostGauge links_from(const qs_links& links, const Box& part, const runtime::Team& team) {
  check_links(links);
  HostGauge gauge{part.extents, std::vector<double>(static_cast<std::size_t>(volume(part.extents)) * HostGauge::reals_per_site),
                  part.origin};
  const auto read = [](std::span<double, 18> mine, const auto* theirs) {
    for (std::size_t i = 0; i < 18; ++i) mine[i] = theirs[i];
  };
  if (links.precision == QS_SINGLE) each_matrix<float>(links, gauge, team, read);
  else each_matrix<double>(links, gauge, team, read);
  return gauge;
}

void links_to(const qs_links& links, const HostGauge& part, const runtime::Team& team) {
  check_links(links);
  const auto write = [](std::span<const double, 18> mine, auto* theirs) {
    for (std::size_t i = 0; i < 18; ++i) theirs[i] = static_cast<std::remove_reference_t<decltype(*theirs)>>(mine[i]);
  };
  if (links.precision == QS_SINGLE) each_matrix<float>(links, part, team, write);
  else each_matrix<double>(links, part, team, write);
}

void check_parity(qs_parity parity) {
  if (parity < QS_BOTH || parity > QS_ODD) refuse("parity", fmt::format("{}", static_cast<int>(parity)), "give QS_BOTH, QS_EVEN or QS_ODD");
}

bool is_in(qs_parity parity, const Box& part, std::int64_t site) {
  return parity == QS_BOTH || parity_of(site_of(part, site)) == (parity == QS_ODD ? 1 : 0);
}

void check_vectors(const qs_vectors& vectors, const char* argument, int components) {
  check(argument, vectors.precision, vectors.layout, vectors.location, vectors.site_stride, 2 * static_cast<std::size_t>(components));
  if (vectors.count < 1) refuse(argument, fmt::format("count {}", vectors.count), "give one vector at least");
  require(vectors.data, argument);
  const bool propagator = vectors.layout == QS_PYQUDA_PROPAGATOR;
  if (propagator && vectors.count != components)
    refuse(argument, fmt::format("count {} of a propagator", vectors.count), fmt::format("give all its columns, {}", components));
  for (int v = 0; v < (propagator ? 1 : vectors.count); ++v) require(vectors.data[v], argument);
}

std::vector<HostField> vectors_from(const qs_vectors& vectors, int first, int n, int components, const Box& part, qs_parity parity,
                                    const runtime::Team& team) {
  std::vector<HostField> fields(static_cast<std::size_t>(n), HostField(components, part));
  const auto read = [](std::complex<double>& mine, const auto* theirs) { mine = {theirs[0], theirs[1]}; };
  if (vectors.precision == QS_SINGLE) each_number<float>(vectors, first, fields, parity, team, read);
  else each_number<double>(vectors, first, fields, parity, team, read);
  return fields;
}

void vectors_to(const qs_vectors& vectors, int first, const std::vector<HostField>& fields, qs_parity parity, const runtime::Team& team) {
  const auto write = [](const std::complex<double>& mine, auto* theirs) {
    using Real = std::remove_reference_t<decltype(*theirs)>;
    theirs[0] = static_cast<Real>(mine.real());
    theirs[1] = static_cast<Real>(mine.imag());
  };
  if (vectors.precision == QS_SINGLE) each_number<float>(vectors, first, fields, parity, team, write);
  else each_number<double>(vectors, first, fields, parity, team, write);
}

}  // namespace quarkstar::c
