// Hadrons of two quarks in campaigns: beside sums over contractions of solves by the reference, and what is computed when.
#include "apps/campaign/hadron_rows.hpp"
#include "apps/campaign/results_file.hpp"
#include "apps/campaign/run.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/json_lines.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/staggered.hpp"
#include "tests/reference/wilson.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace quarkstar;
using namespace quarkstar::app;
using quarkstar::testing::read_file;
using quarkstar::testing::TemporaryFolder;
using quarkstar::testing::write_file;
using reference::Complex;
using reference::Matrix;

namespace {

constexpr std::uint64_t seed = 60221;
const Coord extents{2, 2, 2, 4};

const std::string quarks = R"([quark.light]
action = "wilson"
kappa = 0.11
[quark.charm]
action = "naive"
mass = 0.9
[quark.strange]
action = "wilson"
kappa = 0.09
[quark.down]
action = "naive"
mass = 0.3
)",
                  hadrons = R"([hadron.kaon]
quarks = ["light", "strange"]
correlators = ["mesons"]
[hadron.xi]
quarks = ["strange", "light"]
correlators = ["octet", "decuplet"]
[hadron.d]
quarks = ["charm", "down"]
)";

/// A configuration or two, and a campaign's file.
struct Ensemble {
  TemporaryFolder folder;
  std::string file = folder.file("small.toml");
  HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);

  explicit Ensemble(int configurations = 1) {
    for (int c = 0; c < configurations; ++c)
      save_gauge(folder.file(fmt::format("lat.{}", c)), c == 0 ? gauge : reference::near_unit_gauge(extents, seed + 1, 0.3), {});
  }
  campaign::Campaign write(const std::string& tables, const std::string& out = "out",
                           const std::string& sources = R"("point:1,0,1,3", "wall:1")", const std::string& above = "") const {
    write_file(file, fmt::format(R"(configurations = ["{}"]
out = "{}"
sources = [{}]
workers = 1
gpus = 0
no-tune = true
tol = 1e-12
{}
{})",
                                 folder.file("lat.*"), folder.file(out), sources, above, tables));
    return campaign::read_campaign(file, {});
  }
  std::string refusal(const std::string& tables, const std::string& above = "") const {
    try {
      write(tables, "out", R"("point:1,0,1,3")", above);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::string results_file(const std::string& out = "out", int configuration = 0) const {
    return folder.file(fmt::format("{}/configurations/lat.{}.h5", out, configuration));
  }
  /// How many lines of the journal say that a row of a quark or a hadron is done.
  int rows(const std::string& name, const std::string& out = "out") const {
    int count = 0;
    JsonLines::read(folder.file(out + "/journal.jsonl"), "campaign", [&](const JsonLines::Json& line) {
      if (line.at("kind") == "done" && line.at("quark") == name) ++count;
    });
    return count;
  }
};

void run(const campaign::Campaign& campaign) { run(campaign, {}, unwatched(), {}); }

/// A quark's table with another line.
std::string with_line(std::string tables, const std::string& quark, const std::string& line) {
  const std::string head = fmt::format("[quark.{}]\n", quark);
  return tables.insert(tables.find(head) + head.size(), line + "\n");
}

reference::Propagator wilson_propagator(const HostGauge& gauge, double kappa, const Coord& origin) {
  const reference::Boundary boundary = reference::Boundary::antiperiodic_t();
  return reference::point_propagator([&](const reference::Field& psi) { return reference::wilson(gauge, kappa, psi, boundary); },
                                     [&](const reference::Field& psi) { return reference::wilson_dagger(gauge, kappa, psi, boundary); },
                                     extents, 4, origin, 1e-14);
}

void check_close(const Correlator& got, const std::vector<Complex>& expected, std::size_t source_time, double scale) {
  REQUIRE(got.values.size() == expected.size());
  REQUIRE(got.imaginary.size() == expected.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    INFO(got.name << " t " << t);
    CHECK(std::abs(Complex{got.values[t], got.imaginary[t]} - expected[(t + source_time) % expected.size()]) < 1e-9 * scale);
  }
}

const Correlator& named(const campaign::RowResults& row, std::string_view name) {
  const auto found = std::find_if(row.correlators.begin(), row.correlators.end(), [&](const Correlator& c) { return c.name == name; });
  REQUIRE(found != row.correlators.end());
  return *found;
}

}  // namespace

TEST_CASE("hadrons of two quarks are the sums over contractions of the reference's propagators") {
  MESSAGE("seed " << seed);
  const Ensemble ensemble;
  const Coord origin{1, 0, 1, 3};
  run(ensemble.write(quarks + hadrons, "out", R"("point:1,0,1,3")", "momenta = [[0, 0, 0], [1, 0, 1]]"));
  const campaign::ConfigurationResults results = campaign::read_results(ensemble.results_file());
  const reference::Propagator light = wilson_propagator(ensemble.gauge, 0.11, origin),
                              strange = wilson_propagator(ensemble.gauge, 0.09, origin);
  const campaign::RowResults &kaon = *results.find("kaon", "point:1,0,1,3"), &xi = *results.find("xi", "point:1,0,1,3"),
                             &d = *results.find("d", "point:1,0,1,3");
  CHECK(kaon.correlators.size() == 34);
  CHECK(xi.correlators.size() == 14);
  CHECK(kaon.iterations.empty());
  const double scale = reference::pion(light)[3];
  for (const auto& [name, n] : {std::pair("pion", 15), {"rho_x", 1}, {"a1_z", 11}, {"b0", 8}}) {
    const Matrix<4> g = reference::gamma_product(n);
    check_close(named(kaon, name), reference::meson(light, strange, g, g, {}, origin), 3, scale);
    check_close(named(kaon, std::string(name) + "_p1,0,1"), reference::meson(light, strange, g, g, {1, 0, 1}, origin), 3, scale);
  }
  const Matrix<4> g4 = reference::gamma_product(8),
                  nucleon = reference::gamma_product(2) * g4 * reference::gamma5(reference::Basis::degrand_rossi),
                  plus = Complex{0.5} * (Matrix<4>::identity() + g4);
  // Two strange quarks and a light one; lambda: of two flavours with the strange quark's mass.
  const std::vector<const reference::Propagator*> flavours{&strange, &strange, &light};
  const double sixth = std::sqrt(1.0 / 6);
  const double of_baryon = std::abs(reference::baryon(flavours, {{1, {0, 2, 0}}}, nucleon, plus, {}, origin)[3]);
  check_close(named(xi, "proton"), reference::baryon(flavours, {{1, {0, 2, 0}}}, nucleon, plus, {}, origin), 3, of_baryon);
  check_close(
      named(xi, "lambda_p1,0,1"),
      reference::baryon(flavours, {{2 * sixth, {0, 1, 2}}, {sixth, {0, 2, 1}}, {-sixth, {1, 2, 0}}}, nucleon, plus, {1, 0, 1}, origin), 3,
      of_baryon);
  const reference::StaggeredLinks links =
      reference::naive_links(reference::with_boundary(ensemble.gauge, reference::Boundary::antiperiodic_t()));
  const auto staggered = [&](double mass) {
    return reference::point_propagator([&](const reference::Field& chi) { return reference::staggered(links, mass, chi); },
                                       [&](const reference::Field& chi) { return reference::staggered_dagger(links, mass, chi); }, extents,
                                       1, origin, 1e-14);
  };
  const reference::Propagator charm = staggered(0.9), down = staggered(0.3);
  std::vector<Complex> pion(4);
  for (std::size_t column = 0; column < 3; ++column)
    for (std::int64_t site = 0; site < volume(extents); ++site)
      for (int c = 0; c < 3; ++c) pion[coordinates(site, extents)[3]] += charm[column](site, 0, c) * std::conj(down[column](site, 0, c));
  check_close(named(d, "pion5"), pion, 3, std::abs(pion[3]));
}

TEST_CASE("of two quarks that are alike a hadron has the correlators of one; exchanged, a meson is its complex conjugate") {
  const Ensemble ensemble;
  run(ensemble.write(R"([quark.light]
action = "wilson"
kappa = 0.11
[quark.strange]
action = "wilson"
kappa = 0.09
[quark.twin]
action = "wilson"
kappa = 0.11
[hadron.same]
quarks = ["light", "twin"]
[hadron.kaon]
quarks = ["light", "strange"]
correlators = ["pion", "rho"]
[hadron.antikaon]
quarks = ["strange", "light"]
correlators = ["pion", "rho"]
)",
                     "out", R"("point:0,0,0,0", "gaussian:1,1,0,2,1,4")",
                     "correlators = [\"pion\", \"rho\", \"proton\", \"delta\"]\nmomenta = [[0, 0, 0], [1, 0, 0]]\nsinks = [\"point\", "
                     "\"gaussian:1,4,0.5,2\"]"));
  const campaign::ConfigurationResults results = campaign::read_results(ensemble.results_file());
  for (const char* source : {"point:0,0,0,0", "gaussian:1,1,0,2,1,4"}) {
    const campaign::RowResults &one = *results.find("light", source), &same = *results.find("same", source);
    REQUIRE(one.correlators.size() == same.correlators.size());
    for (const Correlator& c : one.correlators)
      for (std::size_t t = 0; t < 4; ++t) {
        INFO(c.name << " t " << t);
        const double scale = std::abs(c.values[0]);
        CHECK(std::abs(c.values[t] - named(same, c.name).values[t]) < 1e-12 * scale);
        CHECK(std::abs((c.imaginary.empty() ? 0 : c.imaginary[t]) - named(same, c.name).imaginary[t]) < 1e-12 * scale);
      }
    const campaign::RowResults &kaon = *results.find("kaon", source), &antikaon = *results.find("antikaon", source);
    for (const Correlator& c : kaon.correlators)
      for (std::size_t t = 0; t < 4; ++t) {
        const double scale = named(kaon, "pion").values[0];
        CHECK(std::abs(c.values[t] - named(antikaon, c.name).values[t]) < 1e-12 * scale);
        CHECK(std::abs(c.imaginary[t] + named(antikaon, c.name).imaginary[t]) < 1e-12 * scale);
      }
  }
}

TEST_CASE("of twisted mass mu and -mu mesons of two quarks are the neutral ones, of mu and mu the charged ones") {
  const Ensemble ensemble;
  const std::string twisted = "action = \"twisted-mass\"\nkappa = 0.11\n";
  run(ensemble.write("[quark.both]\n" + twisted + "mu = [0.2, -0.2]\ncorrelators = [\"mesons\", \"neutral-mesons\"]\n[quark.up]\n" +
                     twisted + "mu = 0.2\n[quark.down]\n" + twisted + "mu = -0.2\n[quark.strange]\n" + twisted + "mu = 0.2\n" +
                     R"([hadron.neutral]
quarks = ["up", "down"]
correlators = ["mesons"]
[hadron.charged]
quarks = ["up", "strange"]
correlators = ["mesons"]
)"));
  const campaign::ConfigurationResults results = campaign::read_results(ensemble.results_file());
  const campaign::RowResults &both = *results.find("both", "wall:1"), &neutral = *results.find("neutral", "wall:1"),
                             &charged = *results.find("charged", "wall:1");
  const double scale = named(both, "pion_m0.2").values[0];
  for (const char* name : {"pion", "rho_x", "a0", "b1_z"})
    for (std::size_t t = 0; t < 4; ++t) {
      INFO(name << " t " << t);
      const Correlator& expected = named(both, fmt::format("neutral_{}_m0.2", name));
      CHECK(std::abs(named(neutral, name).values[t] - expected.values[t]) < 1e-11 * scale);
      CHECK(std::abs(named(neutral, name).imaginary[t] - expected.imaginary[t]) < 1e-11 * scale);
      CHECK(std::abs(named(charged, name).values[t] - named(both, fmt::format("{}_m0.2", name)).values[t]) < 1e-11 * scale);
      CHECK(std::abs(named(charged, name).imaginary[t]) < 1e-11 * scale);
    }
}

TEST_CASE("hadrons that are added later, or lost, get the same bytes, and no row of their quarks is written again") {
  const Ensemble ensemble(2);
  run(ensemble.write(quarks + hadrons, "whole"));
  run(ensemble.write(quarks));
  std::string plan;
  int rows = 0;
  const auto extend = [&] {
    rows = 0;
    run(ensemble.write(quarks + hadrons), {}, unwatched(),
        {.planned = [&](const campaign::CampaignPlan& p) { plan = text_of(p); },
         .done = [&](const std::string&, int some, double) { rows += some; }});
    for (const int configuration : {0, 1})
      CHECK(read_file(ensemble.results_file("out", configuration)) == read_file(ensemble.results_file("whole", configuration)));
    CHECK(read_file(ensemble.folder.file("out/campaign.h5")) == read_file(ensemble.folder.file("whole/campaign.h5")));
    for (const char* quark : {"light", "charm", "strange", "down"}) CHECK(ensemble.rows(quark) == 4);
  };
  extend();
  CHECK(rows == 12);
  CHECK(plan.find("4 quarks, 3 hadrons, 2 sources: 28 rows, 16 of them done, 12 to do") != std::string::npos);
  CHECK(plan.find("quark light: wilson, kappa = 0.11, bicgstab to tolerance 1e-12, 0 rows") != std::string::npos);
  CHECK(plan.find("  and 4 sources whose rows are done again, for hadrons") != std::string::npos);
  CHECK(plan.find("hadron xi: strange and light, 4 rows; proton proton_minus proton_mixed lambda lambda_minus delta delta_minus") !=
        std::string::npos);
  extend();
  CHECK(rows == 0);
  // Of one configuration one row of one hadron.
  campaign::ConfigurationResults fewer = campaign::read_results(ensemble.results_file("out", 1));
  fewer.of_quarks.at("xi").erase("wall:1");
  write_results(ensemble.results_file("out", 1), "lat.1", fewer);
  extend();
  CHECK(rows == 1);
  CHECK(plan.find("quark charm") == std::string::npos);
}

TEST_CASE("where a quark does not converge its hadrons wait, and others do not") {
  const Ensemble ensemble;
  run(ensemble.write(quarks + hadrons, "whole"));
  for (const char* quark : {"light", "strange"}) {
    CAPTURE(quark);
    std::filesystem::remove_all(ensemble.folder.file("out"));
    const std::string limited = with_line(quarks, quark, "max-iterations = 1");
    CHECK_THROWS_WITH_AS(run(ensemble.write(limited + hadrons)), doctest::Contains(fmt::format("the first: lat.0 {} ", quark).c_str()),
                         Error);
    CHECK(ensemble.rows("d") == 2);
    CHECK(ensemble.rows("kaon") == 0);
    run(ensemble.write(quarks + hadrons));
    CHECK(ensemble.rows("down") == 2);
    CHECK(read_file(ensemble.results_file()) == read_file(ensemble.results_file("whole")));
  }
}

TEST_CASE("a quark that is solved again for a hadron fails, and is no failure any more once it is solved") {
  const Ensemble ensemble;
  const std::string kaon = "[hadron.kaon]\nquarks = [\"light\", \"strange\"]\n";
  const auto failures = [&](const std::string& tables) {
    std::vector<std::string> names;
    CHECK_THROWS_AS(run(ensemble.write(tables + kaon)), Error);
    const campaign::Campaign campaign = ensemble.write(tables + kaon);
    const campaign::Journal journal(campaign.journal(), campaign::Journal::Mode::look);
    for (const auto& [row, reason] : journal.failures()) names.push_back(row.quark + " " + row.source);
    return names;
  };
  run(ensemble.write(quarks, "out"));
  CHECK(failures(with_line(quarks, "light", "max-iterations = 1")) == std::vector<std::string>{"light point:1,0,1,3", "light wall:1"});
  CHECK(failures(with_line(quarks, "strange", "max-iterations = 1")) ==
        std::vector<std::string>{"strange point:1,0,1,3", "strange wall:1"});
  run(ensemble.write(quarks + kaon));
  CHECK(ensemble.rows("light") == 2);
  CHECK(ensemble.rows("kaon") == 2);
}

TEST_CASE("propagators wait until the last row that needs them is done, or nobody will make it") {
  const Ensemble ensemble;
  const campaign::Campaign all =
      ensemble.write(quarks + hadrons + "[hadron.late]\nquarks = [\"light\", \"other\"]\ncorrelators = [\"pion\"]\n" +
                         "[quark.other]\naction = \"wilson\"\nkappa = 0.1\n",
                     "out", R"("point:1,0,1,3")");
  std::filesystem::create_directories(all.out);
  campaign::Journal journal(all.journal(), campaign::Journal::Mode::write);
  campaign::HadronRows rows(all, journal);
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 1}, 1);
  const auto quark = [&](std::string_view name) -> const campaign::Quark& {
    return *std::find_if(all.quarks.begin(), all.quarks.end(), [&](const campaign::Quark& q) { return q.name == name; });
  };
  const Source& source = all.sources.front();
  std::string made;
  const auto take = [&](std::string_view name) {
    const int components = quark(name).config.action->components;
    Propagator propagator{0, {}, {}};
    for (int column = 0; column < components; ++column) propagator.columns.emplace_back(components, extents);
    made.clear();
    rows.take(quark(name), source, std::move(propagator), {decomposition, nullptr, false},
              [&](const campaign::Hadron& hadron, const std::vector<Correlator>&) {
                made += hadron.name + " ";
                journal.note_done({"lat.0", hadron.name, "point:1,0,1,3"}, 1);
              });
    rows.is_over(quark(name));
  };
  rows.begin(all.configurations.front());
  take("light");
  CHECK(rows.kept() == 1);
  take("charm");
  CHECK(rows.kept() == 2);
  take("strange");
  CHECK(made == "kaon xi ");
  CHECK(rows.kept() == 2);      // light waits for other
  rows.is_over(quark("down"));  // which has failed
  CHECK(rows.kept() == 1);
  take("other");
  CHECK(made == "late ");
  CHECK(rows.kept() == 0);
  take("light");  // without use, as all that it is in is done
  CHECK(rows.kept() == 0);
  take("charm");
  rows.begin(all.configurations.front());
  CHECK(rows.kept() == 0);
}

TEST_CASE("a baryon of two quarks has one correlator from all source times") {
  const Ensemble ensemble;
  save_gauge(ensemble.folder.file("lat.0"), reference::unit_gauge(extents), {});
  const auto averages = [&](const std::string& sources) {
    const campaign::Campaign campaign =
        ensemble.write(quarks + "[hadron.sigma]\nquarks = [\"light\", \"strange\"]\ncorrelators = [\"octet\"]\n", "out", sources);
    run(campaign);
    return averages_of(campaign, campaign::Journal(campaign.journal(), campaign::Journal::Mode::look)).back();
  };
  const campaign::Average one = averages(R"("point:0,0,0,0")"),
                          all = averages(R"("point:0,0,0,0", "point:0,0,0,1", "point:0,0,0,2", "point:0,0,0,3")");
  CHECK(one.kind == "hadron");
  CHECK(one.quark == "sigma");
  REQUIRE(one.correlators.size() == 5);
  for (std::size_t c = 0; c < 5; ++c) {
    double scale = 0;
    for (const Estimate& value : one.correlators[c].real) scale = std::max(scale, std::abs(value.mean));
    CHECK(!one.correlators[c].goes_both_ways());
    for (std::size_t t = 0; t < 4; ++t) CHECK(std::abs(one.correlators[c].real[t].mean - all.correlators[c].real[t].mean) < 1e-9 * scale);
  }
  const std::string report = read_file(ensemble.folder.file("out/report.html"));
  for (const char* text : {"<h2>Hadron sigma, point source</h2>", "a m lambda (log)", "<h3>Hadron sigma</h3>", "hadron sigma</title>"}) {
    CAPTURE(text);
    CHECK(report.find(text) != std::string::npos);
  }
}

TEST_CASE("propagators that wait for others are counted in memory, those of other quarks are not") {
  const Ensemble ensemble;
  const auto bytes_of = [&](const std::string& tables) {
    std::map<std::string, double> bytes;
    run(ensemble.write(tables), {.dry_run = true}, unwatched(), {.planned = [&](const campaign::CampaignPlan& plan) {
          for (const campaign::QuarkPlan& quark : plan.quarks) bytes[quark.quark->name] = quark.solve.memory.back().total();
        }});
    return bytes;
  };
  const std::map<std::string, double> alone = bytes_of(quarks),
                                      with = bytes_of(quarks + "[hadron.kaon]\nquarks = [\"light\", \"strange\"]\n");
  const double propagator = 16.0 * 144 * static_cast<double>(volume(extents));
  // Both sources wait, and one is solved for; it is the other quark's solve that has copies for contractions.
  CHECK(with.at("light") == doctest::Approx(alone.at("light") + 3 * propagator).epsilon(1e-12));
  CHECK(with.at("charm") == alone.at("charm") + 2 * propagator);      // and go on waiting
  CHECK(with.at("strange") >= alone.at("strange") + 2 * propagator);  // for its own
  CHECK(with.at("down") == alone.at("down"));
}

TEST_CASE("where memory is short for propagators that wait, fewer right-hand sides are solved together") {
  const Ensemble ensemble;
  const auto planned = [&](const std::string& above) {
    std::pair<int, double> strange;
    run(ensemble.write(quarks + "[hadron.kaon]\nquarks = [\"light\", \"strange\"]\n", "out", R"("point:1,0,1,3", "wall:1")", above),
        {.dry_run = true}, unwatched(), {.planned = [&](const campaign::CampaignPlan& plan) {
          for (const campaign::QuarkPlan& quark : plan.quarks)
            if (quark.quark->name == "strange") strange = {quark.solve.nrhs, quark.solve.memory.back().total()};
        }});
    return strange;
  };
  const auto [usual, all] = planned("");
  const auto [fewer, less] = planned(fmt::format("cpu-memory = \"{:.0f}\"", all - 1));
  CHECK(usual == 12);
  CHECK(fewer == 6);
  CHECK(less < all);
}

TEST_CASE("mistakes in tables of hadrons name place and remedy") {
  const Ensemble ensemble;
  const auto refused = [&](const std::string& hadron, const std::string& message, const std::string& more = "") {
    const std::string refusal = ensemble.refusal(quarks + more + "[hadron.kaon]\n" + hadron);
    INFO(refusal);
    CHECK(refusal.find(message) != std::string::npos);
  };
  refused("correlators = [\"pion\"]", "small.toml:21: hadron.kaon: its quarks are not given; name two, as in quarks = [");
  refused("quarks = [\"light\"]", "small.toml:22: hadron.kaon.quarks: there is one quark; name two, as in");
  refused("quarks = [\"light,strange\"]", "22: hadron.kaon.quarks: a name has a comma; name two, as in");
  refused("quarks = [\"light\", \"strange\", \"light\"]", "22: hadron.kaon.quarks: there are 3 quarks; name two, as in");
  refused("quarks = [\"light\", \"light\"]",
          "22: hadron.kaon.quarks: quark light is given twice; correlators of one quark are those of [quark.light]");
  refused("quarks = [\"light\", \"odd\"]", "22: hadron.kaon.quarks: 'odd' is no quark; use two of light, charm, strange, down");
  refused("quarks = [\"light\", \"charm\"]",
          "hadron.kaon.quarks: quark light has the action wilson with 12 components, quark charm has naive with 3; use two quarks of "
          "spinors, or two "
          "staggered ones");
  refused("quarks = [\"light\", \"other\"]",
          "hadron.kaon.quarks: quark light has the boundary x=periodic,y=periodic,z=periodic,t=antiperiodic, quark other x=periodic",
          "[quark.other]\nkappa = 0.1\nboundary = { t = \"periodic\" }\n");
  refused("quarks = [\"charm\", \"both\"]",
          "quark both has mass = 0.1, 0.2, of which a hadron takes one; make a quark of its own for that mass",
          "[quark.both]\naction = \"naive\"\nmasses = [0.1, 0.2]\n");
  refused("quarks = [\"light\", \"strange\"]\nkappa = 0.1",
          "23: hadron.kaon.kappa: unknown key; use one of quarks, correlators, momenta, fold, sinks");
  refused(
      "quarks = [\"light\", \"strange\"]\ncorrelators = [\"eta\"]",
      "23: hadron.kaon.correlators: 'eta' is no correlator of two quarks of the action wilson; use correlators of mesons, octet, decuplet");
  refused("quarks = [\"charm\", \"down\"]\nsinks = [\"gaussian:1,4\"]", "23: hadron.kaon.sinks: smearing is for spinors");
  const std::string twisted = "[quark.up]\naction = \"twisted-mass\"\nmu = 0.1\n[quark.s]\naction = \"twisted-mass\"\nmu = 0.2\n";
  refused("quarks = [\"up\", \"s\"]\ncorrelators = [\"neutral_pion\"]",
          "'neutral_pion' is of two masses of one quark; use mesons, of a quark with the other sign of mu", twisted);
  refused("quarks = [\"up\", \"s\"]\ncorrelators = [\"proton\"]",
          "'proton' is no correlator of two quarks of the action twisted-mass; use correlators of mesons", twisted);
  refused("quarks = [\"up\", \"light\"]\ncorrelators = [\"proton\"]",
          "'proton' of two quarks is not defined for the actions twisted-mass and wilson", twisted);
  CHECK(ensemble.refusal(quarks + "[hadron.light]\nquarks = [\"light\", \"strange\"]")
            .find("small.toml:21: hadron.light: there is a quark of this name, ") != std::string::npos);
  const campaign::Campaign chosen = ensemble.write(quarks + hadrons, "out", R"("point:1,0,1,3")", "correlators = [\"delta\", \"pion05\"]");
  CHECK(chosen.hadrons.back().name == "d");
  CHECK(chosen.hadrons.back().config.correlators.names == std::vector<std::string>{"pion05"});
  CHECK(chosen.hadrons.front().config.correlators.names == std::vector<std::string>{"mesons"});
  CHECK(ensemble.refusal(quarks + hadrons, "correlators = [\"lambda\", \"pion05\"]")
            .find("none of lambda,pion05 is a correlator of the action wilson") != std::string::npos);
  const std::string neutral = ensemble.refusal(
      "[quark.up]\naction = \"twisted-mass\"\nmu = [0.1, -0.1]\n[quark.a]\naction = \"twisted-mass\"\nmu = 0.1\ncorrelators = [\"pion\"]\n"
      "[quark.b]\naction = \"twisted-mass\"\nmu = 0.2\ncorrelators = [\"pion\"]\n[hadron.kaon]\nquarks = [\"a\", \"b\"]\n",
      "correlators = [\"neutral_pion\"]");
  CAPTURE(neutral);
  CHECK(neutral.find("hadron.kaon: none of neutral_pion is a correlator of its two quarks; give this hadron `correlators` of its own") !=
        std::string::npos);
  CHECK(ensemble.refusal(quarks + hadrons, "correlators = [\"eta\"]").find("'eta' is no correlator of any of these quarks or hadrons") !=
        std::string::npos);
}

TEST_CASE("settings of a hadron, and of its quarks, stay while it has rows") {
  const Ensemble ensemble;
  run(ensemble.write(quarks + hadrons));
  std::string other = hadrons;
  other.replace(other.find("[\"light\", \"strange\"]"), 20, "[\"strange\", \"light\"]");
  CHECK_THROWS_WITH_AS(
      run(ensemble.write(quarks + other)),
      doctest::Contains(
          "hadron.kaon: quarks is [\"strange\",\"light\"] here, and was [\"light\",\"strange\"] when rows of hadron kaon were "
          "computed"),
      Error);
  campaign::ConfigurationResults results = campaign::read_results(ensemble.results_file());
  results.of_quarks.erase("light");
  write_results(ensemble.results_file(), "lat.0", results);
  std::string lighter = quarks;
  lighter.replace(lighter.find("0.11"), 4, "0.12");
  CHECK_THROWS_WITH_AS(run(ensemble.write(lighter + hadrons)),
                       doctest::Contains("kappa is 0.12 here, and was 0.11 when rows of quark light"), Error);
}

TEST_CASE("a hadron that has no correlator from any source is refused, and its rows are not empty where one has some") {
  const Ensemble ensemble;
  const std::string tables = quarks + "[hadron.d]\nquarks = [\"charm\", \"down\"]\ncorrelators = [\"pion05\"]\n";
  CHECK_THROWS_WITH_AS(ensemble.write(tables, "out", R"("wall:1")"),
                       doctest::Contains("hadron.d.correlators: its rows would be empty: pion05: wall:1 has no phases"), Error);
  CHECK_NOTHROW(ensemble.write(tables, "out", R"("wall:1", "point:1,0,1,3")"));
}

TEST_CASE("a name that was a hadron's is no quark's while it has rows, nor the other way round") {
  const Ensemble ensemble;
  const std::string kaon = "[hadron.kaon]\nquarks = [\"light\", \"strange\"]\n", quark = "[quark.kaon]\naction = \"wilson\"\n";
  for (const bool was_hadron : {true, false}) {
    CAPTURE(was_hadron);
    const std::string out = was_hadron ? "hadron" : "quark", now = was_hadron ? "quark" : "hadron";
    run(ensemble.write(quarks + (was_hadron ? kaon : quark), out));
    CHECK_THROWS_WITH_AS(
        run(ensemble.write(quarks + (was_hadron ? quark : kaon), out)),
        doctest::Contains(fmt::format("small.toml:21: {}.kaon: kaon was a {} when rows of it were computed (", now, out).c_str()), Error);
    CHECK_THROWS_WITH_AS(run(ensemble.write(quarks + (was_hadron ? quark : kaon), out)),
                         doctest::Contains(fmt::format("give the {} another name, or the campaign another folder `out`", now).c_str()),
                         Error);
    // Without rows it is free.
    campaign::ConfigurationResults results = campaign::read_results(ensemble.results_file(out));
    results.of_quarks.erase("kaon");
    write_results(ensemble.results_file(out), "lat.0", results);
    run(ensemble.write(quarks + (was_hadron ? quark : kaon), out));
    CHECK(ensemble.rows("kaon", out) == 4);
    run(ensemble.write(quarks + (was_hadron ? quark : kaon), out));
    CHECK(ensemble.rows("kaon", out) == 4);
  }
}

TEST_CASE("rows of a hadron bind its quarks' settings while it is not in the campaign, too") {
  const Ensemble ensemble;
  run(ensemble.write(quarks + hadrons));
  campaign::ConfigurationResults results = campaign::read_results(ensemble.results_file());
  for (const char* quark : {"light", "strange"}) results.of_quarks.erase(quark);
  write_results(ensemble.results_file(), "lat.0", results);
  std::string lighter = quarks;
  lighter.replace(lighter.find("0.11"), 4, "0.12");
  CHECK_THROWS_WITH_AS(run(ensemble.write(lighter)), doctest::Contains("kappa is 0.12 here, and was 0.11 when rows of quark light"), Error);
  for (const char* hadron : {"kaon", "xi"}) results.of_quarks.erase(hadron);
  write_results(ensemble.results_file(), "lat.0", results);
  run(ensemble.write(lighter));
}
