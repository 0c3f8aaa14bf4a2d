#include "codelets/io/scidac_field.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/solve.hpp"
#include "tests/reference/staggered.hpp"
#include "tests/unit/reference_golden.hpp"

#include <doctest/doctest.h>

namespace reference_asqtad_milc_test {

using namespace quarkstar;
using namespace quarkstar::reference;
using reference::Field;

namespace {

constexpr double u0 = 0.502;
constexpr double mass = 0.1;

/// MILC reunitarized the links in double after reading; the smeared links carry the antiperiodic sign.
StaggeredLinks asqtad_on_sample(const std::filesystem::path& data) {
  HostGauge gauge = format::read_gauge(data / "milc/lat.sample.l8").gauge;
  reunitarize(gauge);
  return asqtad_links(with_boundary(gauge, Boundary::antiperiodic_t()), u0);
}

Field read_colour_field(const std::filesystem::path& path) {
  const format::ScidacFieldFile file(path);
  const HostReals reals = file.read(file.description().records.front(), 6);
  Field field(file.extents(), 1);
  for (std::size_t i = 0; i < field.data.size(); ++i) field.data[i] = {reals[2 * i], reals[2 * i + 1]};
  return field;
}

double relative_difference(const Field& a, const Field& b) { return std::sqrt(norm2(a - b) / norm2(b)); }

}  // namespace

TEST_CASE("reference asqtad: MILC's saved fat and long links, staggered phases folded in") {
  const auto data = data_directory("MILC asqtad links");
  if (!data) return;
  const StaggeredLinks links = asqtad_on_sample(*data);
  const auto compare = [](const HostGauge& ours, const HostGauge& milc, double scale) {
    double largest = 0.0;
    for (std::int64_t site = 0; site < volume(ours.extents); ++site)
      for (int mu = 0; mu < 4; ++mu) {
        const Complex phase = staggered_phase(coordinates(site, ours.extents), mu);
        largest = std::max(largest, max_difference(phase * link(ours, site, mu), link(milc, site, mu)));
      }
    // The files are in single precision.
    CHECK(largest < 0x1p-23 * scale);
  };
  compare(links.fat, format::read_gauge(*data / "milc/fat.l8").gauge, 10.0);
  compare(links.naik, format::read_gauge(*data / "milc/long.l8").gauge, 0.2);
}

TEST_CASE("reference asqtad: MILC's saved solutions M^-1 b and (M^+ M)^-1 b") {
  const auto data = data_directory("MILC asqtad solutions");
  if (!data) return;
  const StaggeredLinks links = asqtad_on_sample(*data);
  const Field source = read_colour_field(*data / "milc/ksvector.src.sample.l8");
  const Operator normal = [&](const Field& chi) { return staggered_normal(links, mass, chi); };
  const Field once = cg(normal, staggered_dagger(links, mass, source), 1e-12).x;
  const Field twice = cg(normal, source, 1e-12).x;
  CHECK(relative_difference(once, read_colour_field(*data / "milc/ksvector.ans.Minv.sample.l8")) < 1e-6);
  CHECK(relative_difference(twice, read_colour_field(*data / "milc/ksvector.ans.MdaggerMinv.sample.l8")) < 1e-6);
}

}  // namespace reference_asqtad_milc_test
