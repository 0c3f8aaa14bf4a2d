// Batches as programs: where a refresh is that may be left out as a whole.
#include "runtime/graph/program.hpp"

#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace program_test {

using namespace quarkstar;
using namespace quarkstar::runtime;

TEST_CASE("behind a scalar step: the tasks that go by its state and wait for a refresh") {
  const Session session(runtime_testing::options(1));
  const Handle state(64), other_state(64), history(64), field(64), sums(64);
  const auto part = [](AccessList accesses, Role role) {
    return Batch::Part{.accesses = std::move(accesses), .placement = {.role = role}};
  };
  const Batch::Part step = part({inout(state), inout(history), in(sums)}, Role::step), work = part({inout(field), in(state)}, Role::work);
  const Batch::Part refresh = part({inout(field), in(state)}, Role::refresh),
                    elsewhere = part({inout(field), in(other_state)}, Role::refresh);
  const Batch::Part refreshed = part({inout(state), inout(history), in(sums)}, Role::refresh_step);
  const Program program(
      {step, work, step, refresh, refresh, refreshed, work, refresh, step, elsewhere, step, refresh, elsewhere, step, refresh});
  const std::vector<std::size_t> expected{0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0};
  REQUIRE(program.steps.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("step " << i);
    CHECK(refresh_behind(program, i) == expected[i]);
    CHECK(whole_refresh_behind(program, i) == (i == 10 ? 0 : expected[i]));
  }
}

}  // namespace program_test
