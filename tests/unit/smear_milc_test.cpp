// MILC's own fat and long links, and the norms in golden.json, through the task graph.
#include "codelets/gauge/observables.hpp"
#include "tests/unit/reference_golden.hpp"
#include "tests/unit/smear_testing.hpp"

namespace smear_milc_test {

using namespace quarkstar;
using namespace quarkstar::smear;
using smear_testing::largest_difference;
using smear_testing::options;

namespace {

double sum_of_squares(const HostGauge& links) {
  double sum = 0;
  for (const double value : links.data) sum += value * value;
  return sum;
}

StaggeredLinks links_of(const nlohmann::json& known, const runtime::Decomposition& decomposition, const HostGauge& gauge) {
  if (known["action"] == "asqtad") return asqtad_links(decomposition, gauge, antiperiodic_in_time, known["u0"]);
  if (known["action"] == "hisq") return hisq_links(decomposition, gauge, antiperiodic_in_time, known["eps"]);
  return naive_links(decomposition, gauge, antiperiodic_in_time);
}

}  // namespace

TEST_CASE("smear: MILC's fat.l8 and long.l8, phases and boundary included") {
  const auto data = reference::data_directory("MILC fat and long links through the task graph");
  if (!data) return;
  const runtime::Session session(options(1, 2));
  HostGauge gauge = format::read_gauge(*data / "milc/lat.sample.l8").gauge;
  gauge::reunitarize(gauge, session.worker(0).team);
  for (const Coord& grid : {Coord{1, 1, 1, 1}, Coord{1, 2, 1, 2}}) {
    const StaggeredLinks links = asqtad_links(runtime::Decomposition(gauge.extents, grid, 1), gauge, antiperiodic_in_time, 0.502);
    // The files are in single precision; entries of the fat links reach 10.
    CHECK(largest_difference(links.fat, format::read_gauge(*data / "milc/fat.l8").gauge) < 1e-6);
    CHECK(largest_difference(links.long_links, format::read_gauge(*data / "milc/long.l8").gauge) < 0.2 * 0x1p-23);
  }
}

TEST_CASE("smear: norms and traces of naive, asqtad and HISQ links in golden.json") {
  const auto data = reference::data_directory("golden norms of staggered links through the task graph");
  if (!data) return;
  const nlohmann::json golden = reference::read_json(*data / "golden.json");
  const runtime::Session session(options(1, 2));
  struct Case {
    const char *key, *file;
  };
  for (const Case& item :
       {Case{"milc.l4444.naive.m0.1.ap", "milc/lat.sample.l4444"}, Case{"milc.l4444.hisq.m0.1.ap", "milc/lat.sample.l4444"},
        Case{"milc.l4444.asqtad.u0.0.8441.m0.1.ap", "milc/lat.sample.l4444"}, Case{"milc.l8888.hisq.m0.05.ap", "milc/lat.sample.l8888"}}) {
    CAPTURE(item.key);
    const nlohmann::json& known = golden[item.key];
    const HostGauge gauge = format::read_gauge(*data / item.file).gauge;
    const StaggeredLinks links = links_of(known, smear_testing::whole(gauge.extents), gauge);
    CHECK(sum_of_squares(links.fat) == doctest::Approx(known["fat_norm2"].get<double>()).epsilon(1e-12));
    CHECK(std::abs(reference::link_trace(links.fat) - known["fat_trace"].get<double>()) < 1e-13);
    if (links.has_long) CHECK(sum_of_squares(links.long_links) == doctest::Approx(known["long_norm2"].get<double>()).epsilon(1e-12));
  }
}

}  // namespace smear_milc_test
