#include "runtime/gpu/lane_schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <random>

namespace lane_schedule_test {

using namespace quarkstar::runtime;

namespace {

using Use = ScheduleStep::Use;
Use reads(int buffer) { return {buffer, true, false}; }
Use writes(int buffer) { return {buffer, false, true}; }
Use updates(int buffer) { return {buffer, true, true}; }
Use updates_apart(int buffer) { return {buffer, true, true, true}; }

/// after[i][j]: step i begins after step j has ended, as follows from lanes, waits and exchanges alone.
std::vector<std::vector<bool>> order_of(const LaneSchedule& schedule) {
  const std::size_t n = schedule.steps.size();
  std::vector<std::vector<bool>> after(n, std::vector<bool>(n, false));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<int> direct = schedule.steps[i].waits;
    for (std::size_t j = 0; j < i; ++j)
      if (schedule.steps[j].lane == schedule.steps[i].lane) direct.push_back(static_cast<int>(j));
    for (const int j : direct) {
      after[i][static_cast<std::size_t>(j)] = true;
      // What had ended when j ended: before it began, or before those began that it met.
      std::vector<int> begun = schedule.steps[static_cast<std::size_t>(j)].meets;
      begun.push_back(j);
      for (const int b : begun)
        for (std::size_t k = 0; k < n; ++k)
          if (after[static_cast<std::size_t>(b)][k]) after[i][k] = true;
    }
  }
  return after;
}

/// Whether b, later than a, must wait for it; of two writers of which the later writes apart, that is left to the case below.
bool conflict(const LaneSchedule& schedule, const std::vector<ScheduleStep>& steps, const ScheduledStep& a, const ScheduledStep& b) {
  const auto is_elsewhere = [&](const ScheduledStep& at, const Use& use) {
    const auto buffer = static_cast<std::size_t>(use.buffer);
    return steps[static_cast<std::size_t>(at.step)].exchanges && !schedule.copied[buffer] && schedule.home[buffer] != at.device;
  };
  for (const Use& x : steps[static_cast<std::size_t>(a.step)].uses)
    for (const Use& y : steps[static_cast<std::size_t>(b.step)].uses) {
      if (x.buffer != y.buffer || (!x.writes && !y.writes) || (x.writes && y.apart)) continue;
      if (is_elsewhere(a, x) || is_elsewhere(b, y)) continue;
      if (!schedule.copied[static_cast<std::size_t>(x.buffer)] || a.device == b.device) return true;
    }
  return false;
}

/// Forty steps on some of these buffers, of which the first `states` are written everywhere and only there. exchanges:
/// some of those that are taken everywhere exchange.
std::vector<ScheduleStep> random_program(std::mt19937& random, int devices, int buffers, int states, bool exchanges) {
  const auto below = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<ScheduleStep> steps;
  for (int i = 0; i < 40; ++i) {
    ScheduleStep step;
    step.device = below(devices);
    step.everywhere = below(5) == 0;
    step.exchanges = exchanges && step.everywhere && devices > 1 && below(2) == 0;
    std::vector<int> of;
    for (int u = below(4) + 1; u > 0; --u) of.push_back(below(buffers));
    std::sort(of.begin(), of.end());
    of.erase(std::unique(of.begin(), of.end()), of.end());
    for (const int buffer : of) {
      const bool writable = step.everywhere == (buffer < states);
      const int kind = writable ? below(step.everywhere ? 3 : 4) : 0;
      step.uses.push_back(kind == 0 ? reads(buffer) : kind == 1 ? writes(buffer) : kind == 2 ? updates(buffer) : updates_apart(buffer));
    }
    steps.push_back(step);
  }
  return steps;
}

/// A hopping term on two devices with one block each: buffers in, out (2 each), face towards each, state.
std::vector<ScheduleStep> hopping(int in, int out, int faces, int state) {
  return {{0, false, {reads(in), writes(faces + 1), reads(state)}},
          {1, false, {reads(in + 1), writes(faces), reads(state)}},
          {0, false, {reads(in), writes(out), reads(state)}},
          {1, false, {reads(in + 1), writes(out + 1), reads(state)}},
          {0, false, {reads(in), updates_apart(out), reads(faces), reads(state)}},
          {1, false, {reads(in + 1), updates_apart(out + 1), reads(faces + 1), reads(state)}}};
}

}  // namespace

TEST_CASE("lane schedule: conflicting steps of random programs are ordered, and no wait is superfluous") {
  const unsigned seed = 20261121;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const auto below = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int orders = 0, meetings = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int devices = 1 + below(4), buffers = 4 + below(12), states = 1 + below(2);
    const std::vector<ScheduleStep> steps = random_program(random, devices, buffers, states, true);
    const auto schedule = schedule_lanes(steps, devices, buffers, trial % 2 == 0);
    REQUIRE(schedule);
    const auto after = order_of(*schedule);
    for (std::size_t i = 0; i < schedule->steps.size(); ++i) {
      const ScheduledStep& later = schedule->steps[i];
      for (std::size_t j = 0; j < i; ++j)
        if (conflict(*schedule, steps, schedule->steps[j], later)) {
          CHECK(after[i][j]);
          ++orders;
        }
      for (const int wait : later.waits) {
        const std::vector<int>& on = schedule->steps[static_cast<std::size_t>(wait)].awaited_on;
        CHECK(std::count(on.begin(), on.end(), later.device) == 1);
        LaneSchedule without = *schedule;
        std::erase(without.steps[i].waits, wait);
        CHECK_FALSE(order_of(without)[i][static_cast<std::size_t>(wait)]);
      }
    }
    // Every step runs once on its device, or once on every device.
    for (std::size_t s = 0; s < steps.size(); ++s) {
      std::vector<int> on;
      for (const ScheduledStep& scheduled : schedule->steps)
        if (scheduled.step == static_cast<int>(s)) on.push_back(scheduled.device);
      CHECK(static_cast<int>(on.size()) == (steps[s].everywhere ? devices : 1));
      if (!steps[s].everywhere) CHECK(on.front() == steps[s].device);
    }
    // Steps meet the same step on all other devices, side by side in the list, in main lanes, and none needs another's
    // end.
    for (std::size_t i = 0; i < schedule->steps.size(); ++i) {
      const ScheduledStep& step = schedule->steps[i];
      const bool exchanges = steps[static_cast<std::size_t>(step.step)].exchanges;
      CHECK(step.meets.size() == (exchanges ? static_cast<std::size_t>(devices - 1) : 0));
      for (const int other : step.meets) {
        const ScheduledStep& there = schedule->steps[static_cast<std::size_t>(other)];
        CHECK(there.step == step.step);
        CHECK(other - static_cast<int>(i) == there.device - step.device);
        CHECK(step.lane == step.device * LaneSchedule::lanes_a_device);
        CHECK_FALSE(after[i][static_cast<std::size_t>(other)]);
        ++meetings;
      }
    }
  }
  CHECK(meetings > 500);
  CHECK(orders > 10000);
}

TEST_CASE("lane schedule: a hopping term over two devices writes faces at their reader, beside the interior") {
  const int in = 0, out = 2, faces = 4, state = 6;
  std::vector<ScheduleStep> steps = hopping(in, out, faces, state);
  steps.push_back({0, true, {updates(state)}});
  const auto schedule = schedule_lanes(steps, 2, 7);
  REQUIRE(schedule);
  CHECK(schedule->home == std::vector<int>{0, 1, 0, 1, 0, 1, 0});
  CHECK(schedule->copied == std::vector<bool>{false, false, false, false, false, false, true});
  REQUIRE(schedule->steps.size() == 8);
  for (int device = 0; device < 2; ++device) {
    const auto at = [&](int step) { return schedule->steps[static_cast<std::size_t>(step + device)]; };
    const int pack = 0, interior = 2, boundary = 4, scalar = 6, other = 1 - device;
    CHECK(at(pack).lane == 2 * device + 1);
    CHECK(at(interior).lane == 2 * device);
    CHECK(at(boundary).lane == 2 * device + 1);
    CHECK(at(scalar).lane == 2 * device);
    CHECK(at(pack).waits.empty());
    CHECK(at(interior).waits.empty());
    CHECK(at(boundary).waits == std::vector<int>{pack + other});  // and not for the interior
    // The scalar step overwrites the state that this device's pack and boundary read.
    CHECK(at(scalar).waits == std::vector<int>{boundary + device});
  }
}

TEST_CASE("lane schedule: in an exchange a device waits for its own steps only, and knows of the others' afterwards") {
  const int in = 0, out = 2, faces = 4, state = 6, sums = 7;
  std::vector<ScheduleStep> steps = hopping(in, out, faces, state);
  for (const int i : {4, 5}) steps[static_cast<std::size_t>(i)].uses.push_back(writes(sums + i - 4));
  steps.push_back({0, true, {updates(state), reads(sums), reads(sums + 1)}, false, true});
  // What device 1 has read is known to device 0 by then: it may overwrite the face and its own field.
  steps.push_back({0, false, {writes(faces + 1), reads(in), reads(state)}});
  steps.push_back({0, false, {writes(out), reads(state)}});
  const auto schedule = schedule_lanes(steps, 2, 9);
  REQUIRE(schedule);
  CHECK(schedule->home[sums] == 0);
  CHECK(schedule->home[sums + 1] == 1);
  REQUIRE(schedule->steps.size() == 10);
  const auto& at = schedule->steps;
  for (int device = 0; device < 2; ++device) {
    const ScheduledStep& boundary = at[static_cast<std::size_t>(4 + device)];
    const ScheduledStep& scalar = at[static_cast<std::size_t>(6 + device)];
    CHECK(scalar.waits == std::vector<int>{4 + device});
    CHECK(scalar.meets == std::vector<int>{7 - device});
    CHECK(boundary.awaited_on == std::vector<int>{device});
    CHECK(scalar.lane == 2 * device);
  }
  // The pack in the side lane waits for its device's scalar step alone, which implies that device 1 has read the face
  // before.
  CHECK(at[8].lane == 1);
  CHECK(at[8].waits == std::vector<int>{6});
  CHECK(at[9].waits.empty());
  CHECK(at[6].awaited_on == std::vector<int>{0});
  CHECK(at[7].awaited_on.empty());
}

TEST_CASE("lane schedule: what follows writers that write apart waits for all of them") {
  // Device 1 gives 0 a face; the second application reads what interior and boundary wrote.
  const auto schedule = schedule_lanes({{0, false, {reads(0)}},
                                        {1, false, {writes(1)}},
                                        {0, false, {writes(0)}},
                                        {0, false, {updates_apart(0), reads(1)}},
                                        {0, false, {reads(0), writes(2)}},
                                        {0, false, {writes(0)}}},
                                       2, 3);
  REQUIRE(schedule);
  CHECK(schedule->steps[3].lane == 1);
  CHECK(schedule->steps[3].waits == std::vector<int>{1, 0});  // the reader before both writers, and the face
  CHECK(schedule->steps[4].waits == std::vector<int>{3});
  CHECK(schedule->steps[5].waits.empty());
}

TEST_CASE("lane schedule: an ordinary step may not write what is written everywhere") {
  CHECK_FALSE(schedule_lanes({{0, true, {updates(0)}}, {1, false, {writes(0)}}}, 2, 1));
}

TEST_CASE("lane schedule: what is exchanged with others runs in the side lane of one device too") {
  // A hopping term whose faces come from elsewhere: pack, interior, boundary.
  std::vector<ScheduleStep> steps{{0, false, {reads(0), writes(2)}, true},
                                  {0, false, {reads(0), writes(1)}, false},
                                  {0, false, {reads(0), updates_apart(1), reads(3)}, true},
                                  {0, false, {updates(1)}, false}};
  const auto schedule = schedule_lanes(steps, 1, 4);
  REQUIRE(schedule);
  CHECK(schedule->steps[0].lane == 1);
  CHECK(schedule->steps[1].lane == 0);
  CHECK(schedule->steps[2].lane == 1);
  CHECK(schedule->steps[2].waits.empty());
  CHECK(schedule->steps[3].lane == 0);
  CHECK(schedule->steps[3].waits == std::vector<int>{2});
  const auto one_lane = schedule_lanes(steps, 1, 4, false);
  REQUIRE(one_lane);
  for (const ScheduledStep& step : one_lane->steps) CHECK(step.lane == 0);
}

TEST_CASE("segments: every step once, conflicting steps in order, waits only at the begin and words to others only at the end") {
  const unsigned seed = 20261122;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  int joined = 0, orders = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int devices = 1 + static_cast<int>(random() % 4), buffers = 4 + static_cast<int>(random() % 12),
              states = 1 + static_cast<int>(random() % 2);
    const std::vector<ScheduleStep> steps = random_program(random, devices, buffers, states, false);
    const auto schedule = schedule_lanes(steps, devices, buffers, trial % 2 == 0);
    REQUIRE(schedule);
    const std::vector<LaneSegment> segments = segments_of(*schedule);
    std::vector<int> segment_of(schedule->steps.size(), -1);
    for (std::size_t s = 0; s < segments.size(); ++s) {
      const std::vector<int>& of = segments[s].steps;
      REQUIRE_FALSE(of.empty());
      joined += of.size() > 1 ? 1 : 0;
      for (std::size_t i = 0; i < of.size(); ++i) {
        const ScheduledStep& step = schedule->steps[static_cast<std::size_t>(of[i])];
        CHECK(step.device == segments[s].device);
        CHECK(step.lane == schedule->steps[static_cast<std::size_t>(of[0])].lane);
        CHECK((i == 0 || (step.waits.empty() && of[i] > of[i - 1])));
        CHECK((i + 1 == of.size() || step.awaited_on.empty()));
        CHECK(segment_of[static_cast<std::size_t>(of[i])] == -1);
        segment_of[static_cast<std::size_t>(of[i])] = static_cast<int>(s);
      }
    }
    for (std::size_t i = 0; i < schedule->steps.size(); ++i) {
      CHECK(segment_of[i] >= 0);
      for (std::size_t j = 0; j < i; ++j)
        if (conflict(*schedule, steps, schedule->steps[j], schedule->steps[i])) {
          CHECK(segment_of[j] <= segment_of[i]);
          ++orders;
        }
    }
  }
  CHECK(joined > 100);
  CHECK(orders > 10000);
}

TEST_CASE("segments: boundary, next pack and what lies between two exchanges are one task, interiors stay alone") {
  // Two hopping terms with faces of their own, sums of the second, a scalar step, a vector operation that reads the state.
  const int in = 0, middle = 2, out = 4, faces = 6, sums = 10, state = 12;
  std::vector<ScheduleStep> steps = hopping(in, middle, faces, state), second = hopping(middle, out, faces + 2, state);
  for (const int i : {4, 5}) second[static_cast<std::size_t>(i)].uses.push_back(writes(sums + i - 4));
  steps.insert(steps.end(), second.begin(), second.end());
  steps.push_back({0, true, {reads(sums), reads(sums + 1), updates(state)}});
  for (const int device : {0, 1}) steps.push_back({device, false, {reads(out + device), updates(in + device), reads(state)}});
  const auto schedule = schedule_lanes(steps, 2, 13, false);
  REQUIRE(schedule);
  std::vector<std::vector<int>> of_first;
  for (const LaneSegment& segment : segments_of(*schedule)) {
    if (segment.device != 0) continue;
    of_first.emplace_back();
    for (const int i : segment.steps) of_first.back().push_back(schedule->steps[static_cast<std::size_t>(i)].step);
  }
  // pack | interior | boundary, pack | interior | boundary with sums | scalar step, vector operation
  CHECK(of_first == std::vector<std::vector<int>>{{0}, {2}, {4, 6}, {8}, {10}, {12, 13}});
}

}  // namespace lane_schedule_test
