// The laboratory's page: what it says of runs that told little, and that it needs nothing else. A browser opens one in cli.lab.
#include "apps/lab/page.hpp"
#include "apps/lab/trace.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>

namespace lab_page_test {

using namespace quarkstar;
using namespace quarkstar::app;
using namespace quarkstar::app::lab;
using quarkstar::testing::TemporaryFolder;
using quarkstar::testing::write_file;

namespace {

constexpr char two_workers[] = R"({"traceEvents":[
{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"CPU 0"}},
{"ph":"X","name":"wilson.double.18.interior","pid":0,"tid":0,"ts":5.0,"dur":2.5,"args":{"block":1,"flops":1,"bytes":1}},
{"ph":"M","name":"thread_name","pid":0,"tid":1,"args":{"name":"</script>"}},
{"ph":"M","name":"thread_sort_index","pid":0,"tid":1,"args":{"sort_index":2}},
{"ph":"X","name":"blas.norm.double","pid":0,"tid":1,"ts":1.0,"dur":1.0,"args":{"block":0,"flops":1,"bytes":1}},
{"ph":"X","name":"blas.norm.double","pid":0,"tid":1,"ts":3.0,"dur":1.0,"args":{"block":0,"flops":1,"bytes":1}}]})";

Outcome made_up_outcome() {
  Outcome outcome;
  outcome.cells = {{{{"policy", "eager"}}, {{"policy", "eager"}}}, {{{"policy", "<ws>"}}, {{"policy", "<ws>"}}}};
  for (int i = 1; i <= 3; ++i) {
    Record record;
    record.settings = record.varying = outcome.cells[i < 3 ? 0 : 1].settings;
    record.repetition = record.number = i;
    record.results.seconds = 0.1 * i;
    record.results.no_joules = "no counter";
    if (i == 3) record.status = RunStatus::failed, record.message = "killed & lost";
    outcome.records.push_back(record);
  }
  return outcome;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE("traces are read back, ordered and cut in the middle") {
  const TemporaryFolder folder;
  write_file(folder.file("t.json"), two_workers);
  const Trace trace = read_trace(folder.file("t.json"), 10);
  REQUIRE(trace.tasks.size() == 3);
  CHECK(trace.workers == std::vector<std::string>{"CPU 0", "</script>"});
  CHECK(trace.tasks[0].begin_us == 1);
  CHECK(trace.names[trace.tasks[2].name] == "wilson.double.18.interior");
  CHECK(trace.tasks[2].block == 1);
  CHECK(trace.tasks[2].duration_us == 2.5);
  const Trace cut = read_trace(folder.file("t.json"), 1);
  REQUIRE(cut.tasks.size() == 1);
  CHECK(cut.tasks[0].begin_us == 3);
  CHECK(cut.all_tasks == 3);
  CHECK_THROWS_AS(read_trace(folder.file("none"), 1), Error);
  write_file(folder.file("t.json"), "{}");
  CHECK_THROWS_AS(read_trace(folder.file("t.json"), 1), Error);
}

TEST_CASE("the page says what is unavailable, escapes names and needs no other file") {
  const TemporaryFolder folder;
  Plan plan;
  plan.out = folder.file("");
  plan.axes = {{"policy", {"eager", "<ws>"}, ""}};
  Outcome outcome = made_up_outcome();
  std::vector<CellSummary> cells = summarise(outcome);
  std::string html = page(plan, outcome, cells, compare_histories(outcome.records));
  CHECK(html.find("residual histories: unavailable") != std::string::npos);
  CHECK(html.find("unavailable: no counter") != std::string::npos);
  CHECK(html.find("unavailable: no run was traced") != std::string::npos);
  CHECK(html.find("killed &amp; lost") != std::string::npos);
  CHECK(html.find("policy=&lt;ws&gt;") != std::string::npos);
  CHECK(html.find("<ws>") == std::string::npos);
  CHECK(html.find("http") == std::string::npos);
  CHECK(html.find(">nan<") == std::string::npos);
  write_file(folder.file("trace4.json"), two_workers);
  outcome.records.push_back(outcome.records.front());
  outcome.records.back().kind = RunKind::traced;
  outcome.records.back().trace = "trace4.json";
  cells = summarise(outcome);
  html = page(plan, outcome, cells, compare_histories(outcome.records));
  CHECK(count(html, "</script>") == 2);  // none of a worker's name
  CHECK(html.find("\"all\":3,\"tasks\":[[1,0,") != std::string::npos);
}

}  // namespace lab_page_test
