// Campaigns: jackknife, averages, results, journal, and a small campaign beside the solves that it consists of.
#include "apps/campaign/page.hpp"
#include "apps/campaign/results_file.hpp"
#include "apps/campaign/run.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/generate_run.hpp"
#include "apps/run/run.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <random>

using namespace quarkstar;
using namespace quarkstar::app;
using quarkstar::testing::read_file;
using quarkstar::testing::TemporaryFolder;
using quarkstar::testing::write_file;

namespace {

using Samples = std::vector<std::vector<double>>;

std::vector<double> itself(std::span<const double> mean) { return {mean.begin(), mean.end()}; }
std::vector<double> squared(std::span<const double> mean) { return {mean[0] * mean[0]}; }

Samples normal_samples(unsigned seed, int count, const std::vector<double>& means, double sigma) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(0, sigma);
  Samples samples;
  for (int i = 0; i < count; ++i) {
    samples.emplace_back();
    for (const double mean : means) samples.back().push_back(mean + normal(engine));
  }
  return samples;
}

}  // namespace

TEST_CASE("the jackknife of a mean is its standard error, of bins that of their means") {
  const unsigned seed = std::random_device{}();
  INFO("seed ", seed);
  const Samples samples = normal_samples(seed, 60, {3}, 2);
  const auto standard_error = [](const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    double mean = 0, squares = 0;
    for (const double v : values) mean += v / n;
    for (const double v : values) squares += (v - mean) * (v - mean);
    return std::sqrt(squares / (n * (n - 1)));
  };
  for (const int bin : {1, 4}) {
    std::vector<double> bins;
    for (std::size_t i = 0; i < samples.size(); i += static_cast<std::size_t>(bin)) {
      bins.push_back(0);
      for (std::size_t j = 0; j < static_cast<std::size_t>(bin); ++j) bins.back() += samples[i + j][0] / bin;
    }
    CHECK(jackknife(samples, itself, bin)[0].error == doctest::Approx(standard_error(bins)).epsilon(1e-10));
  }
}

TEST_CASE("the jackknife of a square, by hand; of too few samples there is no error") {
  const std::vector<Estimate> of_three = jackknife({{1}, {2}, {3}}, squared);
  CHECK(of_three[0].mean == 4);
  // theta_b = 6.25, 4, 2.25: sqrt(2/3 (2.08333^2 + 0.16667^2 + 1.91667^2))
  CHECK(of_three[0].error == doctest::Approx(std::sqrt(2.0 / 3 * (625 + 4 + 529) / 144.0)));
  CHECK(std::isnan(jackknife({{1}}, squared)[0].error));
  CHECK(std::isnan(jackknife({{1}, {2}, {3}}, squared, 2)[0].error));
  CHECK(jackknife({}, squared).empty());
  // Seven samples in three bins, of 2, 2 and 3.
  const std::vector<Estimate> unequal = jackknife({{1}, {1}, {2}, {2}, {4}, {4}, {4}}, itself, 2);
  CHECK(unequal[0].mean == doctest::Approx(18.0 / 7));
  // theta_b = 16/5, 14/5, 6/4, whose mean is 2.5
  CHECK(unequal[0].error == doctest::Approx(std::sqrt(2.0 / 3 * (0.49 + 0.09 + 1.0))));
}

TEST_CASE("effective masses of correlators that differ by a factor have no error") {
  constexpr std::size_t times = 12;
  constexpr double mass = 0.37;
  Samples both_ways, forward;
  for (const double amplitude : {1.0, 1.7, 0.4, 2.2}) {
    both_ways.emplace_back();
    forward.emplace_back();
    for (std::size_t t = 0; t < times; ++t) {
      both_ways.back().push_back(amplitude * std::cosh(mass * (static_cast<double>(t) - times / 2.0)));
      forward.back().push_back(amplitude * std::exp(-mass * static_cast<double>(t)));
    }
  }
  const campaign::AverageCorrelator cosh = campaign::average_correlator("pion", both_ways, times, 1);
  const campaign::AverageCorrelator exponential = campaign::average_correlator("pion", forward, times, 1);
  for (std::size_t t = 0; t + 1 < times; ++t) {
    CAPTURE(t);
    CHECK(cosh.cosh_mass[t].mean == doctest::Approx(mass).epsilon(1e-11));
    CHECK(cosh.cosh_mass[t].error < 1e-11);
    CHECK(exponential.log_mass[t].mean == doctest::Approx(mass).epsilon(1e-12));
    CHECK(exponential.log_mass[t].error < 1e-12);
    CHECK(exponential.real[t].error > 0.1 * exponential.real[t].mean);
  }
  CHECK(cosh.imaginary.empty());
}

TEST_CASE("the error of an effective mass is that of error propagation") {
  const unsigned seed = std::random_device{}();
  INFO("seed ", seed);
  constexpr int count = 1000;
  constexpr double sigma = 0.01;
  const Samples samples = normal_samples(seed, count, {1, 0.7}, sigma);
  const campaign::AverageCorrelator average = campaign::average_correlator("pion", samples, 2, 1);
  const double expected = sigma / std::sqrt(count) * std::hypot(1 / 1.0, 1 / 0.7);
  CHECK(average.log_mass[0].error == doctest::Approx(expected).epsilon(0.15));  // six standard deviations
  CHECK(average.log_mass[0].mean == doctest::Approx(std::log(1 / 0.7)).epsilon(0.01));
}

TEST_CASE("results come back from their file with all bits, and the same results make the same file") {
  const TemporaryFolder folder;
  campaign::ConfigurationResults results;
  results.links = "0x1p-1 0x1p-2 0x1p-3";
  campaign::RowResults& row = results.of_quarks["light"]["point:0,0,0,0"];
  row.iterations = {12, 13};
  row.true_residuals = {1e-9, 2.5e-10};
  row.correlators = {correlator_of("pion", {1.0 / 3, 0.1, 0.2}), correlator_of("pion_p1,0,0", {0.3, 0.2, 0.1}, {1e-17, -0.7, 0})};
  results.of_quarks["light"]["wall:3"] = row;
  write_results(folder.file("a.h5"), "lat.1", results);
  const campaign::ConfigurationResults read = campaign::read_results(folder.file("a.h5"));
  CHECK(read.links == results.links);
  CHECK(read.of_quarks.at("light").size() == 2);
  const campaign::RowResults& again = read.of_quarks.at("light").at("point:0,0,0,0");
  CHECK(again.iterations == row.iterations);
  CHECK(again.true_residuals == row.true_residuals);
  REQUIRE(again.correlators.size() == 2);
  for (std::size_t c = 0; c < 2; ++c) {
    CHECK(again.correlators[c].name == row.correlators[c].name);
    CHECK(again.correlators[c].values == row.correlators[c].values);
    CHECK(again.correlators[c].imaginary == row.correlators[c].imaginary);
  }
  write_results(folder.file("b.h5"), "lat.1", read);
  CHECK(read_file(folder.file("a.h5")) == read_file(folder.file("b.h5")));
  const double predicted = campaign::results_bytes(2, 1, 1, 3), size = static_cast<double>(read_file(folder.file("a.h5")).size());
  INFO("predicted ", predicted, " bytes, are ", size);
  CHECK(predicted > 0.6 * size);
  CHECK(predicted < 1.7 * size);
  write_file(folder.file("damaged.h5"), read_file(folder.file("a.h5")).substr(0, 3000));
  CHECK_THROWS_WITH_AS(campaign::read_results(folder.file("damaged.h5")), doctest::Contains("damaged.h5: it "), Error);
}

TEST_CASE("remedies name keys where commands have flags") {
  CHECK(campaign::with_keys("use --precision double with fewer --nrhs, or --devices all without --blocks") ==
        "use `precision` double with fewer `nrhs`, or `devices` all without `blocks`");
  CHECK(campaign::with_keys("raise --max-iterations") == "raise `max-iterations`");
  CHECK(campaign::with_keys("./bootstrap build --cuda-architectures LIST -- a --") ==
        "./bootstrap build --cuda-architectures LIST -- a --");
}

TEST_CASE("durations in words") {
  CHECK(campaign::duration_text(0.34) == "0.3 s");
  CHECK(campaign::duration_text(35) == "35 s");
  CHECK(campaign::duration_text(12 * 60) == "12 min");
  CHECK(campaign::duration_text(3.4 * 3600) == "3.4 h");
  CHECK(campaign::duration_text(2.1 * 86400) == "2.1 days");
}

namespace {

/// Configurations and a campaign's file.
struct Small {
  TemporaryFolder folder;
  std::string file = folder.file("small.toml");

  explicit Small(const std::vector<int>& seeds) {
    for (const int seed : seeds) {
      GenerateConfig chain;
      chain.lattice = {2, 2, 2, 4};
      chain.sweeps = chain.thermalization = 2;
      chain.heatbath.seed = static_cast<std::uint64_t>(seed);
      chain.session.cpu_workers = 1;
      save_gauge(folder.file(fmt::format("lat.{}", seed)), generate(chain, unwatched()).gauge, {});
    }
    write(R"(sources = ["point:0,0,0,0", "wall:1"])", "kappa = 0.11");
  }
  void write(const std::string& sources, const std::string& mass) {
    write_file(file, fmt::format(R"(configurations = ["{}"]
out = "{}"
{}
correlators = ["pion", "proton", "rho"]
momenta = [[0, 0, 0], [1, 0, 0]]
workers = 1
gpus = 0
no-tune = true
tol = 1e-8
[quark.light]
action = "wilson"
{}
[quark.staggered]
action = "naive"
masses = [0.5, 0.9]
)",
                                 folder.file("lat.*"), folder.file("out"), sources, mass));
  }
  campaign::Campaign campaign() const { return campaign::read_campaign(file, {}); }
  campaign::ConfigurationResults results(int seed) const {
    return campaign::read_results(folder.file(fmt::format("out/configurations/lat.{}.h5", seed)));
  }
};

}  // namespace

TEST_CASE("a campaign has the bits of the solves that it consists of, and computes only what is missing") {
  Small small({1, 2});
  std::string plan;
  int rows = 0;
  const campaign::Listener listener{.planned = [&](const campaign::CampaignPlan& p) { plan = text_of(p); },
                                    .done = [&](const std::string&, int some, double) { rows += some; }};
  run(small.campaign(), {}, unwatched(), listener);
  CHECK(rows == 8);
  CHECK(plan.find("2 configurations of 2x2x2x4, 2 quarks, 2 sources: 8 rows, 0 of them done, 8 to do") != std::string::npos);
  for (const int seed : {1, 2}) {
    const campaign::ConfigurationResults results = small.results(seed);
    for (const campaign::Quark& quark : small.campaign().quarks)
      for (const Source& source : small.campaign().sources) {
        RunConfig config = quark.config;
        config.gauge = small.folder.file(fmt::format("lat.{}", seed));
        config.json = small.folder.file("alone.json");
        config.source = source;
        config.further_sources.clear();
        std::vector<Correlator> alone;
        run(config, unwatched(), {.solved = [&](const RunReport& report) { alone = report.correlators; }});
        const campaign::RowResults& row = results.of_quarks.at(quark.name).at(text_of(source));
        REQUIRE(row.correlators.size() == alone.size());
        for (const Correlator& expected : alone) {
          const auto same = [&](const Correlator& c) { return c.name == expected.name; };
          const auto got = std::find_if(row.correlators.begin(), row.correlators.end(), same);
          REQUIRE(got != row.correlators.end());
          CHECK(got->values == expected.values);
          CHECK(got->imaginary == expected.imaginary);
        }
      }
  }
  const std::string averages = read_file(small.folder.file("out/campaign.h5"));
  rows = 0;
  run(small.campaign(), {}, unwatched(), listener);
  CHECK(rows == 0);
  CHECK(read_file(small.folder.file("out/campaign.h5")) == averages);
  small.write(R"(sources = ["wall:1", "point:1,0,1,2", "point:0,0,0,0"])", "kappa = 0.11");
  run(small.campaign(), {}, unwatched(), listener);
  CHECK(rows == 4);
  small.write(R"(sources = ["wall:1", "point:0,0,0,0"])", "kappa = 0.12");
  CHECK_THROWS_WITH_AS(run(small.campaign(), {}, unwatched(), listener),
                       doctest::Contains("small.toml:12: quark.light.kappa: kappa is 0.12 here, and was 0.11 when rows of quark light"),
                       Error);
  const auto same_file = [&] { return campaign::Journal(small.folder.file("out/journal.jsonl"), campaign::Journal::Mode::write); };
  const campaign::Journal held = same_file();
  CHECK_THROWS_WITH_AS(same_file(), doctest::Contains("another campaign is writing this file"), Error);
}

TEST_CASE("names above the quarks: pions are those of each action; mistakes name place and keys") {
  Small small({1});
  const campaign::Campaign both = small.campaign();
  CHECK(both.quarks[0].config.correlators.names == std::vector<std::string>{"pion", "proton", "rho"});
  CHECK(both.quarks[1].config.correlators.names == std::vector<std::string>{"pion", "rho"});
  small.write(R"(sources = ["point:0,0,0,0"])", "kappa = 0.11\nrestart = 8");
  CHECK_THROWS_WITH_AS(
      small.campaign(),
      doctest::Contains("small.toml:13: quark.light.restart: it means nothing for bicgstab; use `solver` gcr, or leave it out"), Error);
  small.write(R"(sources = ["point:0,0,0,0"])", "kappa = 0.11\nmax-iterations = 1");
  std::string failure;
  CHECK_THROWS_AS(run(small.campaign(), {}, unwatched(), {.failed = [&](const campaign::Failure& f) { failure += f.reason; }}), Error);
  CHECK(failure.find("; raise `max-iterations`, or move kappa away from its critical value") != std::string::npos);
}

TEST_CASE("averages of a campaign are those of its rows, over sources of one kind") {
  Small small({3, 4, 5});
  small.write(R"(sources = ["point:0,0,0,0", "point:1,1,1,2", "wall:0"])", "kappa = 0.1");
  run(small.campaign(), {}, unwatched(), {});
  const campaign::Journal journal(small.folder.file("out/journal.jsonl"), campaign::Journal::Mode::look);
  const std::vector<campaign::Average> averages = averages_of(small.campaign(), journal);
  REQUIRE(averages.size() == 4);  // of each quark from points and from the wall
  CHECK(averages[0].quark == "light");
  CHECK(averages[0].source == "point");
  CHECK(averages[0].configurations == std::vector<std::string>{"lat.3", "lat.4", "lat.5"});
  std::vector<double> pions;
  for (const int seed : {3, 4, 5}) {
    const campaign::ConfigurationResults results = small.results(seed);
    double pion = 0;
    for (const char* source : {"point:0,0,0,0", "point:1,1,1,2"})
      for (const Correlator& c : results.of_quarks.at("light").at(source).correlators)
        if (c.name == "pion") pion += c.values[1] / 2;
    pions.push_back(pion);
  }
  const auto pion =
      std::find_if(averages[0].correlators.begin(), averages[0].correlators.end(), [](const auto& c) { return c.name == "pion"; });
  REQUIRE(pion != averages[0].correlators.end());
  CHECK(pion->real[1].mean == doctest::Approx((pions[0] + pions[1] + pions[2]) / 3).epsilon(1e-14));
  CHECK(pion->real[1].error == doctest::Approx(confidence_interval(pions).error / student_t(0.95, 2)).epsilon(1e-8));
}
