// A run as a library: settings as texts, a watch in place of signals, errors that carry their parameter.
#include "apps/run/gauge_io.hpp"
#include "apps/run/generate_run.hpp"
#include "apps/run/run.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace app_run_test {

using namespace quarkstar;
using namespace quarkstar::app;
using quarkstar::testing::read_file;
using quarkstar::testing::TemporaryFolder;

namespace {

/// Counts what it is told, and interrupts after so many questions.
struct CountingWatch : RunWatch {
  struct Counter : RunProgress {
    explicit Counter(int& its_steps) : steps(its_steps) {}
    void step_done(int, const std::string&) override { ++steps; }
    int& steps;
  };
  bool interrupted() override { return --patience < 0; }
  std::unique_ptr<RunProgress> progress(const std::string&, int) override { return std::make_unique<Counter>(steps); }
  int patience = 1 << 30, steps = 0;
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// A configuration of its own, and the settings of a short solve on it.
struct SmallRun {
  TemporaryFolder folder;
  RunConfig config;

  explicit SmallRun(const Pairs& further) {
    GenerateConfig chain;
    chain.lattice = {2, 2, 2, 4};
    chain.sweeps = chain.thermalization = 1;
    chain.session.cpu_workers = 1;
    chain.session.cuda_workers = 0;
    save_gauge(folder.file("lat"), generate(chain, unwatched()).gauge, {});
    std::vector<Assignment> settings{{"gauge", folder.file("lat"), "gauge"},
                                     {"json", folder.file("run.json"), "json"},
                                     {"workers", "1", "workers"},
                                     {"gpus", "0", "gpus"},
                                     {"no-tune", "true", "no-tune"},
                                     {"tol", "1e-6", "tol"}};
    for (const auto& [key, value] : further) settings.push_back({key, value, key});
    apply_settings(config, settings);
  }
  nlohmann::json result() const { return nlohmann::json::parse(read_file(folder.file("run.json"))); }
};

}  // namespace

TEST_CASE("a program sets a run up from keys and values and calls it") {
  const SmallRun small({{"action", "asqtad"}, {"u0", "1"}, {"masses", "0.5,1"}, {"nrhs", "3"}});
  CountingWatch watch;
  int planned = 0;
  std::vector<std::string> told;
  run(small.config, watch,
      {.planned = [&](const RunReport&) { ++planned; },
       .solved = [&](const RunReport& report) { told.push_back(report.correlators.front().name); },
       .written = [&](const RunReport&, const std::vector<std::string>& files) { CHECK(files.empty()); }});
  CHECK(planned == 1);
  CHECK(watch.steps == 2);  // six right-hand sides, three at a time
  CHECK(told == std::vector<std::string>{"pion5_m0.5"});
  const nlohmann::json parameters = small.result().at("parameters");
  CHECK(parameters.at("action") == "asqtad");
  CHECK(parameters.at("u0") == 1.0);
  CHECK(parameters.at("masses") == std::vector<double>{0.5, 1});
  CHECK(parameters.at("mass") == 0.5);
  CHECK_FALSE(parameters.contains("kappa"));
  CHECK_FALSE(parameters.contains("naik-epsilon"));
}

TEST_CASE("whoever watches a run ends it") {
  const SmallRun small(Pairs{{"kappa", "0.1"}});
  CountingWatch watch;
  watch.patience = 1;
  CHECK_THROWS_AS(run(small.config, watch), Interrupted);
}

TEST_CASE("errors carry the parameter that they are about") {
  const auto parameter = [](const Pairs& settings) {
    try {
      const SmallRun small(settings);
      run(small.config);
    } catch (const Error& error) {
      CHECK(std::string(error.what()).starts_with(error.parameter() + ": "));
      return error.parameter();
    }
    return std::string("no error");
  };
  CHECK(parameter(Pairs{{"action", "asqtad"}}) == "u0");
  CHECK(parameter({{"action", "hisq"}, {"naik-epsilon", "-1"}}) == "naik-epsilon");
  CHECK(parameter(Pairs{{"source", "point:0,0,0,4"}}) == "source");
  CHECK(parameter(Pairs{{"threads", "100000"}}) == "threads");
  CHECK(Error(ErrorKind::input, "lattice.ildg", "no such file", "").parameter().empty());
  RunConfig config;
  CHECK_THROWS_WITH_AS(apply_settings(config, {{"kapa", "0.1", "kapa"}}),
                       doctest::Contains("kapa: unknown key; did you mean kappa? use one of gauge"), Error);
}

}  // namespace app_run_test
