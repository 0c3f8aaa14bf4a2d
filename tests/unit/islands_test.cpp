// Groups of right-hand sides for islands: who takes the next one.
#include "apps/run/islands.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace islands_test {

using namespace quarkstar;
using app::GroupPool;

namespace {

/// Solves all groups on islands that take so many seconds for one, and returns when the last ends and how many each has solved.
struct Played {
  double seconds = 0;
  std::vector<int> groups;
};
Played play(int groups, const std::vector<double>& seconds) {
  const auto islands = static_cast<int>(seconds.size());
  GroupPool pool(islands, groups);
  Played played{0, std::vector<int>(seconds.size())};
  std::vector<double> free(seconds.size(), 0);
  std::vector<bool> works(seconds.size(), true);
  for (;;) {
    int next = -1;
    for (int i = 0; i < islands; ++i)
      if (works[static_cast<std::size_t>(i)] && (next < 0 || free[static_cast<std::size_t>(i)] < free[static_cast<std::size_t>(next)]))
        next = i;
    if (next < 0) return played;
    const auto n = static_cast<std::size_t>(next);
    if (free[n] > 0) pool.ended(next, seconds[n]);
    if (!pool.take(next)) {
      works[n] = false;
      continue;
    }
    free[n] += seconds[n];
    ++played.groups[n];
    played.seconds = std::max(played.seconds, free[n]);
  }
}

}  // namespace

TEST_CASE("islands of one speed share the groups evenly") {
  const Played played = play(8, {1, 1});
  CHECK(played.groups == std::vector<int>{4, 4});
  CHECK(played.seconds == 4);
  CHECK(play(3, {1, 1, 1}).seconds == 1);
}

TEST_CASE("a slow island takes no group that would end after all others") {
  const Played played = play(40, {1, 20});
  CHECK(played.groups[0] + played.groups[1] == 40);
  CHECK(played.groups[1] == 1);
  CHECK(played.seconds <= 39);  // 40 without the slow one
  const Played three = play(10, {1, 3});
  CHECK(three.seconds <= 8);  // the best: 8 and 2
  CHECK(three.groups[1] == 2);
}

TEST_CASE("every group is given once") {
  GroupPool pool(2, 3);
  CHECK(pool.take(0) == 0);
  CHECK(pool.take(1) == 1);
  pool.ended(0, 1);
  CHECK(pool.take(0) == 2);
  CHECK_FALSE(pool.take(0).has_value());
  CHECK_FALSE(pool.take(1).has_value());
}

}  // namespace islands_test
