// Scheduling policies: whichever places the tasks, the outcome is that of the sequential program.
#include "runtime/policy/policy.hpp"

#include "runtime/policy/energy_choice.hpp"
#include "runtime/policy/policy_library.hpp"
#include "runtime/policy/steal.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/power.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace policy_test {

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
            for (std::size_t i = 0; i < program[n].uses.size(); ++i) values.push_back(call.buffer<std::uint64_t>(static_cast<int>(i)));
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
  for (const char* name : {"graph_test", "pheft", "dmdasd", "modular-heteroprio", "modular-eager"})
    CHECK_FALSE(is_policy(name));  // they may abort
  CHECK_FALSE(is_policy("lucky"));
  CHECK_FALSE(is_policy(""));
  CHECK(std::count(names.begin(), names.end(), "static") == 1);
  CHECK(find_own_policy("static") == &static_policy());
  CHECK(find_own_policy("eager") == nullptr);
  for (const char* name : {"static-unfused", "adaptive", "halo-first", "energy"}) CHECK(find_own_policy(name) != nullptr);
  CHECK(keeps_owners("static"));
  CHECK(keeps_owners("adaptive"));
  CHECK_FALSE(keeps_owners("halo-first"));
  CHECK_FALSE(keeps_owners("static-unfused"));  // each of its tasks is to be seen
  CHECK_FALSE(fuses_batches("static-unfused"));
  CHECK_FALSE(keeps_owners("dmdas"));
  CHECK(is_policy_library("./libmine.so"));
  CHECK(is_policy_library("libmine.so"));
  CHECK(is_policy_library("folder/mine"));
  CHECK_FALSE(is_policy_library("static"));
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
  for (const std::string policy : {"static", "static-unfused", "adaptive", "halo-first", "prio"}) {
    INFO(policy);
    CHECK(order_on_one_worker(policy, "abcde", "XYZ") == "XYZabcde");
  }
}

TEST_CASE("static, static-unfused and adaptive run every task on its owner, others may not") {
  constexpr int workers = 3;
  const char* policy = nullptr;
  SUBCASE("static") { policy = "static"; }
  SUBCASE("static-unfused") { policy = "static-unfused"; }
  SUBCASE("adaptive") { policy = "adaptive"; }
  const Session session(options(workers, 1, policy));
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

TEST_CASE("halo-first: among urgent tasks the shortest comes first") {
  const Session session(options(1, 1, "halo-first"));
  Gate gate;
  std::string order;
  {
    Script script;
    script.submit([&](Call&) { gate.wait(); });
    const auto add = [&](char name, double bytes, bool urgent) {
      script.submit([&order, name](Call&) { order += name; }, {}, {.urgent = urgent}, {0, bytes});
    };
    add('i', 1e3, false);  // an interior, however short
    add('b', 8e9, true);   // a boundary
    add('p', 1e9, true);   // a pack
    add('j', 1e3, false);
    gate.open();
  }
  CHECK(order == "pbij");
}

TEST_CASE("halo-first: an idle worker takes a long task that its owner would end much later") {
  const Session session(options(2, 1, "halo-first"));
  Gate second_runs;
  bool in_time = false;
  {
    Script script;
    const Placement owned{.owner = 0};
    constexpr Cost long_task{0, 5e9};
    // The owner holds the first until the second has begun, which only the other worker can bring about.
    script.submit([&](Call&) { in_time = second_runs.wait(); }, {}, owned, long_task);
    script.submit([&](Call&) { second_runs.open(); }, {}, owned, long_task);
  }
  CHECK(in_time);
}

TEST_CASE("stealing pays where the thief ends clearly earlier, the way of the data included") {
  CHECK(gain_of_stealing({.owner_begins_us = 100, .owner_takes_us = 100, .thief_takes_us = 100}, 0) == doctest::Approx(100));
  CHECK(gain_of_stealing({.owner_begins_us = 0, .owner_takes_us = 100, .thief_takes_us = 100}, 0) == 0);  // the owner is free
  CHECK(gain_of_stealing({.owner_begins_us = 100, .owner_takes_us = 100, .thief_takes_us = 100, .moving_us = 95}, 0) == 0);
  CHECK(gain_of_stealing({.owner_begins_us = 105, .owner_takes_us = 1000, .thief_takes_us = 1000}, 0) == doctest::Approx(105));
  CHECK(gain_of_stealing({.owner_begins_us = 95, .owner_takes_us = 1000, .thief_takes_us = 1000}, 0) == 0);  // within a tenth
  CHECK(gain_of_stealing({.owner_begins_us = 100, .owner_takes_us = 100, .thief_takes_us = 100}, 90) == 0);  // nearly free by now
  CHECK(gain_of_stealing({.owner_begins_us = 0, .owner_takes_us = 900, .thief_takes_us = 100}, 0) == doctest::Approx(800));  // a slow owner
}

TEST_CASE("the fewest joules: an inefficient device works only where that saves idle power") {
  // A GPU that needs 1 us and 400 W more, a CPU that needs 20 us and 100 W more: 400 against 2000 W us.
  std::vector<EnergyCandidate> candidates{{.worker = 0, .takes_us = 1, .extra_watts = 400},
                                          {.worker = 1, .takes_us = 20, .extra_watts = 100, .owner = true}};
  CHECK(least_energy(candidates, 0, 0) == 0);
  CHECK(least_energy(candidates, 0, 200) == 0);
  // The GPU is busy for another 40 us: to wait for it prolongs all by 1 us, the CPU ends within those 40 us. 400 + base against 2000.
  candidates[0].free_at_us = 40;
  CHECK(least_energy(candidates, 40, 500) == 0);
  CHECK(least_energy(candidates, 40, 2000) == 1);
  // Equal workers: the owner, unless it has work and the other has none.
  std::vector<EnergyCandidate> equal{{.worker = 0, .takes_us = 10, .extra_watts = 100},
                                     {.worker = 1, .takes_us = 10, .extra_watts = 100, .owner = true}};
  CHECK(least_energy(equal, 0, 300) == 1);
  equal[1].free_at_us = 10;
  CHECK(least_energy(equal, 10, 300) == 0);
}

TEST_CASE("watts as text") {
  const MachinePower power = parse_power("cuda=75:500,host=80,cpu=1.5:2.5", "--watts");
  CHECK(power.cpu.idle == 1.5);
  CHECK(power.cpu.busy == 2.5);
  CHECK(power.cuda.idle == 75);
  CHECK(power.cuda.busy == 500);
  CHECK(power.host == 80);
  CHECK(power.origin == "given");
  CHECK(parse_power("host=5", "--watts").cpu.busy == MachinePower().cpu.busy);
  for (const char* wrong : {"cpu", "cpu=5", "cpu=5:", "cpu=:5", "cpu=9:5", "tpu=1:2", "host=-1", "host=much", "cpu=1:2:3", "host=nan", ","})
    CHECK_THROWS_AS(parse_power(wrong, "--watts"), Error);
}

TEST_CASE("the watts of all CPUs are divided among their workers") {
  SessionOptions asked = options(2, 1, "energy");
  asked.power = {{40, 100}, {75, 500}, 30, "given"};
  const Session session(asked);
  double busy = 0;
  for (const Worker& worker : session.workers()) busy += worker.power.busy;
  CHECK(busy == doctest::Approx(100));
  CHECK(session.host_watts() == 30);
}

TEST_CASE("a measurement of one worker has its tasks there, whatever the policy") {
  for (const std::string& policy : policy_names()) {
    CAPTURE(policy);
    Session session(options(2, 1, policy));
    std::vector<int> ran(40, -1);
    const auto submit_all = [&](int owner) {
      Script script;
      for (int& worker : ran) script.submit([&worker](Call& call) { worker = call.worker(); }, {}, {.owner = owner});
    };
    for (const int owner : {0, 1}) {
      const OnOwners here(session);
      CHECK(session.keeps_owners());
      submit_all(owner);
      CHECK(std::all_of(ran.begin(), ran.end(), [owner](int worker) { return worker == owner; }));
    }
    CHECK(session.keeps_owners() == keeps_owners(policy));
    submit_all(0);
    CHECK(std::all_of(ran.begin(), ran.end(), [](int worker) { return worker == 0 || worker == 1; }));
  }
}

}  // namespace policy_test
