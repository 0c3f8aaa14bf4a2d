#pragma once
// What the tests of link construction share: sessions, folded reference links, comparisons.
#include "codelets/gauge/smear/hisq.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/staggered.hpp"
#include "tests/unit/runtime_support.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace quarkstar::smear_testing {

using runtime_testing::options;

inline runtime::Decomposition whole(const Coord& lattice) { return {lattice, {1, 1, 1, 1}, 1}; }

/// The reference's links as the package stores them: the staggered phases folded in.
inline HostGauge with_phases(HostGauge links) {
  for (std::int64_t site = 0; site < volume(links.extents); ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (double& real : links.link(site, mu)) real *= reference::staggered_phase(coordinates(site, links.extents), mu);
  return links;
}

inline reference::Boundary boundary_of(const BoundaryAngles& angles) {
  return reference::Boundary::twisted({M_PI * angles[0], M_PI * angles[1], M_PI * angles[2], M_PI * angles[3]});
}

inline double largest_difference(const HostGauge& a, const HostGauge& b) {
  double largest = a.data.size() == b.data.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.data.size(), b.data.size()); ++i) {
    const double difference = std::abs(a.data[i] - b.data[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

}  // namespace quarkstar::smear_testing
