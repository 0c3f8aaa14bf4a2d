// Three-point functions on GPUs have the bits of those on CPUs: sequential sources, their solves, all currents.
#include "apps/run/check_action.hpp"
#include "apps/run/solve_run.hpp"
#include "codelets/contract/sequential.hpp"
#include "tests/gpu/support.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/contract_testing.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace three_point_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 27182;

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Through the code of the command, with what is common to all and these settings.
std::vector<Correlator> three_points(const HostGauge& gauge, const Settings& settings) {
  std::vector<app::Assignment> all{{"no-tune", "true", ""},
                                   {"tol", "1e-5", ""},
                                   {"source", "point:1,2,3,6", ""},
                                   {"sinks", "point+gaussian:1,2", ""},
                                   {"correlators", "pion", ""},
                                   {"currents", "local,conserved", ""},
                                   {"current-momenta", "0,0,0+0,1,-1", ""}};
  for (const auto& [key, value] : settings) all.push_back({key, value, key});
  app::RunReport report;
  app::apply_settings(report.config, all);
  app::complete(report.config);
  app::check_action(report.config);
  report.config.propagators = false;
  app::solve_source(links_at_hand(gauge), gauge.extents, report, app::unwatched());
  return report.correlators;
}

}  // namespace

TEST_CASE("three-point functions have the same bits on CPUs and GPUs") {
  QUARKSTAR_NEEDS_GPU("three-point functions");
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge({4, 4, 4, 8}, seed, 0.4);
  for (const Settings& action :
       {Settings{{"action", "clover"}, {"kappa", "0.11"}, {"csw", "1.2"}, {"three-points", "pion:3,0,1,0+proton_u:5+proton_mixed_d:2"}},
        {{"action", "twisted-mass"}, {"kappa", "0.11"}, {"mu", "0.2"}, {"three-points", "pion:4"}}}) {
    const auto on = [&](const Settings& devices) {
      Settings settings = action;
      settings.insert(settings.end(), devices.begin(), devices.end());
      return three_points(gauge, settings);
    };
    INFO(action.front().second);
    const std::vector<Correlator> expected = on({{"devices", "cpu"}});
    CHECK(expected.size() > 2 * 2 * 20);
    CHECK(testing::same_bits(on({{"devices", "0"}}), expected));
    CHECK(testing::same_bits(on({{"devices", "0"}, {"nrhs", "5"}, {"in-flight", "2"}}), expected));
    CHECK(testing::same_bits(on({{"devices", "0"}, {"blocks", "1,1,1,2"}, {"nrhs", "1"}}), expected));
    CHECK(testing::same_bits(on({{"devices", "all"}, {"cpu-share", "50%"}}), expected));
  }
}

}  // namespace three_point_test
