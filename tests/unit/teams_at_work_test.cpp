// Simulated kernels of teams that share the memory of a domain.
#include "runtime/simulate/teams_at_work.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace teams_at_work_test {

using namespace quarkstar::runtime::simulate;

namespace {

struct Kernel {
  double begin;
  std::vector<double> us;
};

/// When each team's kernel ends if the teams do what actors would do: wait as long as they are told.
std::vector<double> ends_of(const std::vector<Kernel>& kernels) {
  TeamsAtWork at_work;
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> ends(kernels.size(), never), wakes;
  for (const Kernel& kernel : kernels) wakes.push_back(kernel.begin);
  std::vector<bool> started(kernels.size(), false);
  for (;;) {
    const auto first = std::min_element(wakes.begin(), wakes.end());
    const auto team = first - wakes.begin();
    const auto index = static_cast<std::size_t>(team);
    const double now = *first;
    if (now == never) return ends;
    if (!started[index]) at_work.start(static_cast<int>(team), kernels[index].us, now);
    started[index] = true;
    const double wait = at_work.wait_us(static_cast<int>(team), now);
    if (wait == 0) ends[index] = now;
    wakes[index] = wait > 0 ? now + wait : never;
  }
}

}  // namespace

TEST_CASE("teams at work share their domain only with those that are at work too") {
  CHECK(ends_of({{5, {10, 20}}})[0] == doctest::Approx(15));
  // Memory decides, two teams: both together as long as one after the other; the one that is left gets all of the
  // memory.
  const std::vector<double> both = ends_of({{0, {10, 20}}, {0, {4, 8}}});
  CHECK(both[1] == doctest::Approx(8));
  CHECK(both[0] == doctest::Approx(14));
  // 6 alone, then 8 at half speed are 10; the other has 8 of 14 by then.
  const std::vector<double> late = ends_of({{0, {10, 20}}, {6, {14, 28}}});
  CHECK(late[0] == doctest::Approx(14));
  CHECK(late[1] == doctest::Approx(24));
  // Arithmetic decides: nobody minds the other.
  const std::vector<double> apart = ends_of({{0, {10, 10}}, {3, {4, 4}}});
  CHECK(apart[0] == doctest::Approx(10));
  CHECK(apart[1] == doctest::Approx(7));
  // Three teams, of which the memory feeds two, until the one that only computes has ended at 8: 8/9 and 8/12 are done,
  // and the rest goes at full speed.
  const std::vector<double> three = ends_of({{0, {6, 6, 9}}, {0, {8, 8, 12}}, {0, {8, 8}}});
  CHECK(three[2] == doctest::Approx(8));
  CHECK(three[0] == doctest::Approx(8 + 6 / 9.0));
  CHECK(three[1] == doctest::Approx(8 + 8 / 3.0));
  CHECK(ends_of({{3, {0}}})[0] == doctest::Approx(3));
}

TEST_CASE("teams at work: whatever begins when, the memory moves all bytes at its speed while somebody is at work") {
  // Kernels that wait for memory only: T(k) = k T(1), so the work T(1) of all is done at rate 1 while one of them is at
  // work.
  constexpr std::uint32_t seed = 20261123;
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(1, 100);
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    std::vector<Kernel> kernels;
    for (int team = 0; team < 6; ++team) {
      const double alone = uniform(random);
      std::vector<double> us;
      for (int teams = 1; teams <= 6; ++teams) us.push_back(alone * teams);
      kernels.push_back({3 * uniform(random), us});
    }
    const std::vector<double> ends = ends_of(kernels);
    std::sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) { return a.begin < b.begin; });
    double free_at = 0;
    for (const Kernel& kernel : kernels) free_at = std::max(free_at, kernel.begin) + kernel.us.front();
    CHECK(*std::max_element(ends.begin(), ends.end()) == doctest::Approx(free_at).epsilon(1e-3));
  }
}

}  // namespace teams_at_work_test
