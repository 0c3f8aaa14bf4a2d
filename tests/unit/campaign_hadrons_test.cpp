// Hadrons of two quarks in campaigns: beside sums over contractions of solves by the reference, and what is computed when.
#include "apps/campaign/hadron_rows.hpp"
#include "apps/campaign/results_file.hpp"
#include "apps/run/gauge_io.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/staggered.hpp"
#include "tests/reference/wilson.hpp"
#include "tests/unit/campaign_hadron_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace campaign_hadrons_test {

using namespace quarkstar;
using namespace quarkstar::app;
using namespace quarkstar::app::hadron_testing;
using quarkstar::testing::read_file;
using reference::Complex;
using reference::Matrix;

namespace {

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

}  // namespace campaign_hadrons_test
