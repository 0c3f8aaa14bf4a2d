// Tables of hadrons in campaign files: what is refused, and what stays while there are rows.
#include "apps/campaign/results_file.hpp"
#include "tests/unit/campaign_hadron_testing.hpp"

#include <doctest/doctest.h>

namespace campaign_hadron_tables_test {

using namespace quarkstar;
using namespace quarkstar::app;
using namespace quarkstar::app::hadron_testing;

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
  const std::string kaon = "[hadron.kaon]\nquarks = [\"light\", \"strange\"]\n",
                    quark = "[quark.kaon]\naction = \"wilson\"\nkappa = 0.11\n";
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

}  // namespace campaign_hadron_tables_test
