#include "codelets/gauge/smear/staggered_links.hpp"

#include "codelets/gauge/observables.hpp"
#include "codelets/gauge/smear/hisq.hpp"
#include "codelets/gauge/smear/smear.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace quarkstar::smear {
namespace {

void check(const Region& region, const HostGauge& gauge, const BoundaryAngles& boundary) {
  if (!contains(gauge.box(), region.box, region.lattice))
    throw ShapeError("link construction",
                     fmt::format("the configuration is {}, the decomposition {}", fmt::join(gauge.extents, "x"), region.blocks.describe()));
  if (!std::all_of(boundary.begin(), boundary.end(), [](double theta) { return std::isfinite(theta); }))
    throw Error(ErrorKind::input, Parameter("boundary"), "an angle is not a number", "give angles in units of pi");
  const gauge::UnitarityDeviation deviation = region.is_part ? gauge::unitarity_deviation_of_all_ranks(gauge)
                                                             : gauge::unitarity_deviation(gauge, runtime::Session::current().cpu_team());
  deviation.require_small("give a configuration that has not been smeared, or reunitarize it");
}

/// The configuration in blocks, its boundary phases folded in, borders filled.
GaugeField loaded(const Region& region, const HostGauge& gauge, const BoundaryAngles& boundary, int depth) {
  check(region, gauge, boundary);
  GaugeField links(region, depth);
  load(links, gauge, boundary);
  exchange_border(links);
  return links;
}

HostGauge empty_host(const Box& box) {
  return {box.extents, std::vector<double>(static_cast<std::size_t>(volume(box.extents)) * HostGauge::reals_per_site), box.origin};
}

}  // namespace

StaggeredLinks naive_links(const Region& region, const HostGauge& gauge, const BoundaryAngles& boundary) {
  const GaugeField links = loaded(region, gauge, boundary, 0);
  StaggeredLinks result;
  result.fat = empty_host(region.fat);
  store(result.fat, links, {.staggered_phases = true});
  runtime::Session::current().wait_all();
  return result;
}

void check_tadpole_factor(double u0) {
  if (!(u0 > 0) || !std::isfinite(u0))
    throw Error(ErrorKind::input, Parameter("u0"), fmt::format("{} is no tadpole factor", u0), "give a number above 0, e.g. 0.87");
}

void check_naik_epsilon(double naik_epsilon) {
  if (!std::isfinite(naik_epsilon) || naik_epsilon <= -1)
    throw Error(ErrorKind::input, Parameter("naik-epsilon"), fmt::format("{} leaves no Naik term", naik_epsilon),
                "give a number above -1, e.g. 0 for light quarks");
}

StaggeredLinks asqtad_links(const Region& region, const HostGauge& gauge, const BoundaryAngles& boundary, double u0) {
  check_tadpole_factor(u0);
  const GaugeField links = loaded(region, gauge, boundary, 2);
  const GaugeField fat(region, 0), naik(region, 0);
  StaggeredLinks result;
  result.fat = empty_host(region.fat);
  result.long_links = empty_host(region.far);
  result.has_long = true;
  result.long_scale = asqtad_naik_weight(u0);
  smear_links(fat, links, asqtad_weights(u0));
  naik_links(naik, links, result.long_scale);
  store(result.fat, fat, {.staggered_phases = true});
  store(result.long_links, naik, {.staggered_phases = true});
  runtime::Session::current().wait_all();
  return result;
}

HisqLinks::HisqLinks(const Region& region, const HostGauge& gauge, const BoundaryAngles& boundary)
    : region_(region), unitary_(region, 2), fat_(region, 0), long_(region, 0) {
  const GaugeField links = loaded(region, gauge, boundary, 1);
  smear_links(unitary_, links, fat7_weights());
  unitarize_links(unitary_);
  exchange_border(unitary_);
  smear_links(fat_, unitary_, hisq_weights());
  naik_links(long_, unitary_, hisq_naik_weight(0));
  runtime::Session::current().wait_all();
}

StaggeredLinks HisqLinks::links(double naik_epsilon) const {
  check_naik_epsilon(naik_epsilon);
  StaggeredLinks result;
  result.fat = empty_host(region_.fat);
  result.long_links = empty_host(region_.far);
  result.has_long = true;
  result.naik_epsilon = naik_epsilon;
  result.long_scale = hisq_naik_weight(naik_epsilon);
  store(result.fat, fat_, {.extra = &unitary_, .extra_scale = naik_epsilon / 8, .staggered_phases = true});
  store(result.long_links, long_, {.scale = 1 + naik_epsilon, .staggered_phases = true});
  runtime::Turns::pass();
  runtime::Session::current().wait_all();
  return result;
}

StaggeredLinks hisq_links(const Region& region, const HostGauge& gauge, const BoundaryAngles& boundary, double naik_epsilon) {
  return HisqLinks(region, gauge, boundary).links(naik_epsilon);
}

double naik_epsilon_of_mass(double mass) {
  const double a2 = mass * mass;
  const double epsilon = a2 * (-27.0 / 40 + a2 * (327.0 / 1120 + a2 * (-15607.0 / 268800 - a2 * (73697.0 / 3942400))));
  if (!(mass >= 0) || !(epsilon > -1))
    throw Error(ErrorKind::input, Parameter("mass"), fmt::format("the series of the Naik epsilon is of no use at mass {}", mass),
                "give 0 <= mass < 1.4, or epsilon itself as naik-epsilon");
  return epsilon;
}

}  // namespace quarkstar::smear
