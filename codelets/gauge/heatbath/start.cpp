#include "codelets/gauge/heatbath/start.hpp"

#include "codelets/lattice/random.hpp"
#include "codelets/su3/unitarize.hpp"
#include "runtime/backend.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::heatbath {
namespace {

HostGauge allocate(const Coord& lattice) {
  for (const int extent : lattice)
    if (extent < 1)
      throw Error(ErrorKind::input, Parameter("lattice"), fmt::format("{} has an extent below 1", fmt::join(lattice, "x")),
                  "give four positive extents");
  HostGauge gauge;
  gauge.extents = lattice;
  if constexpr (!runtime::backend::computes) return gauge;  // it may be larger than this machine
  gauge.data = HostReals(static_cast<std::size_t>(volume(lattice) * HostGauge::reals_per_site));
  return gauge;
}

site::Link<double> haar_link(std::uint64_t seed, std::int64_t site, int mu) {
  RandomStream random(seed, RandomPurpose::hot_start, site, static_cast<std::uint64_t>(mu));
  const auto a = random.gaussians(), b = random.gaussians(), c = random.gaussians();
  site::Link<double> u{{{{a[0], a[1]}, {a[2], a[3]}, {b[0], b[1]}}, {{b[2], b[3]}, {c[0], c[1]}, {c[2], c[3]}}, {}}};
  reunitarize(u);
  return u;
}

}  // namespace

HostGauge cold_start(const Coord& lattice) {
  HostGauge gauge = allocate(lattice);
  std::fill(gauge.data.begin(), gauge.data.end(), 0.0);
  for (std::size_t link = 0; link < gauge.data.size(); link += 18)
    for (std::size_t diagonal = 0; diagonal < 18; diagonal += 8) gauge.data[link + diagonal] = 1.0;
  return gauge;
}

HostGauge hot_start(const Coord& lattice, const Box& box, std::uint64_t seed, const runtime::Team& team) {
  HostGauge gauge = allocate(box.extents);
  gauge.origin = box.origin;
  if (gauge.data.empty()) return gauge;
  team.for_range(volume(box.extents), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t site = index_in({{}, lattice}, site_of(box, i), lattice);
      for (int mu = 0; mu < 4; ++mu) site::write_link(gauge.link(i, mu).data(), haar_link(seed, site, mu));
    }
  });
  return gauge;
}

}  // namespace quarkstar::heatbath
