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

void check(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary) {
  if (!contains(gauge.box(), decomposition.part(), decomposition.lattice()))
    throw ShapeError("link construction",
                     fmt::format("the configuration is {}, the decomposition {}", fmt::join(gauge.extents, "x"), decomposition.describe()));
  if (!std::all_of(boundary.begin(), boundary.end(), [](double theta) { return std::isfinite(theta); }))
    throw Error(ErrorKind::input, Parameter("boundary"), "an angle is not a number", "give angles in units of pi");
  const runtime::Team& team = runtime::Session::current().cpu_team();
  const gauge::UnitarityDeviation deviation =
      decomposition.is_distributed() ? gauge::unitarity_deviation_of_all_ranks(gauge, team) : gauge::unitarity_deviation(gauge, team);
  deviation.require_small("give a configuration that has not been smeared, or reunitarize it");
}

/// The configuration in blocks, its boundary phases folded in, borders filled.
GaugeField loaded(GaugeField links, const HostGauge& gauge, const BoundaryAngles& boundary) {
  check(links.decomposition(), gauge, boundary);
  load(links, gauge, boundary);
  exchange_border(links);
  return links;
}

/// Room for the links that are kept. Beside GPUs its pages are made here by all cores: one thread, of a driver that copies into them, takes
/// as long for that as for all else that becomes of a configuration on a GPU. CPUs make pages where they write them, each domain in its own
/// memory.
HostGauge room_for(const GaugeField& links, bool is_long) {
  const Box box = hops_box(links.decomposition().part(), links.lattice(), longest_hop(is_long));
  HostGauge room{box.extents, HostReals(static_cast<std::size_t>(volume(box.extents)) * HostGauge::reals_per_site), box.origin};
  const runtime::Session& session = runtime::Session::current();
  if (session.gpu_count() == 0) return room;
  constexpr std::int64_t page = 4096 / sizeof(double);
  const auto reals = static_cast<std::int64_t>(room.data.size());
  session.cpu_team().for_range((reals + page - 1) / page, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) room.data[static_cast<std::size_t>(i * page)] = 0;
  });
  return room;
}

}  // namespace

Coord border_of_kept(const runtime::Decomposition& decomposition, bool is_long) {
  Coord depth{};
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (decomposition.ranks()[mu] > 1) depth[mu] = longest_hop(is_long);
  return depth;
}

StaggeredLinks naive_links(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary) {
  const GaugeField links = loaded({decomposition, border_of_kept(decomposition, false)}, gauge, boundary);
  StaggeredLinks result;
  result.fat = room_for(links, false);
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

StaggeredLinks asqtad_links(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary,
                            double u0) {
  check_tadpole_factor(u0);
  const GaugeField links = loaded({decomposition, 2}, gauge, boundary);
  const GaugeField fat(decomposition, border_of_kept(decomposition, false)), naik(decomposition, border_of_kept(decomposition, true));
  StaggeredLinks result;
  result.fat = room_for(fat, false);
  result.long_links = room_for(naik, true);
  result.has_long = true;
  result.long_scale = asqtad_naik_weight(u0);
  smear_links(fat, links, asqtad_weights(u0));
  naik_links(naik, links, result.long_scale);
  exchange_border(fat);
  exchange_border(naik);
  store(result.fat, fat, {.staggered_phases = true});
  store(result.long_links, naik, {.staggered_phases = true});
  runtime::Session::current().wait_all();
  return result;
}

HisqLinks::HisqLinks(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary)
    : unitary_(decomposition, 2),
      fat_(decomposition, border_of_kept(decomposition, false)),
      long_(decomposition, border_of_kept(decomposition, true)) {
  smear_links(unitary_, loaded({decomposition, 1}, gauge, boundary), fat7_weights());
  unitarize_links(unitary_);
  exchange_border(unitary_);
  smear_links(fat_, unitary_, hisq_weights());
  naik_links(long_, unitary_, hisq_naik_weight(0));
  exchange_border(fat_);
  exchange_border(long_);
  runtime::Session::current().wait_all();
}

StaggeredLinks HisqLinks::links(double naik_epsilon) const {
  check_naik_epsilon(naik_epsilon);
  StaggeredLinks result;
  result.fat = room_for(fat_, false);
  result.long_links = room_for(long_, true);
  result.has_long = true;
  result.naik_epsilon = naik_epsilon;
  result.long_scale = hisq_naik_weight(naik_epsilon);
  store(result.fat, fat_, {.extra = &unitary_, .extra_scale = naik_epsilon / 8, .staggered_phases = true});
  store(result.long_links, long_, {.scale = 1 + naik_epsilon, .staggered_phases = true});
  runtime::Turns::pass();
  runtime::Session::current().wait_all();
  return result;
}

StaggeredLinks hisq_links(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary,
                          double naik_epsilon) {
  return HisqLinks(decomposition, gauge, boundary).links(naik_epsilon);
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
