// Parts of campaigns alone: jackknife, effective masses, files of results, texts.
#include "apps/campaign/averages.hpp"
#include "apps/campaign/background_writer.hpp"
#include "apps/campaign/campaign.hpp"
#include "apps/campaign/helper.hpp"
#include "apps/campaign/plan.hpp"
#include "apps/campaign/progress.hpp"
#include "apps/campaign/results_file.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

namespace campaign_parts_test {

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

TEST_CASE("low-mode averages are expected of mesons to point sinks, not of baryons and smeared sinks") {
  const TemporaryFolder folder;
  write_file(folder.file("lat.1"), "");
  const auto bytes = [&](const std::string& correlators, bool averages) {
    write_file(folder.file("c.toml"), fmt::format(R"(configurations = ["{}"]
out = "{}"
sources = ["point:0,0,0,0", "point:0,0,0,4"]
sinks = ["point", "gaussian:1,4"]
correlators = [{}]
[quark.light]
action = "wilson"
kappa = 0.12
deflate = "modes.h5"
low-mode-average = {}
)",
                                                  folder.file("lat.1"), folder.file("out"), correlators, averages));
    const campaign::Campaign read = campaign::read_campaign(folder.file("c.toml"), {});
    const campaign::Journal journal(read.journal(), campaign::Journal::Mode::look);
    return plan_rows(read, journal, {4, 4, 4, 8}).disk_bytes;
  };
  // Two rows, each with an average of the pion and of three rhos.
  const double four = 2 * (campaign::results_bytes(1, 4, 0, 8) - campaign::results_bytes(1, 0, 0, 8));
  for (const std::string correlators : {R"("pion", "rho")", R"("pion", "rho", "proton", "decuplet")"}) {
    CAPTURE(correlators);
    CHECK(bytes(correlators, true) - bytes(correlators, false) == doctest::Approx(four));
  }
}

TEST_CASE("remedies name keys where commands have flags") {
  CHECK(campaign::with_keys("use --precision double with fewer --nrhs, or --devices all without --blocks") ==
        "use `precision` double with fewer `nrhs`, or `devices` all without `blocks`");
  CHECK(campaign::with_keys("raise --max-iterations") == "raise `max-iterations`");
  CHECK(campaign::with_keys("./bootstrap build --cuda-architectures LIST -- a --") ==
        "./bootstrap build --cuda-architectures LIST -- a --");
}

TEST_CASE("a helper begins rows that it ends in time, and short ones where they gain as much") {
  const campaign::HelpfulRow light{.gain = 0.016, .seconds = 46}, heavy{.gain = 0.015, .seconds = 16}, poor{.gain = 0.01, .seconds = 5};
  const auto seconds_of_best = [](std::vector<campaign::HelpfulRow> rows, double left) {
    for (campaign::HelpfulRow& row : rows) row.left = left;
    const campaign::HelpfulRow* const best = campaign::best_of(rows);
    return best != nullptr ? best->seconds : 0;
  };
  CHECK(seconds_of_best({light, heavy, poor}, 100) == 16);
  CHECK(seconds_of_best({light, poor}, 100) == 46);
  CHECK(seconds_of_best({light, poor}, 40) == 5);
  CHECK(seconds_of_best({light, heavy, poor}, 10) == 5);
  CHECK(seconds_of_best({light, heavy, poor}, 3) == 0);
  CHECK(seconds_of_best({}, 100) == 0);
}

TEST_CASE("a background writer keeps the order, and tells what failed until it goes") {
  std::vector<int> done;
  {
    campaign::BackgroundWriter writer;
    for (int i = 0; i < 100; ++i) writer.add([&done, i] { done.push_back(i); });
    writer.wait();
    REQUIRE(done.size() == 100);
    CHECK(std::is_sorted(done.begin(), done.end()));
    writer.add([] { throw Error(ErrorKind::environment, "disk", "full", ""); });
    writer.add([&done] { done.push_back(100); });
    for (int i = 0; i < 2; ++i) CHECK_THROWS_WITH_AS(writer.wait(), doctest::Contains("disk: full"), Error);
    writer.add([&done] { done.push_back(101); });
    CHECK_THROWS_AS(writer.wait(), Error);
  }
  CHECK(done.size() == 100);
  {
    campaign::BackgroundWriter writer;
    for (int i = 0; i < 10; ++i) writer.add([&done] { done.push_back(0); });
  }
  CHECK(done.size() == 110);
}

TEST_CASE("durations in words") {
  CHECK(campaign::duration_text(0.34) == "0.3 s");
  CHECK(campaign::duration_text(35) == "35 s");
  CHECK(campaign::duration_text(12 * 60) == "12 min");
  CHECK(campaign::duration_text(3.4 * 3600) == "3.4 h");
  CHECK(campaign::duration_text(2.1 * 86400) == "2.1 days");
}

}  // namespace campaign_parts_test
