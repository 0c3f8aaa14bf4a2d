// What a campaign begins anew with when a GPU has failed.
#include "apps/campaign/lost_devices.hpp"

#include <doctest/doctest.h>

namespace lost_devices_test {

using namespace quarkstar::app::campaign;

TEST_CASE("without one of several GPUs the others are named, and nothing without a name is") {
  for (const char* devices : {"", "all", "cuda"}) {
    const auto left = gpus_without(devices, {"GPU-a", "GPU-b", "GPU-c"}, 1);
    REQUIRE(left);
    CHECK(left->setting.key == "gpus");
    CHECK(left->setting.value == "2");
    CHECK(left->visible_gpus.value() == "GPU-a,GPU-c");
  }
  const auto named = gpus_without("cuda", {"GPU-a", "", "GPU-c"}, 0);
  REQUIRE(named);
  CHECK(named->setting.value == "1");
  CHECK(named->visible_gpus.value() == "GPU-c");
  CHECK_FALSE(gpus_without("all", {"GPU-a", ""}, 0));
}

TEST_CASE("GPUs that were asked for by number have the numbers of those that the program then sees") {
  const auto left = gpus_without("1,2,5", {"GPU-b", "GPU-c", "GPU-f"}, 0);
  REQUIRE(left);
  CHECK(left->setting.key == "devices");
  CHECK(left->setting.value == "0,1");
  CHECK(left->visible_gpus.value() == "GPU-c,GPU-f");
}

TEST_CASE("without the last GPU CPUs go on, unless GPUs alone were asked for") {
  for (const char* devices : {"", "all"}) {
    const auto left = gpus_without(devices, {"GPU-a"}, 0);
    REQUIRE(left);
    CHECK(left->setting.key == "devices");
    CHECK(left->setting.value == "cpu");
    CHECK(left->visible_gpus.value() == "-1");
  }
  for (const char* devices : {"cuda", "0", "3"}) CHECK_FALSE(gpus_without(devices, {"GPU-a"}, 0));
}

}  // namespace lost_devices_test
