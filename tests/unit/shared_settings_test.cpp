// Ranks with different settings are found out.
#include "apps/run/shared_settings.hpp"

#include "runtime/system/error.hpp"
#include "tests/unit/error_testing.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace shared_settings_test {

using namespace quarkstar;
using namespace quarkstar::app;

namespace {

RunConfig config_of(const std::vector<Assignment>& settings) {
  RunConfig config;
  apply_settings(config, settings);
  return config;
}

std::string refusal_of(const std::vector<Assignment>& mine, const std::vector<Assignment>& roots) {
  return error_testing::message_of([&] { require_same_settings(shared_settings(config_of(mine)), shared_settings(config_of(roots))); });
}

}  // namespace

TEST_CASE("the first setting in which ranks differ is named, with both values") {
  const std::string kappa = refusal_of({{"kappa", "0.13", "--kappa"}, {"tol", "1e-5", "--tol"}}, {{"kappa", "0.12", "--kappa"}});
  CHECK(kappa.starts_with("kappa: 0.13 here, but 0.12 on rank 0; "));
  CHECK(refusal_of({{"action", "hisq", "--action"}}, {}).starts_with("action: \"hisq\" here, but \"wilson\" on rank 0; "));
  CHECK(refusal_of({}, {{"checkpoint", "saved", "--checkpoint"}}).starts_with("checkpoint: \"\" here, but \"saved\" on rank 0; "));
  CHECK(refusal_of({{"cpu-share", "25%", "--cpu-share"}}, {}).starts_with("cpu-share: 0.25 here, but 0 on rank 0; "));
}

TEST_CASE("ranks may have devices, workers and watchdogs of their own") {
  CHECK(refusal_of({{"workers", "3", "--workers"}, {"devices", "cpu", "--devices"}, {"watchdog", "20", "--watchdog"}},
                   {{"workers", "1", "--workers"}, {"devices", "all", "--devices"}}) == "no error");
  CHECK(refusal_of({{"cpu-share", "0", "--cpu-share"}}, {}) == "no error");
}

}  // namespace shared_settings_test
