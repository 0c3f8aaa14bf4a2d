// Numbers of messages: never two users at a time, and the same on every rank.
#include "runtime/mpi/tags.hpp"

#include "tests/unit/error_testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tags_test {

using quarkstar::error_testing::message_of;
using quarkstar::runtime::mpi::Tags;

TEST_CASE("tags come back only when the others have had their turn") {
  Tags tags(9);
  CHECK(tags.reserve(4) == 0);
  CHECK(tags.reserve(4) == 4);
  tags.release(0);
  CHECK(tags.reserve(2) == 8);
  CHECK(tags.reserve(3) == 0);
  CHECK(message_of([&] { tags.reserve(2); }, quarkstar::ErrorKind::environment).find("10 tags") != std::string::npos);
  CHECK(tags.reserve(1) == 3);
  tags.release(4);
  CHECK(tags.reserve(4) == 4);
}

TEST_CASE("no two users have one tag, and ranks agree") {
  constexpr int highest = 199;
  constexpr unsigned seed = 20261122;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Tags tags(highest), of_other_rank(highest);
  struct Range {
    int first, count;
  };
  std::vector<Range> live;
  for (int step = 0; step < 2000; ++step) {
    if (live.size() > 6 || (!live.empty() && random() % 2 == 0)) {
      const auto gone = live.begin() + static_cast<std::ptrdiff_t>(random() % live.size());
      tags.release(gone->first);
      of_other_rank.release(gone->first);
      live.erase(gone);
      continue;
    }
    const int count = 1 + static_cast<int>(random() % 12);
    const int first = tags.reserve(count);
    CHECK(of_other_rank.reserve(count) == first);
    CHECK(first >= 0);
    CHECK(first + count <= highest + 1);
    CHECK(std::none_of(live.begin(), live.end(),
                       [&](const Range& range) { return range.first < first + count && first < range.first + range.count; }));
    live.push_back({first, count});
  }
}

}  // namespace tags_test
