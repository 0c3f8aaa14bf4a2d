#pragma once
// What can be measured on a gauge configuration, and its projection back onto SU(3).
#include "codelets/gauge/gauge_field.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/system/team.hpp"

#include <string_view>

namespace quarkstar::gauge {

// Of a HostGauge: every function splits the lattice over the team, and no session is needed; all throw ShapeError when data and extents
// disagree and Error(input), naming the link, when an entry is not finite or larger than 1e50. Of a GaugeField: tasks on its blocks; the
// functions return when these are done, with what all ranks have together, so all must call. Sums are runtime::BinnedSum: neither threads
// nor blocks nor the cut over ranks change a bit.

/// Means of Re tr U_p / 3 with U_p = U_mu(x) U_nu(x+mu) U_mu^+(x+nu) U_nu^+(x).
struct Plaquettes {
  double spatial = 0;   ///< planes xy, xz, yz
  double temporal = 0;  ///< planes xt, yt, zt
  double mean() const { return 0.5 * (spatial + temporal); }
};

/// The sums behind the means, over the sites of a part of the lattice. Merged over disjoint parts they are those of the whole.
struct LinkSums {
  runtime::BinnedSum spatial = runtime::BinnedSum::zero(), temporal = runtime::BinnedSum::zero(), trace = runtime::BinnedSum::zero();

  Plaquettes plaquettes(const Coord& lattice) const;
  double link_trace(const Coord& lattice) const;
};

/// `gauge` holds the part and, where that is not all of a direction, the layer behind it. 6 x 432 flop per site.
LinkSums link_sums(const HostGauge& gauge, const Coord& lattice, const Box& part, const runtime::Team& team);

/// Of the whole lattice; the field's border is filled. Throws ShapeError where it has none.
LinkSums link_sums(const GaugeField& links);

Plaquettes plaquettes(const HostGauge& gauge, const runtime::Team& team);
Plaquettes plaquettes(const GaugeField& links);  ///< throws as link_sums() does

/// Mean over all links of Re tr U / 3.
double link_trace(const HostGauge& gauge, const runtime::Team& team);

/// Sum over the links of a part of w (Re + Im) tr U, w from 1 to 2 by the number of the link in the lattice. Translations, reflections and
/// complex conjugation, which plaquettes and link trace do not see, change it. `gauge` holds the part. Merged over disjoint parts it is
/// that of the whole.
runtime::BinnedSum place_sum(const HostGauge& gauge, const Coord& lattice, const Box& part, const runtime::Team& team);
/// What its links at one site add, in `gauge` number `index`, in the lattice number `site` (lexicographic).
double place_summand(const HostGauge& gauge, std::int64_t index, std::int64_t site);

/// How far the links are from SU(3): maxima over all links.
struct UnitarityDeviation {
  double unitarity = 0;    ///< max over the entries of |U U^+ - 1|
  double determinant = 0;  ///< |det U - 1|

  /// Throws Error(input) where one is above 1e-4 or not finite: single-precision files and rounding stay far below. where, what: the
  /// error's, before the numbers.
  void require_small(const char* remedy, std::string_view where = "gauge configuration",
                     std::string_view what = "links are not SU(3)") const;
};
UnitarityDeviation unitarity_deviation(const HostGauge& gauge, const runtime::Team& team);
UnitarityDeviation unitarity_deviation(const GaugeField& links);  ///< infinite where an entry is not finite
/// Of a configuration of which each rank has a part: the same on all ranks, which must all call.
UnitarityDeviation unitarity_deviation_of_all_ranks(const HostGauge& part, const runtime::Team& team);

/// Projects every link onto SU(3): row 0 normalised, row 1 made orthogonal to it and normalised, row 2 = conj(row 0 x
/// row 1). Also throws Error(input), naming the link, where two rows are linearly dependent; the field is then partly
/// projected. Source: the choice of MILC's reunitarize (docs/conventions.md, section 6).
void reunitarize(HostGauge& gauge, const runtime::Team& team);

}  // namespace quarkstar::gauge
