// The laboratory's matrix: expansion, order, files, and what is refused.
#include "apps/lab/run.hpp"
#include "codelets/actions/action_kind.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace lab_plan_test {

using namespace quarkstar;
using namespace quarkstar::app;
using namespace quarkstar::app::lab;
using quarkstar::testing::TemporaryFolder;

namespace {

Plan plan_with(const std::vector<Axis>& axes, const std::vector<Assignment>& fixed = {}) {
  Plan plan;
  plan.gauge = "lat.1000";
  plan.axes = axes;
  plan.fixed = fixed;
  return plan;
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> left_out, names;
  for (const Cell& cell : cells_of(plan, left_out)) names.push_back(cell.name());
  return names;
}

std::string refusal_of(const Plan& plan) {
  try {
    check(plan);
    std::vector<std::string> left_out;
    cells_of(plan, left_out);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a matrix is the product of its axes, the last one fastest") {
  const Plan plan = plan_with({{"policy", {"static", "eager"}, "--policy"}, {"blocks", {"1,1,1,2", "1,1,2,2"}, "--blocks"}},
                              {{"kappa", "0.12", "--set kappa"}});
  CHECK(names_of(plan) == std::vector<std::string>{"policy=static blocks=1,1,1,2", "policy=static blocks=1,1,2,2",
                                                   "policy=eager blocks=1,1,1,2", "policy=eager blocks=1,1,2,2"});
  std::vector<std::string> left_out;
  const std::vector<Cell> cells = cells_of(plan, left_out);
  CHECK(left_out.empty());
  CHECK(cells[2].settings == Settings{{"kappa", "0.12"}, {"policy", "eager"}, {"blocks", "1,1,1,2"}, {"columns", "0"}});
  CHECK(names_of(plan_with({})) == std::vector<std::string>{"-"});
}

TEST_CASE("settings of another action are left out of a cell, alike cells count once, impossible ones are named") {
  const Plan plan =
      plan_with({{"action", {"wilson", "hisq"}, "--action"}, {"nrhs", {"1", "4"}, "--nrhs"}, {"solver", {"bicgstab", "cg"}, "--solver"}},
                {{"kappa", "0.12", "--set kappa"}, {"naik-epsilon", "0", "--set naik-epsilon"}});
  std::vector<std::string> left_out;
  const std::vector<Cell> cells = cells_of(plan, left_out);
  REQUIRE(cells.size() == 4);
  CHECK(cells[0].name() == "action=wilson nrhs=1 solver=bicgstab");
  CHECK(cells[1].name() == "action=wilson nrhs=4 solver=bicgstab");
  CHECK(cells[2].name() == "action=hisq nrhs=1 solver=cg");
  CHECK(cells[3].name() == "action=hisq nrhs=4 solver=cg");
  CHECK(find(cells[2].settings, "kappa") == nullptr);
  CHECK(find(cells[0].settings, "naik-epsilon") == nullptr);
  REQUIRE(left_out.size() == 4);
  CHECK(left_out[0].starts_with("action=wilson nrhs=1 solver=cg: solver: 'cg' is not for the action wilson"));
}

TEST_CASE("wrong keys and values are named with their place") {
  CHECK(refusal_of(plan_with({{"policy", {"static", "nonsense"}, "run.toml:3: policy"}}))
            .starts_with("run.toml:3: policy: 'nonsense' is unknown"));
  CHECK(refusal_of(plan_with({{"polcy", {"static"}, "--vary polcy"}})).starts_with("--vary polcy: unknown key"));
  CHECK(refusal_of(plan_with({{"json", {"x"}, "--vary json"}})).starts_with("--vary json: json belongs to the lab"));
  CHECK(refusal_of(plan_with({{"lattice", {"4,4,4,4"}, "--lattice"}})).starts_with("--lattice: the configuration has its own extents"));
  CHECK(refusal_of(plan_with({{"policy", {"static"}, "--policy"}}, {{"policy", "eager", "--set policy"}}))
            .starts_with("--set policy: policy varies or is given twice"));
  CHECK(refusal_of(plan_with({{"machine", {"here", ""}, "--machine"}})).starts_with("--machine: no name"));
  CHECK(refusal_of(plan_with({{"machine", {"p8k40"}, "--machine"}})).starts_with("--machine: a simulation computes times and no numbers"));
  CHECK(refusal_of(plan_with({{"action", {"wilson"}, "--action"}, {"solver", {"cg"}, "--solver"}}))
            .starts_with("lab: no combination can run"));
  CHECK(refusal_of(plan_with({{"policy", {"static"}, "--policy"}})).empty());
  Plan bench = plan_with({{"tol", {"1e-8"}, "--vary tol"}});
  bench.workload = Workload::bench_solver;
  CHECK(refusal_of(bench).starts_with("--vary tol: bench solver has no tol"));
  bench = plan_with({{"solver", {"bicgstab", "gcr"}, "--solver"}}, {{"kappa", "0.12", ""}, {"throttle", "0:2", ""}});
  bench.workload = Workload::bench_solver;
  CHECK(refusal_of(bench).empty());
  for (const char* action : {"wilson", "hisq"})
    for (const std::string& solver : solver_names(kind_named(action).is_hermitian)) {
      INFO(solver);
      bench = plan_with({{"action", {action}, "--action"}, {"solver", {solver}, "--solver"}});
      bench.workload = Workload::bench_solver;
      CHECK(refusal_of(bench).empty());
    }
}

TEST_CASE("the order is drawn from the seed, group by group, and holds every run once") {
  Plan plan = plan_with({});
  plan.repetitions = 3;
  plan.warm_up = 2;
  plan.trace = true;
  std::vector<Cell> cells(4);
  const std::vector<PlannedRun> runs = runs_of(plan, cells, 7);
  REQUIRE(runs.size() == 4 * (2 + 3 + 1));
  std::set<std::tuple<std::size_t, RunKind, int>> seen;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    seen.emplace(runs[i].cell, runs[i].kind, runs[i].repetition);
    CHECK(runs[i].kind == (i < 8 ? RunKind::warm_up : i < 20 ? RunKind::measured : RunKind::traced));
  }
  CHECK(seen.size() == runs.size());
  const auto cells_in_order = [&](std::uint64_t seed) {
    std::vector<std::size_t> order;
    for (const PlannedRun& run : runs_of(plan, cells, seed)) order.push_back(run.cell);
    return order;
  };
  CHECK(cells_in_order(7) == cells_in_order(7));
  CHECK(cells_in_order(7) != cells_in_order(8));
  // Simulated cells: once, and traced; but those of a random policy as often as others.
  cells[0].settings = {{"machine", "h200"}};
  cells[1].settings = {{"machine", "h200"}, {"policy", "random"}};
  cells[2].settings = {{"machine", "here"}};
  std::vector<int> number(cells.size(), 0);
  for (const PlannedRun& run : runs_of(plan, cells, 7)) ++number[run.cell];
  CHECK(number == std::vector<int>{2, 6, 6, 6});
}

TEST_CASE("a plan is read from TOML") {
  const TemporaryFolder folder;
  quarkstar::testing::write_file(folder.file("run.toml"), R"(
gauge = "lat.1000"
repetitions = 3
traces = true
seed = 5
time-limit = 2.5
[solve]
source = ["point:0,0,0,0", "wall:2"]
kappa = 0.12
[vary]
policy = ["static", "eager"]
blocks = [[1, 1, 1, 2], "1,1,2,2"]
)");
  const Plan plan = read_plan(folder.file("run.toml"));
  CHECK(plan.gauge == "lat.1000");
  CHECK(plan.repetitions == 3);
  CHECK(plan.trace);
  CHECK(plan.seed == 5);
  CHECK(plan.limit_seconds == 2.5);
  REQUIRE(plan.axes.size() == 2);
  CHECK(plan.axes[0].key == "policy");
  CHECK(plan.axes[1].values == std::vector<std::string>{"1,1,1,2", "1,1,2,2"});
  CHECK(plan.axes[1].where == folder.file("run.toml") + ":12: blocks");
  REQUIRE(plan.fixed.size() == 2);
  CHECK(plan.fixed[0].value == "point:0,0,0,0+wall:2");
  CHECK(plan.fixed[1].value == "0.12");
  const auto refused = [&](const std::string& text) {
    quarkstar::testing::write_file(folder.file("bad.toml"), text);
    try {
      read_plan(folder.file("bad.toml"));
    } catch (const Error& error) {
      return std::string(error.what()).substr(folder.file("bad.toml").size());
    }
    return std::string();
  };
  CHECK(refused("repetition = 3\n").starts_with(":1: repetition: unknown key; use one of gauge, "));
  CHECK(refused("\nrepetitions = 0\n").starts_with(":2: repetitions: "));
  CHECK(refused("vary = 3\n").starts_with(":1: vary: this is a table"));
  CHECK(refused("[vary\n").starts_with(":1: "));
}

TEST_CASE("command lines of the runs") {
  Plan plan = plan_with({}, {{"kappa", "0.12", ""}, {"no-tune", "true", ""}, {"reunitarize", "false", ""}});
  std::vector<std::string> left_out;
  const auto words = [&](const Plan& p) {
    std::vector<std::string> command = command_of(p, cells_of(p, left_out).front(), RunKind::measured, "lat.1000", "r.json", "t.json");
    command.erase(command.begin());
    return command;
  };
  CHECK(words(plan) == std::vector<std::string>{"solve", "--gauge", "lat.1000", "--json", "r.json", "--residual-history", "--trace",
                                                "t.json", "--kappa", "0.12", "--no-tune", "--columns", "0"});
  plan = plan_with({}, {{"source", "point:0,0,0,0+wall:2", ""}});
  const std::vector<std::string> sources = words(plan);
  CHECK(std::find(sources.begin(), sources.end(), "out") != sources.end());
  plan = plan_with({{"lattice", {"4,4,4,8"}, ""}, {"machine", {"p8k40"}, ""}});
  plan.gauge.clear();
  plan.workload = Workload::bench_solver;
  CHECK(command_of(plan, cells_of(plan, left_out).front(), RunKind::measured, "g", "j", "").front().ends_with("quarkstar-sim"));
  CHECK(words(plan) == std::vector<std::string>{"bench", "solver", "--json", "--repetitions", "1", "--array-mb", "1", "--profile",
                                                "--bound", "--trace", "t.json", "--lattice", "4,4,4,8", "--machine", "p8k40"});
  const std::vector<std::string> warm_up = command_of(plan, cells_of(plan, left_out).front(), RunKind::warm_up, "g", "j", "");
  CHECK(std::find(warm_up.begin(), warm_up.end(), "--bound") != warm_up.end());
}

}  // namespace lab_plan_test
