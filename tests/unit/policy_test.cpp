// Scheduling policies: whichever places the tasks, the outcome is that of the sequential program.
#include "runtime/policy/policy.hpp"

#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::runtime;
using runtime_testing::Gate;
using runtime_testing::options;
using runtime_testing::Script;

namespace {

constexpr std::uint64_t seed = 20261201;

/// One task of a random program over numbered handles.
struct Step {
  struct Use {
    std::size_t handle;
    Access::Mode mode;
  };
  std::vector<Use> uses;
  bool urgent;
};

std::vector<Step> random_program(std::size_t steps, std::size_t handles, std::mt19937_64& engine) {
  std::vector<Step> program(steps);
  for (Step& step : program) {
    std::vector<std::size_t> order(handles);
    for (std::size_t h = 0; h < handles; ++h) order[h] = h;
    std::shuffle(order.begin(), order.end(), engine);
    const std::size_t count = 1 + engine() % 4;
    for (std::size_t i = 0; i < count; ++i) {
      const Access::Mode modes[] = {Access::Mode::in, Access::Mode::in, Access::Mode::out, Access::Mode::inout};
      step.uses.push_back({order[i], modes[engine() % 4]});
    }
    step.urgent = engine() % 3 == 0;
  }
  return program;
}

/// What a step does to the values it uses; depends on all that it may read and on its number, so that no order but the
/// program's gives the same values.
void perform(const Step& step, std::size_t number, const std::vector<std::uint64_t*>& values) {
  std::uint64_t hash = number + 1;
  for (std::size_t i = 0; i < step.uses.size(); ++i)
    if (step.uses[i].mode != Access::Mode::out) hash = (hash ^ *values[i]) * 0x9e3779b97f4a7c15ull + (hash >> 29);
  for (std::size_t i = 0; i < step.uses.size(); ++i)
    if (step.uses[i].mode != Access::Mode::in) *values[i] = hash + i;
}

bool conflict(const Step& a, const Step& b) {
  for (const Step::Use& u : a.uses)
    for (const Step::Use& v : b.uses)
      if (u.handle == v.handle && (u.mode != Access::Mode::in || v.mode != Access::Mode::in)) return true;
  return false;
}

void check_random_program(const std::string& policy, int workers, std::mt19937_64& engine) {
  constexpr std::size_t handle_count = 8, steps = 150;
  const std::vector<Step> program = random_program(steps, handle_count, engine);
  std::vector<std::uint64_t> expected(handle_count, 5);
  for (std::size_t n = 0; n < steps; ++n) {
    std::vector<std::uint64_t*> values;
    for (const Step::Use& use : program[n].uses) values.push_back(&expected[use.handle]);
    perform(program[n], n, values);
  }

  const Session session(options(workers, 1, policy));
  std::deque<Handle> handles;
  for (std::size_t h = 0; h < handle_count; ++h) {
    handles.emplace_back(8);
    *HostView<std::uint64_t>(handles.back(), HostAccess::overwrite) = 5;
  }
  std::atomic<int> clock{0};
  std::vector<int> begin(steps), end(steps);
  {
    Script script;
    for (std::size_t n = 0; n < steps; ++n) {
      AccessList accesses;
      for (const Step::Use& use : program[n].uses) accesses.push_back({&handles[use.handle], use.mode});
      const Placement placement{.owner = static_cast<int>(n) % workers, .block = -1, .urgent = program[n].urgent};
      script.submit(
          [&, n](Call& call) {
            begin[n] = ++clock;
            std::vector<std::uint64_t*> values;
            for (std::size_t i = 0; i < program[n].uses.size(); ++i)
              values.push_back(call.buffer<std::uint64_t>(static_cast<int>(i)));
            perform(program[n], n, values);
            end[n] = ++clock;
          },
          accesses, placement, {1e3, 1e3});
    }
  }
  for (std::size_t h = 0; h < handle_count; ++h) CHECK(*HostView<std::uint64_t>(handles[h]) == expected[h]);
  int out_of_order = 0;
  for (std::size_t a = 0; a < steps; ++a)
    for (std::size_t b = a + 1; b < steps; ++b) out_of_order += conflict(program[a], program[b]) && end[a] > begin[b];
  CHECK(out_of_order == 0);
}

/// Names of tasks in the order in which a single worker ran them, the first of which held it until all were submitted.
std::string order_on_one_worker(const std::string& policy, const std::string& ordinary, const std::string& urgent) {
  const Session session(options(1, 1, policy));
  Gate gate;
  std::string order;
  {
    Script script;
    script.submit([&](Call&) { gate.wait(); });
    for (const char name : ordinary) script.submit([&order, name](Call&) { order += name; });
    for (const char name : urgent) script.submit([&order, name](Call&) { order += name; }, {}, {.urgent = true});
    gate.open();
  }
  return order;
}

}  // namespace

TEST_CASE("policies by name") {
  const std::vector<std::string> names = policy_names();
  const auto known = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  CHECK(names.front() == "static");
  for (const char* name : {"eager", "lws", "prio", "dmda", "dmdas"}) CHECK(known(name));
  for (const std::string& name : names) CHECK(is_policy(name));
  CHECK(is_policy("modular-eager"));  // taken, though not offered
  CHECK_FALSE(known("modular-eager"));
  CHECK_FALSE(is_policy("lucky"));
  CHECK_FALSE(is_policy(""));
  CHECK(std::count(names.begin(), names.end(), "static") == 1);
  CHECK(find_own_policy("static") == &static_policy());
  CHECK(find_own_policy("eager") == nullptr);
  for (const OwnPolicy& own : own_policies()) CHECK_FALSE(own.description.empty());
}

TEST_CASE("every policy runs a random program as if in sequence") {
  INFO("seed " << seed);
  std::mt19937_64 engine(seed);
  for (const std::string& policy : policy_names()) {
    INFO(policy);
    for (const int workers : {1, 3}) check_random_program(policy, workers, engine);
  }
}

TEST_CASE("urgent tasks overtake ordinary ones that wait for the same worker") {
  for (const std::string policy : {"static", "prio"}) {
    INFO(policy);
    CHECK(order_on_one_worker(policy, "abcde", "XYZ") == "XYZabcde");
  }
}

TEST_CASE("static runs every task on its owner, others may not") {
  constexpr int workers = 3;
  const Session session(options(workers, 1, "static"));
  std::vector<int> ran(60, -1);
  {
    Script script;
    for (int task = 0; task < 60; ++task)
      script.submit([&ran, task](Call& call) { ran[static_cast<std::size_t>(task)] = call.worker(); }, {},
                    {.owner = task * 7 % workers, .block = task, .urgent = task % 5 == 0});
  }
  for (int task = 0; task < 60; ++task) CHECK(ran[static_cast<std::size_t>(task)] == task * 7 % workers);
}

TEST_CASE("static runs the tasks of an owner that the session lacks elsewhere") {
  const Session session(options(2, 1, "static"));
  std::atomic<int> ran{0};
  {
    Script script;
    for (const int owner : {2, 7, 100, 143, 144, 1 << 20, -1, -1000})
      script.submit([&](Call& call) { ran += call.worker() >= 0 && call.worker() < 2; }, {}, {.owner = owner});
  }
  CHECK(ran == 8);
}
