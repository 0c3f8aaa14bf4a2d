// The laboratory's runs: records, journal, comparison of histories, statistics, child processes.
#include "apps/command/child_process.hpp"
#include "apps/lab/history_check.hpp"
#include "apps/lab/inputs.hpp"
#include "apps/lab/journal.hpp"
#include "apps/lab/simulation_check.hpp"
#include "apps/lab/summary.hpp"
#include "apps/run/statistics.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace lab_journal_test {

using namespace quarkstar;
using namespace quarkstar::app;
using namespace quarkstar::app::lab;
using quarkstar::testing::read_file;
using quarkstar::testing::TemporaryFolder;
using quarkstar::testing::write_file;

namespace {

const Cell cell{{{"policy", "eager"}}, {{"kappa", "0.12"}, {"policy", "eager"}}, {{"run", "solve"}, {"gauge-hash", "0123"}}, "this"};

Record record_with(const Settings& settings, std::vector<double> history, int number = 1) {
  Record record;
  record.settings = settings;
  record.varying = settings;
  record.inputs = cell.inputs;
  record.repetition = number;
  record.number = number;
  record.built_with = "this";
  record.results.seconds = 0.5;
  record.results.histories = {{0, {}, static_cast<std::int64_t>(history.size()), hash_of(history)}};
  return record;
}

Json solve_json() {
  return Json::parse(R"({"status": "converged", "setup_seconds": 0.25, "solves": [
    {"column": 0, "iterations": 10, "seconds": 0.5, "gflops": 2.0, "gbs": 4.0, "tasks": 100, "idle_us_per_task": 3.0,
     "energy": {"total": {"joules": 5.0}}, "residual_history": ["0x1p+0", "0x1p-1"]},
    {"column": 1, "mass": 0.1, "iterations": 12, "seconds": 1.5, "gflops": 1.0, "gbs": 2.0, "tasks": 300, "idle_us_per_task": 7.0,
     "energy": {"total": {"unavailable": "no counter"}}, "residual_history": ["0x1p+0"]}]})");
}

}  // namespace

TEST_CASE("results of a solve are summed over its right-hand sides, and what one cannot tell is absent") {
  const Results r = results_of_solve(solve_json());
  CHECK(r.seconds == 2.0);
  CHECK(r.setup_seconds == 0.25);
  CHECK(r.iterations == 22.0);
  CHECK(*r.flops == doctest::Approx(2.5e9));
  CHECK(*r.gbs() == doctest::Approx(2.5));
  CHECK(r.tasks == 400.0);
  CHECK(*r.us_per_task == doctest::Approx(6.0));
  CHECK(!r.joules);
  CHECK(!r.energy_delay());
  CHECK(!r.over_bound());
  CHECK(r.no_joules == "no counter");
  REQUIRE(r.histories.size() == 2);
  CHECK(r.histories[0].length == 2);
  CHECK(r.histories[0].bits == hash_of({1.0, 0.5}));
  CHECK(r.histories[1].mass == 0.1);
  CHECK_THROWS_AS(results_of_solve(Json::parse("{}")), Json::exception);
}

TEST_CASE("bounds, times of workers and bytes of links are taken where a solve tells them") {
  Json json = solve_json();
  json["solves"][0]["bound"] = {
      {"bandwidth_seconds", 0.2}, {"critical_path_seconds", 0.25}, {"assignment_seconds", 0.1}, {"time_over_bound", 2.0}};
  CHECK(!results_of_solve(json).bound_seconds);  // the other right-hand side has none
  json["solves"].erase(1);
  json["machine"] =
      Json::parse(R"({"workers": [{"name": "CPU 0", "kind": "CPU", "seconds": {"busy": 0.4, "idle": 0.1, "overhead": 0.05, "transfer": 0}},
    {"name": "CUDA 0", "kind": "CUDA"}], "links": [{"from": "host", "to": "GPU 0", "bytes": 1024, "transfers": 2}]})");
  const Results r = results_of_solve(json);
  CHECK(r.bound_seconds == 0.25);
  CHECK(r.bound == "critical path");
  CHECK(r.over_bound() == 2.0);
  REQUIRE(r.workers.size() == 2);
  CHECK(r.workers[0].overhead == 0.05);
  CHECK(r.workers[0].transfer == 0.0);
  CHECK(!r.workers[1].busy);
  REQUIRE(r.links.size() == 1);
  CHECK(r.links[0].bytes == 1024);
}

TEST_CASE("hashes see every bit and the order") {
  CHECK(hash_of({}) == "cbf29ce484222325");
  CHECK(hash_of({1.0, 0.5}) == hash_of({1.0, 0.5}));
  CHECK(hash_of({1.0, 0.5}) != hash_of({0.5, 1.0}));
  CHECK(hash_of({1.0}) != hash_of({std::nextafter(1.0, 2.0)}));
  CHECK(hash_of({0.0}) != hash_of({-0.0}));
}

TEST_CASE("records survive the journal, failed runs are repeated, a torn line is cut off") {
  const TemporaryFolder folder;
  const std::string path = folder.file("runs.jsonl");
  const PlannedRun first{0, RunKind::measured, 1}, second{0, RunKind::measured, 2};
  {
    Journal journal(path);
    CHECK(!journal.seed());
    journal.append_seed(42);
    Record record = record_with(cell.settings, {1, 0.5});
    record.results.workers = {{"CPU 0", "CPU", 0.4, 0.1, {}, {}, 0.6}};
    record.results.links = {{"host", "GPU 0", 1e6}};
    record.results.bound_seconds = 0.25;
    record.results.bound = "a bound";
    journal.append(record);
    record.repetition = record.number = 2;
    record.status = RunStatus::time_limit;
    record.message = "ended";
    journal.append(record);
    journal.append(Bandwidth{{{"devices", "cpu"}}, 20.5, "", {{"array-mb", "256"}}, "this"});
  }
  const std::string whole = read_file(path);
  write_file(path, whole + "{\"kind\": \"meas");
  const Journal journal(path);
  CHECK_THROWS_WITH_AS(Journal{path}, doctest::Contains("another laboratory is writing this file"), Error);
  CHECK(read_file(path) == whole);
  CHECK(journal.seed() == 42);
  CHECK(journal.last_number() == 2);
  const Record* done = journal.find_done(cell, first);
  REQUIRE(done != nullptr);
  CHECK(done->results.seconds == 0.5);
  CHECK(done->results.over_bound() == 2.0);
  CHECK(done->results.workers[0].busy == 0.4);
  CHECK(!done->results.workers[0].overhead);
  CHECK(done->results.workers[0].total == 0.6);
  CHECK(done->results.links[0].bytes == 1e6);
  CHECK(done->results.histories[0].bits == hash_of({1, 0.5}));
  CHECK(journal.find_done(cell, second) == nullptr);
  Cell other = cell;
  other.program = "another program";
  CHECK(journal.find_done(other, first) == nullptr);
  other = cell;
  other.inputs[1].second = "0124";  // another configuration of the same name
  CHECK(journal.find_done(other, first) == nullptr);
  other.inputs = {};
  CHECK(journal.find_done(other, first) == nullptr);
  CHECK(journal.records()[1].message == "ended");
  const Settings cpu{{"devices", "cpu"}}, large{{"array-mb", "256"}};
  REQUIRE(journal.find_bandwidth(cpu, large, "this") != nullptr);
  CHECK(journal.find_bandwidth(cpu, large, "this")->triad == 20.5);
  CHECK(journal.find_bandwidth({}, large, "this") == nullptr);
  CHECK(journal.find_bandwidth(cpu, {{"array-mb", "1"}}, "this") == nullptr);
  CHECK(journal.find_bandwidth(cpu, large, "another program") == nullptr);
  write_file(folder.file("other.jsonl"), "{\"kind\": \"order\", \"seed\": 1}\n{\"kind\": 3}\n");
  CHECK_THROWS_WITH_AS(Journal{folder.file("other.jsonl")}, doctest::Contains("other.jsonl:2: this is no line"), Error);
}

TEST_CASE("inputs of a run change with the contents of files, with how a configuration was made, and with the environment") {
  const TemporaryFolder folder;
  const std::string file = folder.file("policy.so");
  write_file(file, "a");
  CHECK(hash_of_file(file) == "af63dc4c8601ec8c");  // FNV-1a of "a", as its authors publish it
  Plan plan;
  const Settings settings{{"policy", file}};
  const Settings first = inputs_of(plan, settings, "made.ildg", "00");
  CHECK(find(first, "gauge") == nullptr);  // a folder that was carried elsewhere is still the same
  CHECK(inputs_of(plan, settings, "made.ildg", "00") == first);
  CHECK(inputs_of(plan, settings, "made.ildg", "01") != first);
  write_file(file, "b");
  CHECK(inputs_of(plan, settings, "made.ildg", "00") != first);
  write_file(file, "a");
  plan.beta = 5.9;
  CHECK(inputs_of(plan, settings, "made.ildg", "00") != first);
  plan.beta = 6;
  plan.workload = Workload::bench_solver;
  CHECK(inputs_of(plan, settings, "made.ildg", "00") != first);
  const std::string machine = folder.file("machine.toml");
  write_file(machine, "a");
  const Settings simulated{{"machine", machine}}, before = inputs_of(plan, simulated, "", "");
  write_file(machine, "b");
  CHECK(inputs_of(plan, simulated, "", "") != before);
  CHECK_THROWS_WITH_AS(hash_of_file(folder.file("missing")), doctest::Contains("missing: cannot be read"), Error);
  CHECK_THROWS_AS(hash_of_file(folder.file("")), Error);
  plan.array_megabytes = 1;
  CHECK(bandwidth_inputs_of(plan) != bandwidth_inputs_of(Plan{}));
}

TEST_CASE("histories of one problem are compared whatever ran it, and a difference names both runs") {
  const Settings eager{{"kappa", "0.12"}, {"policy", "eager"}, {"nrhs", "1"}}, cut{{"blocks", "1,1,2,2"}, {"nrhs", "4"}, {"kappa", "0.12"}},
      heavy{{"kappa", "0.11"}};
  CHECK(problem_of(eager) == problem_of(cut));
  CHECK(problem_of(eager) != problem_of(heavy));
  CHECK(problem_of({{"solver", "blockcg"}, {"nrhs", "1"}}) != problem_of({{"solver", "blockcg"}, {"nrhs", "4"}}));
  CHECK(problem_of({{"machine", "here"}}) != problem_of({{"machine", "p8k40"}}));
  std::vector<Record> records{record_with(eager, {1, 0.5}, 1), record_with(cut, {1, 0.5}, 2), record_with(heavy, {1, 0.25}, 3)};
  HistoryCheck check = compare_histories(records);
  CHECK(check.runs == 3);
  CHECK(check.problems == 2);
  CHECK(check.disagreements.empty());
  Record elsewhere = record_with(eager, {1, 0.125}, 3);
  elsewhere.inputs[1].second = "0124";
  CHECK(problem_of(elsewhere) != problem_of(records[0]));
  CHECK(check.text() == "residual histories: 3 runs of 2 problems, all bits equal");
  records.push_back(record_with(cut, {1, std::nextafter(0.5, 1)}, 4));
  records.push_back(record_with(cut, {1, 0.5, 0.25}, 5));
  check = compare_histories(records);
  REQUIRE(check.disagreements.size() == 2);
  CHECK(check.disagreements[0].first == &records[0]);
  CHECK(check.disagreements[0].second == &records[3]);
  CHECK(check.disagreements[0].what == "column 0: residuals of other bits");
  CHECK(check.disagreements[1].what == "column 0: 3 residuals, not 2");
  CHECK(check.text().find("run 1 (kappa=0.12 policy=eager nrhs=1, repetition 1) and run 4 (") != std::string::npos);
  records.clear();
  CHECK(compare_histories(records).text() == "residual histories: unavailable");
}

TEST_CASE("Student's t and confidence intervals") {
  // Percentage points of the t-distribution, two-sided 95 %: any table of it.
  const std::pair<int, double> table[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},
                                          {9, 2.262},  {10, 2.228}, {30, 2.042}, {1000, 1.962}};
  for (const auto& [degrees, t] : table) CHECK(student_t(0.95, degrees) == doctest::Approx(t).epsilon(3e-4));
  CHECK(student_t(0.99, 5) == doctest::Approx(4.032).epsilon(2e-4));
  const double values[] = {1, 2, 3, 4};
  const Estimate estimate = confidence_interval(values);
  CHECK(estimate.mean == 2.5);
  CHECK(estimate.error == doctest::Approx(3.1824 * std::sqrt(5. / 3) / 2).epsilon(1e-4));
  const double one[] = {7};
  CHECK(confidence_interval(one).mean == 7);
  CHECK(std::isnan(confidence_interval(one).error));
}

TEST_CASE("cells are summarised; what is missing is unavailable, never 0") {
  Outcome outcome;
  outcome.cells = {cell, {{{"policy", "lws"}}, {{"kappa", "0.12"}, {"policy", "lws"}}}};
  for (int repetition = 1; repetition <= 2; ++repetition) {
    outcome.records.push_back(record_with(cell.settings, {1, 0.5}, repetition));
    outcome.records.back().results.seconds = repetition;
    outcome.records.back().results.bytes = 2e9 * repetition;
  }
  outcome.records.push_back(record_with(cell.settings, {1, 0.5}, 3));
  outcome.records.back().kind = RunKind::warm_up;
  outcome.records.push_back(record_with(outcome.cells[1].settings, {}, 4));
  outcome.records.back().status = RunStatus::failed;
  outcome.bandwidths = {{{}, 8.0, "", {}, ""}};
  const std::vector<CellSummary> cells = summarise(outcome);
  CHECK(cells[0].measured.size() == 2);
  CHECK(cells[0].seconds.mean == 1.5);
  CHECK(text_of(cells[0].seconds) == "1.5 +- 6.4");
  CHECK(*cells[0].over_bound() == doctest::Approx(4));  // 2 GB/s of 8
  CHECK(cells[0].bound() == "compulsory bytes / triad");
  CHECK(text_of(cells[0].mean([](const Results& r) { return r.joules; })) == "unavailable");
  outcome.records[2].results.bound_seconds = 0.5;  // of the warm-up run
  outcome.records[2].results.bound = "critical path";
  CHECK(*summarise(outcome)[0].over_bound() == doctest::Approx(4));  // it alone says nothing
  CHECK(note_on_bounds(summarise(outcome)).empty());
  outcome.records.push_back(record_with(outcome.cells[1].settings, {}, 5));  // the same graph under another policy
  outcome.records.back().kind = RunKind::traced;
  outcome.records.back().results.bound_seconds = 0.75;
  CHECK(*summarise(outcome)[0].over_bound() == doctest::Approx(3));
  CHECK(summarise(outcome)[0].bound() == "critical path");
  outcome.records.back().results.bound_seconds = 0.25;
  CHECK(*summarise(outcome)[0].over_bound() == doctest::Approx(6));
  for (std::size_t i : {2, 4}) outcome.records[i].results.bound_seconds = 2;
  CHECK(summarise(outcome)[0].over_bound_text() == "0.75 !");
  CHECK(note_on_bounds(summarise(outcome)).starts_with("!: below 1"));
  CHECK(cells[1].failed.size() == 1);
  CHECK(text_of(cells[1].seconds) == "unavailable");
  CHECK(text_of(cells[1].over_bound()) == "unavailable");
  CHECK(cells[0].over_fastest == 1.0);
  CHECK(!cells[1].over_fastest);
}

TEST_CASE("several sources in one run: all solves, and the time of the whole process, because they overlap") {
  const Results r = results_of_sources({solve_json(), solve_json()}, 3.0);
  CHECK(r.seconds == 3.0);
  CHECK(r.iterations == 44.0);
  CHECK(*r.flops == doctest::Approx(5e9));
  CHECK(r.histories.size() == 4);
  CHECK(!r.bound_seconds);
  // Workers are counted from the start of the run, so the source that was concluded last tells most.
  const auto with_workers = [](double total) {
    Json json = solve_json();
    const Json seconds{{"total", total}, {"busy", total / 2}};
    const Json worker{{"name", "CPU 0"}, {"kind", "CPU"}, {"seconds", seconds}},
        link{{"from", "host"}, {"to", "GPU 0"}, {"bytes", 100 * total}};
    json["machine"] = {{"workers", Json::array({worker})}, {"links", Json::array({link})}};
    return json;
  };
  for (const bool in_order : {true, false}) {
    const Results all = results_of_sources({with_workers(in_order ? 2 : 4), with_workers(in_order ? 4 : 2)}, 5.0);
    REQUIRE(all.workers.size() == 1);
    CHECK(all.workers[0].busy == 2.0);
    REQUIRE(all.links.size() == 1);
    CHECK(all.links[0].bytes == 400);
  }
}

TEST_CASE("a bench tells its bound and its tasks where they were asked for") {
  Json json = Json::parse(R"({"solver": [{"nrhs": 4, "iterations": 10, "us_per_iteration": 25.0, "gflops": 2.0, "bytes_per_iteration": 1e6,
    "tasks_per_iteration": 3.0, "us_per_task": 7.0, "runtime_us_per_kernel": 1.0}]})");
  const Results plain = results_of_bench(json);
  CHECK(*plain.seconds == doctest::Approx(1e-3));  // 4 right-hand sides, 10 iterations of 25 us each
  CHECK(*plain.us_per_task == 7);
  CHECK(!plain.bound_seconds);
  CHECK(plain.workers.empty());
  json["solver"][0]["workers"] = Json::parse(R"([{"name": "CPU 0", "kind": "CPU", "seconds": {"busy": 4e-4, "idle": 6e-4}}])");
  json["solver"][0]["links"] = Json::parse(R"([{"from": "NUMA 0", "to": "CUDA 0", "bytes": 64}])");
  CHECK(results_of_bench(json).workers.at(0).busy == 4e-4);
  CHECK(results_of_bench(json).links.at(0).bytes == 64);
  json["machine"] = Json::parse(R"({"cpu": "a CPU", "gpus": ["GPU 0", "GPU 1"]})");
  CHECK(results_of_bench(json).machine == "a CPU, GPU 0, GPU 1");
  json["solver"][0]["bound_us_per_iteration"] = 20.0;
  CHECK(*results_of_bench(json).over_bound() == doctest::Approx(1.25));
  Json both = json["solver"][0];
  both["devices"] = "all";
  both["us_per_iteration"] = 10.0;
  json["solver"][0]["devices"] = "cpu";
  json["solver"].push_back(both);
  CHECK(*results_of_bench(json).seconds == doctest::Approx(4e-4));
  CHECK_THROWS_AS(results_of_bench(Json::parse(R"({"solver": []})")), Json::exception);
}

TEST_CASE("simulated cells are compared with those that ran here") {
  Outcome outcome;
  const auto add = [&](const std::string& machine, const std::string& policy, double seconds) {
    const Settings settings{{"lattice", "4,4,4,4"}, {"machine", machine}, {"policy", policy}};
    outcome.cells.push_back({settings, settings});
    for (int repetition = 1; repetition <= 2; ++repetition) {
      outcome.records.push_back(record_with(settings, {}, repetition));
      outcome.records.back().results.seconds = seconds;
      outcome.records.back().results.iterations = 10;
    }
  };
  add("here", "static", 1);
  add("here", "eager", 2);
  add("here", "lws", 3);
  add("h200", "static", 1.1);
  add("h200", "eager", 1.8);
  add("h200", "lws", 1.5);
  add("k40", "prio", 1);  // has no partner
  const std::vector<CellSummary> cells = summarise(outcome);
  const std::vector<SimulationCheck> checks = compare_simulated(cells);
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].machine == "h200");
  REQUIRE(checks[0].pairs.size() == 3);
  CHECK(checks[0].pairs[0].seconds_here == doctest::Approx(0.1));
  CHECK(checks[0].pairs[1].error() == doctest::Approx(-0.1));
  CHECK(checks[0].largest_error() == doctest::Approx(0.5));
  CHECK(checks[0].ordered == 3);
  CHECK(checks[0].same_order == 2);
  CHECK(checks[0].other_order == std::vector<std::string>{"lattice=4,4,4,4 policy=eager before lattice=4,4,4,4 policy=lws"});
  const std::string table = checks[0].table();
  CHECK(table.find("| lattice=4,4,4,4 policy=eager | 2e+05 +- 0 | 1.8e+05 | -10.0 % |\n") != std::string::npos);
  CHECK(table.find("2 of 3 pairs of policies") != std::string::npos);
  CHECK(simulation_report(checks, Plan{}).find("\n## h200\n") != std::string::npos);
}

TEST_CASE("child processes: output, exit codes, signals, time limits") {
  const auto shell = [](const std::string& script, double limit = 20) { return run_child({"/bin/sh", "-c", script}, limit); };
  const ChildResult good = shell("echo out; echo err >&2; exit 0");
  CHECK(good.ok());
  CHECK(good.out == "out\n");
  CHECK(good.err == "err\n");
  const ChildResult bad = shell("echo noise >&2; echo 'quarkstar: error: --kappa: wrong; do better' >&2; echo after >&2; exit 2");
  CHECK(bad.exit_code == 2);
  CHECK(bad.failure() == "--kappa: wrong; do better");
  const ChildResult killed = shell("echo 'last words' >&2; kill -SEGV $$");
  CHECK(killed.failure() == "killed by signal 11 (Segmentation fault): last words");
  CHECK(shell("exit 3").failure() == "exit code 3 without a message");
  const ChildResult late = shell("sleep 60 & sleep 60", 0.2);
  CHECK(late.timed_out);
  CHECK(!late.ok());
  CHECK(late.seconds < 30);
  CHECK(late.failure().find("the time limit") != std::string::npos);
  const ChildResult much =
      shell("i=0; while [ $i -lt 60000 ]; do echo 0123456789012345678901234567890123456789012345678901; i=$((i+1)); done");
  CHECK(much.ok());
  CHECK(much.out.size() >= std::size_t{1} << 20);
  CHECK_THROWS_AS(run_child({"/nonexistent/program"}, 1), Error);
}

}  // namespace lab_journal_test
