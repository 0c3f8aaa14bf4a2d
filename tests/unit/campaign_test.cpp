// Campaigns: averages, results, journal, and a small campaign beside the solves that it consists of.
#include "apps/campaign/page.hpp"
#include "apps/campaign/progress.hpp"
#include "apps/campaign/results_file.hpp"
#include "apps/campaign/run.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/generate_run.hpp"
#include "apps/run/run.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

namespace campaign_test {

using namespace quarkstar;
using namespace quarkstar::app;
using quarkstar::testing::read_file;
using quarkstar::testing::TemporaryFolder;
using quarkstar::testing::write_file;

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
      chain.session.cuda_workers = 0;
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
  std::string journal() const { return folder.file("out/journal.jsonl"); }
  void replace_in_journal(const std::string& old, const std::string& with) const {
    std::string text = read_file(journal());
    REQUIRE(text.find(old) != std::string::npos);
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old)) text.replace(at, old.size(), with);
    write_file(journal(), text);
  }
  campaign::ConfigurationResults results(int seed) const {
    return campaign::read_results(folder.file(fmt::format("out/configurations/lat.{}.h5", seed)));
  }
};

}  // namespace

TEST_CASE("a campaign has the bits of the solves that it consists of, and computes only what is missing") {
  Small small({1, 2});
  std::string plan;
  int rows = 0;
  double seconds = 0;
  std::optional<campaign::TimeSpent> spent;
  const campaign::Listener listener{.planned = [&](const campaign::CampaignPlan& p) { plan = text_of(p); },
                                    .done =
                                        [&](const std::string&, int some, double of_configuration) {
                                          rows += some;
                                          seconds += of_configuration;
                                        },
                                    .spent = [&](const campaign::TimeSpent& s) { spent = s; }};
  run(small.campaign(), {}, unwatched(), listener);
  CHECK(rows == 8);
  REQUIRE(spent);
  CHECK(spent->seconds >= seconds);
  CHECK(spent->solves > 0);
  CHECK(spent->set_ups > 0);
  CHECK(spent->solves + spent->set_ups <= seconds);
  REQUIRE(!spent->workers.empty());
  for (const campaign::TimeSpent::Worker& worker : spent->workers) {
    CHECK(worker.busy > 0);
    CHECK(worker.busy <= spent->seconds);
    CHECK(worker.bytes > 0);
  }
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
  spent.reset();
  run(small.campaign(), {}, unwatched(), listener);
  CHECK(rows == 0);
  CHECK(!spent);
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

TEST_CASE("what a campaign says of its time adds up") {
  const campaign::TimeSpent spent{80, 15, 40, false, {{"CUDA 0.0", 56, 3e9}, {"CPU 0", 8, 1e9}}};
  CHECK(text_of(spent) ==
        "time: 80 s: set-ups 15 s, solves 40 s, the rest (contractions, files, measurements, waiting) 25 s\n"
        "workers: CUDA 0.0 busy 70 %, 75 % of the work; CPU 0 busy 10 %, 25 % of the work\n");
  CHECK(text_of(campaign::TimeSpent{10, 4, 12, true, {}}) ==
        "time: 10 s: set-ups 4.0 s, solves 12 s, added up over those at once\nworkers: \n");
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

TEST_CASE("a baryon has one correlator from all source times: what the boundary gives it is given back") {
  Small small({});
  save_gauge(small.folder.file("lat.1"), reference::unit_gauge({2, 2, 2, 4}), {});
  const auto averages = [&](const std::string& sources) {
    small.write("sources = [" + sources + "]",
                "kappa = 0.08\nthree-points = [\"pion:1\", \"proton_d:2\"]\ncurrents = [\"conserved_t\", \"scalar\"]");
    run(small.campaign(), {}, unwatched(), {});
    return averages_of(small.campaign(), campaign::Journal(small.journal(), campaign::Journal::Mode::look));
  };
  const std::string at_0 = R"("point:0,0,0,0")";
  const campaign::Average one = averages(at_0).front();
  const campaign::Average all = averages(at_0 + R"(, "point:0,0,0,1", "point:0,0,0,2", "point:0,0,0,3")").front();
  REQUIRE(one.correlators.size() == all.correlators.size());
  bool has_proton = false, has_three_points = false;
  for (std::size_t c = 0; c < one.correlators.size(); ++c) {
    CAPTURE(one.correlators[c].name);
    has_proton = has_proton || one.correlators[c].name == "proton";
    has_three_points = has_three_points || one.correlators[c].name == "proton_d_3pt_dt2_conserved_t";
    CHECK(one.correlators[c].mass().empty() == is_three_point(one.correlators[c].name));
    double scale = 0;
    for (const Estimate& value : one.correlators[c].real) scale = std::max(scale, std::abs(value.mean));
    for (std::size_t t = 0; t < 4; ++t) CHECK(std::abs(one.correlators[c].real[t].mean - all.correlators[c].real[t].mean) < 1e-7 * scale);
    CHECK(one.correlators[c].goes_both_ways() == !one.correlators[c].name.starts_with("proton"));
  }
  CHECK(has_proton);
  CHECK(has_three_points);
}

TEST_CASE("names of channels in those of correlators") {
  for (const char* name : {"proton", "proton_p1,0,0", "proton_p1,-1,0_m0.05", "delta_minus_p1,0,0", "proton_u_3pt_dt8_vector_t_q1,0,0"})
    CHECK(contract::channel_of(name).baryon);
  CHECK(contract::channel_of("proton_minus_p1,0,0").name == "proton_minus");
  CHECK(contract::channel_of("rho_x_m0.5").name == "rho_x");
  CHECK(contract::channel_of("rho_m0.5").name == "rho");
  CHECK(contract::channel_of("a4p").reflection == -1);
  CHECK(!contract::channel_of("pion2").baryon);
  CHECK(!contract::channel_of("pion_3pt_dt8_vector_t").baryon);
}

TEST_CASE("settings may change while no row of the quark is done, and new ones have their defaults before") {
  Small small({1});
  const auto refusal = [&] {
    try {
      run(small.campaign(), {}, unwatched(), {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string source = R"(sources = ["point:0,0,0,0"])";
  small.write(source, "kappa = 0.11\nmax-iterations = 1");
  CHECK(refusal().find("failures, of configurations or rows; the first: lat.1 light point:0,0,0,0: column 0 (spin 0") != std::string::npos);
  small.write(source, "kappa = 0.12");
  CHECK(refusal() == "");
  small.write(source, "kappa = 0.11");
  CHECK(refusal().find("kappa is 0.11 here, and was 0.12 when rows of quark light") != std::string::npos);
  // The journal of a program that did not know the key yet, nor of versions.
  small.replace_in_journal(R"("nu":1.0,)", "");
  small.replace_in_journal(R"(,"version":)", R"(,"other":)");
  small.write(source, "kappa = 0.12\nnu = 1.1");
  CHECK(refusal().find("nu is 1.1 here, and was 1.0 when") != std::string::npos);
  small.write(R"(sources = ["point:0,0,0,0", "wall:2"])", "kappa = 0.12");
  CHECK(refusal() == "");
  CHECK(read_file(small.journal()).find(R"("version":"quarkstar )") != std::string::npos);
}

TEST_CASE("how many vectors a solver mixes is a setting of the quark") {
  Small small({1});
  const std::string source = R"(sources = ["point:0,0,0,0"])";
  const auto write = [&](int nrhs, const char* solver) {
    small.write(source, "kappa = 0.11");
    std::string text = read_file(small.file);
    text.replace(text.find("masses = [0.5, 0.9]"), 19, fmt::format("mass = 0.5\nnrhs = {}\nsolver = \"{}\"", nrhs, solver));
    write_file(small.file, text);
  };
  write(3, "blockcg");
  run(small.campaign(), {}, unwatched(), {});
  write(1, "blockcg");
  CHECK_THROWS_WITH_AS(run(small.campaign(), {}, unwatched(), {}),
                       doctest::Contains("nrhs is 1 here, and was 3 when rows of quark staggered"), Error);
  CHECK(campaign::changes_no_bit("nrhs", small.campaign().quarks[0].config));
}

TEST_CASE("results that are lost or damaged are computed again, also if that is cut short") {
  Small small({1, 2});
  run(small.campaign(), {}, unwatched(), {});
  const std::string file = small.folder.file("out/configurations/lat.2.h5"), before = read_file(file);
  const campaign::Campaign whole = small.campaign();
  const auto done = [&](campaign::Journal::Mode mode) {
    campaign::Journal journal(small.journal(), mode);
    journal.forget_lost(whole);
    return journal.rows_of("lat.2").size();
  };
  using Mode = campaign::Journal::Mode;
  CHECK(done(Mode::look) == 4);
  const campaign::Row first{"lat.2", "light", "point:0,0,0,0"};
  const auto lacks = [&](const std::string& bytes) {
    std::filesystem::remove(file);
    if (!bytes.empty()) write_file(file, bytes);
    CHECK(done(Mode::look) == 0);
    CHECK(done(Mode::write) == 0);
    // One row is done again, and then the program is killed: the other lines of the journal do not count again.
    campaign::ConfigurationResults results = small.results(1);
    campaign::ConfigurationResults one{results.links, {}};
    one.of_quarks["light"]["point:0,0,0,0"] = results.of_quarks.at("light").at("point:0,0,0,0");
    write_results(file, "lat.2", one);
    campaign::Journal(small.journal(), Mode::write).note_done(first, 1);
    CHECK(done(Mode::write) == 1);
    std::filesystem::remove(file);
    int rows = 0;
    run(whole, {}, unwatched(), {.done = [&](const std::string&, int some, double) { rows += some; }});
    CHECK(rows == 4);
    CHECK(read_file(file) == before);
  };
  lacks("");
  lacks(before.substr(0, 3000));
  CHECK(read_file(file + ".damaged") == before.substr(0, 3000));
  lacks("no HDF5 file");
  // What cannot be read for a while is not lost.
  std::filesystem::rename(file, file + ".away");
  std::filesystem::create_directory(file);
  CHECK_THROWS_WITH_AS(done(Mode::write), doctest::Contains("lat.2.h5: cannot read the results: "), Error);
  std::filesystem::remove(file);
  std::filesystem::rename(file + ".away", file);
  CHECK(done(Mode::write) == 4);
  // A row that is missing takes no other with it.
  campaign::ConfigurationResults fewer = small.results(2);
  fewer.of_quarks.at("staggered").erase("wall:1");
  write_results(file, "lat.2", fewer);
  CHECK(done(Mode::write) == 3);
  run(whole, {}, unwatched(), {});
  CHECK(read_file(file) == before);
}

TEST_CASE("a start that is refused touches no file of the campaign that runs") {
  Small small({1});
  run(small.campaign(), {}, unwatched(), {});
  const std::string temporary = small.folder.file("out/configurations/.lat.1.h5.123-0.tmp");
  {
    const campaign::Journal held(small.journal(), campaign::Journal::Mode::write);
    write_file(temporary, "being written");
    CHECK_THROWS_WITH_AS(run(small.campaign(), {}, unwatched(), {}), doctest::Contains("another campaign is writing this file"), Error);
    CHECK(std::filesystem::exists(temporary));
  }
  run(small.campaign(), {}, unwatched(), {});
  CHECK(!std::filesystem::exists(temporary));
}

TEST_CASE("configurations are in the order of their numbers, and bins that are too long are told") {
  Small small({10, 9, 1});
  std::vector<std::string> names;
  for (const campaign::Configuration& configuration : small.campaign().configurations) names.push_back(configuration.name);
  CHECK(names == std::vector<std::string>{"lat.1", "lat.9", "lat.10"});
  small.write("bin = 2\nsources = [\"point:0,0,0,0\"]", "kappa = 0.11");
  run(small.campaign(), {}, unwatched(), {});
  const std::string report = read_file(small.folder.file("out/report.html"));
  CHECK(report.find("3 of 3 configurations; no errors, for which there have to be two bins, 2 configurations in a bin") !=
        std::string::npos);
  CHECK(report.find("a m pion (cosh)") != std::string::npos);
  CHECK(report.find("a m proton (log)") != std::string::npos);
}

namespace {

/// The number of iterations of the slowest column of each source of the light quark.
std::vector<int> iterations_of(const Small& small) {
  std::vector<int> iterations;
  for (const Source& source : small.campaign().sources) {
    const std::vector<int> all = small.results(1).of_quarks.at("light").at(text_of(source)).iterations;
    iterations.push_back(*std::max_element(all.begin(), all.end()));
  }
  return iterations;
}

/// Is interrupted when the iteration, or the right-hand side, comes.
class Signal : public RunWatch {
 public:
  explicit Signal(std::string when) : when_(std::move(when)) {}
  bool interrupted() override { return come_; }
  std::unique_ptr<RunProgress> progress(const std::string&, int) override { return std::make_unique<Progress>(*this); }

 private:
  struct Progress : RunProgress {
    explicit Progress(Signal& its) : signal(its) {}
    void update(int, double, const std::string& detail) override { look(detail); }
    void step_done(int step, const std::string&) override { look(fmt::format("{} done", step)); }
    void look(const std::string& now) const {
      if (now.find(signal.when_) != std::string::npos) signal.come_ = true;
    }
    Signal& signal;
  };
  std::string when_;
  bool come_ = false;
};

std::size_t rows_done(const Small& small) {
  return campaign::Journal(small.journal(), campaign::Journal::Mode::look).rows_of("lat.1").size();
}

const std::string both_sources = R"(sources = ["point:0,0,0,0", "wall:1"])";

}  // namespace

TEST_CASE("a source that does not converge keeps no other from being solved, and is a failure until nobody wants it") {
  Small small({1});
  small.write(both_sources, "kappa = 0.2\ncheck-every = 1");
  run(small.campaign(), {}, unwatched(), {});
  const std::vector<int> needed = iterations_of(small);
  REQUIRE(needed[0] != needed[1]);
  const std::size_t slow = needed[0] > needed[1] ? 0 : 1;
  const std::vector<std::string> names{"point:0,0,0,0", "wall:1"};
  const std::string limited = fmt::format("kappa = 0.2\nmax-iterations = {}", needed[1 - slow]);
  for (const int nrhs : {12, 24}) {  // each alone, and together in a group
    CAPTURE(nrhs);
    std::filesystem::remove_all(small.folder.file("out"));
    small.write(fmt::format(R"(sources = ["{}", "{}"])", names[slow], names[1 - slow]), limited + fmt::format("\nnrhs = {}", nrhs));
    std::vector<std::string> failed;
    CHECK_THROWS_WITH_AS(
        run(small.campaign(), {}, unwatched(), {.failed = [&](const campaign::Failure& failure) { failed.push_back(failure.name()); }}),
        doctest::Contains("1 failures, of configurations or rows; the first: lat.1 light "), Error);
    CHECK(failed == std::vector<std::string>{"lat.1 light " + names[slow]});
    CHECK(rows_done(small) == 3);
  }
  // It is named where nothing else is missing, too.
  CHECK_THROWS_WITH_AS(run(small.campaign(), {}, unwatched(), {}), doctest::Contains(("lat.1 light " + names[slow] + ": column ").c_str()),
                       Error);
  small.write(fmt::format(R"(sources = ["{}"])", names[1 - slow]), limited);
  run(small.campaign(), {}, unwatched(), {});
}

TEST_CASE("after a signal no further source begins") {
  Small small({1});
  const std::string sources = R"(grace = 600
sources = ["point:0,0,0,0", "point:0,0,0,1", "point:0,0,0,2", "point:0,0,0,3"])";
  for (const int in_flight : {1, 2}) {
    CAPTURE(in_flight);
    std::filesystem::remove_all(small.folder.file("out"));
    small.write(sources, fmt::format("kappa = 0.11\nnrhs = 6\nin-flight = {}", in_flight));
    Signal signal("6 done");
    CHECK_THROWS_AS(run(small.campaign(), {}, signal, {}), Interrupted);
    CHECK(rows_done(small) == 1);  // of two groups in flight both are of the first source
  }
  run(small.campaign(), {}, unwatched(), {});
  CHECK(rows_done(small) == 8);
}

TEST_CASE("a source that is complete when a group of several is interrupted is done") {
  Small small({1});
  small.write(both_sources, "kappa = 0.2\ncheck-every = 1");
  run(small.campaign(), {}, unwatched(), {});
  const std::vector<int> needed = iterations_of(small);
  REQUIRE(std::abs(needed[0] - needed[1]) > 2);
  std::filesystem::remove_all(small.folder.file("out"));
  small.write("grace = 0\n" + both_sources, "kappa = 0.2\ncheck-every = 1\nnrhs = 24");
  Signal signal(fmt::format("iteration {} ", std::min(needed[0], needed[1]) + 1));
  CHECK_THROWS_AS(run(small.campaign(), {}, signal, {}), Interrupted);
  CHECK(rows_done(small) == 1);
}

TEST_CASE("the remaining time falls with each row") {
  const Small small({1});
  std::string while_none_is_left = "never asked", at_first;
  const auto planned = [&](const campaign::CampaignPlan& plan) {
    campaign::CampaignWatch watch(unwatched(), plan);
    at_first = watch.left_text();
    for (const campaign::QuarkPlan& quark : plan.quarks) {
      watch.begin("lat.1", *quark.quark);
      watch.row_done();
      watch.row_done();
      while_none_is_left = watch.left_text();
      watch.end(2);
    }
  };
  run(small.campaign(), {.dry_run = true}, unwatched(), {.planned = planned});
  CHECK(at_first == "");
  CHECK(while_none_is_left == "");
}

TEST_CASE("a setting that was given twice has the place of the last") {
  Small small({1});
  small.write("solver = \"bicgstab\"\n" + both_sources, "kappa = 0.1\nsolver = \"cg\"");
  CHECK_THROWS_WITH_AS(small.campaign(), doctest::Contains("small.toml:14: quark.light.solver: "), Error);
  CHECK_THROWS_WITH_AS(small.campaign(), doctest::Contains("'cg' is not for the action wilson"), Error);
}

}  // namespace campaign_test
