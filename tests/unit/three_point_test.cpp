// Three-point functions: current conservation, currents inserted by solves of the reference, layouts.
#include "codelets/contract/three_point.hpp"

#include "apps/run/check_action.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/solve_run.hpp"
#include "codelets/contract/sequential.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "runtime/system/memory.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/reference/wilson.hpp"
#include "tests/unit/contract_testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <numeric>
#include <set>

namespace three_point_test {

using namespace quarkstar;
using reference::Complex;
using reference::Matrix;

namespace {

constexpr std::uint64_t seed = 41;

using Settings = std::vector<std::pair<std::string, std::string>>;

HostGauge hot(const Coord& extents) { return heatbath::hot_start(extents, seed, app::host_team()); }

/// What a solve with these settings reports.
app::RunReport reported(const HostGauge& gauge, const Settings& settings) {
  app::RunReport report;
  std::vector<app::Assignment> all{
      {"workers", "1", "workers"}, {"gpus", "0", "gpus"}, {"no-tune", "true", "no-tune"}, {"tol", "1e-13", "tol"}};
  for (const auto& [key, value] : settings) {
    std::erase_if(all, [&](const app::Assignment& one) { return one.key == key; });
    all.push_back({key, value, key});
  }
  app::apply_settings(report.config, all);
  app::complete(report.config);
  app::check_action(report.config);
  app::solve_source(links_at_hand(gauge), gauge.extents, report, app::unwatched());
  return report;
}

/// All of its correlators.
std::vector<Correlator> solved(const HostGauge& gauge, const Settings& settings) { return reported(gauge, settings).correlators; }

Complex value(const std::vector<Correlator>& correlators, const std::string& name, int t) {
  const auto found = std::find_if(correlators.begin(), correlators.end(), [&](const Correlator& c) { return c.name == name; });
  INFO(name);
  REQUIRE(found != correlators.end());
  const auto i = static_cast<std::size_t>(t);
  return {found->values[i], found->imaginary.empty() ? 0 : found->imaginary[i]};
}

std::string momentum_text(const char* letter, const std::array<int, 3>& n) {
  if (n == std::array<int, 3>{}) return "";
  return std::string("_") + letter + std::to_string(n[0]) + "," + std::to_string(n[1]) + "," + std::to_string(n[2]);
}

/// For every t: J_t(t) - J_t(t - 1) + sum_k (1 - e^{i q_k}) J_k(t) is the charge times the two-point function with momentum p at the
/// source, minus that with p - q at the sink, and else 0. On every configuration.
void check_conservation(const std::vector<Correlator>& all, const std::string& hadron, const std::string& two_point, int charge,
                        const Coord& extents, int separation, const std::array<int, 3>& p, const std::array<int, 3>& q) {
  const std::string begin = hadron + "_3pt_dt" + std::to_string(separation) + "_conserved_",
                    end = momentum_text("p", p) + momentum_text("q", q);
  const std::array<int, 3> difference{p[0] - q[0], p[1] - q[1], p[2] - q[2]};
  const Complex at_source = static_cast<double>(charge) * value(all, two_point + momentum_text("p", p), separation),
                at_sink = static_cast<double>(charge) * value(all, two_point + momentum_text("p", difference), separation);
  const int times = extents[3];
  for (int t = 0; t < times; ++t) {
    Complex divergence = value(all, begin + "t" + end, t) - value(all, begin + "t" + end, (t + times - 1) % times);
    for (std::size_t k = 0; k < 3; ++k)
      divergence += (1.0 - std::polar(1.0, 2 * std::numbers::pi * q[k] / extents[k])) * value(all, begin + "xyz"[k] + end, t);
    const Complex expected = t == 0 ? at_source : t == separation ? -at_sink : 0;
    INFO(hadron << end << " t " << t);
    CHECK(std::abs(divergence - expected) < 1e-10 * std::abs(at_source));
  }
}

}  // namespace

TEST_CASE("the conserved current's divergence is the charge at the source minus that at the sink, on any configuration") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 2, 2, 6};
  const HostGauge gauge = hot(extents);
  const int separation = 4;
  struct Case {
    const char* name;
    Settings settings;
    bool baryons;
  };
  for (const Case& one :
       {Case{"wilson", {{"action", "wilson"}, {"kappa", "0.12"}, {"source", "point:3,1,0,4"}}, true},
        Case{"mass normalisation, anisotropic",
             {{"action", "wilson"}, {"kappa", "0.11"}, {"normalisation", "mass"}, {"nu", "0.8"}, {"xi0", "2"}},
             true},
        Case{"clover, anisotropic",
             {{"action", "clover"}, {"kappa", "0.11"}, {"csw", "0.7"}, {"csw-time", "1.1"}, {"nu", "1.3"}, {"xi0", "1.5"}},
             true},
        Case{"angles", {{"action", "wilson"}, {"kappa", "0.11"}, {"boundary", "x=0.3,t=0.7"}, {"nrhs", "5"}}, true},
        Case{"clover", {{"action", "clover"}, {"kappa", "0.11"}, {"csw", "1.3"}, {"workers", "2"}}, true},
        Case{"twisted mass", {{"action", "twisted-mass"}, {"kappa", "0.11"}, {"mu", "0.2"}}, false}}) {
    INFO(one.name);
    Settings settings = one.settings;
    const std::string hadrons = one.baryons ? "pion:4+pion:4,1,0,0+proton_u:4,1,0,0+proton_d:4+proton_mixed_u:4" : "pion:4+pion:4,1,0,0";
    settings.insert(settings.end(), {{"three-points", hadrons},
                                     {"currents", "conserved"},
                                     {"current-momenta", "0,0,0+1,0,0"},
                                     {"momenta", "0,0,0+1,0,0+-1,0,0"},
                                     {"correlators", one.baryons ? "pion,octet" : "pion"}});
    const std::vector<Correlator> all = solved(gauge, settings);
    for (const std::array<int, 3>& q : {std::array<int, 3>{0, 0, 0}, {1, 0, 0}}) {
      check_conservation(all, "pion", "pion", 1, extents, separation, {0, 0, 0}, q);
      check_conservation(all, "pion", "pion", 1, extents, separation, {1, 0, 0}, q);
      if (!one.baryons) continue;
      check_conservation(all, "proton_u", "proton", 2, extents, separation, {1, 0, 0}, q);
      check_conservation(all, "proton_d", "proton", 1, extents, separation, {0, 0, 0}, q);
      check_conservation(all, "proton_mixed_u", "proton_mixed", 2, extents, separation, {0, 0, 0}, q);
    }
  }
}

TEST_CASE("three-point functions are what propagators through the current give") {
  MESSAGE("seed " << seed);
  const Coord extents{2, 2, 2, 4}, origin{1, 0, 1, 3};
  const HostGauge gauge = hot(extents);
  const double kappa = 0.1;
  const int separation = 3;
  const std::array<int, 3> p{1, 0, 0}, q{0, 1, 0};
  const auto m = [&](const reference::Field& psi) { return reference::wilson(gauge, kappa, psi); };
  const auto m_dagger = [&](const reference::Field& psi) { return reference::wilson_dagger(gauge, kappa, psi); };
  const reference::Propagator s = reference::point_propagator(m, m_dagger, extents, 4, origin, 1e-14);
  const std::vector<Correlator> all = solved(gauge, {{"kappa", "0.1"},
                                                     {"source", "point:1,0,1,3"},
                                                     {"three-points",
                                                      "pion:3,1,0,0+proton_u:3,1,0,0+proton_d:3,1,0,0+proton_minus_d:3,1,0,0+"
                                                      "proton_mixed_u:3,1,0,0+proton_mixed_d:3,1,0,0+proton_minus_u:3,1,0,0"},
                                                     {"currents", "local,conserved"},
                                                     {"current-momenta", "0,1,0"}});
  const Matrix<4> one = Matrix<4>::identity(), g5 = reference::gamma5(reference::Basis::degrand_rossi), g4 = reference::gamma_product(8),
                  nucleon = reference::gamma_product(2) * g4 * g5, plus = Complex{0.5} * (one + g4), minus = Complex{0.5} * (one - g4),
                  mixed = (one - reference::imaginary_unit * (reference::gamma_product(1) * reference::gamma_product(2))) * plus;
  const auto gamma = [](int mu) { return reference::gamma_product(1 << mu); };
  struct Current {
    std::string name;
    Matrix<4> local;
    int conserved;
    int time;  ///< from the source
  };
  for (const Current& current : {Current{"vector_t", gamma(3), -1, 1}, Current{"scalar", one, -1, 2},
                                 Current{"axial_z", gamma(2) * g5, -1, 1}, Current{"tensor_xz", gamma(0) * gamma(2), -1, 2},
                                 Current{"conserved_t", one, 3, 0}, Current{"conserved_y", one, 1, 2}, Current{"conserved_t", one, 3, 3}}) {
    const int time = (origin[3] + current.time) % extents[3];
    reference::Propagator inserted;
    for (const reference::Field& column : s) {
      const reference::Field source = current.conserved < 0
                                          ? reference::insert_local(column, current.local, time, q, origin)
                                          : reference::insert_conserved(gauge, kappa, column, current.conserved, time, q, origin);
      inserted.push_back(reference::cgnr(m, m_dagger, source, 1e-14).x);
    }
    const auto check = [&](const std::string& hadron, const std::vector<Complex>& at_sinks) {
      const Complex expected = at_sinks[static_cast<std::size_t>((origin[3] + separation) % extents[3])],
                    got = value(all, hadron + "_3pt_dt3_" + current.name + "_p1,0,0_q0,1,0", current.time);
      INFO(hadron << " " << current.name << " t " << current.time);
      CHECK(std::abs(got - expected) < 1e-11 * std::max(std::abs(expected), 1e-3));
    };
    check("pion", reference::meson(inserted, s, g5, g5, p, origin));
    const auto baryon = [&](const Matrix<4>& projector, int flavour) {
      return reference::baryon(s, inserted, flavour, nucleon, projector, {0, 1, 0}, p, origin);
    };
    for (const auto& [name, projector] : {std::pair{"proton", plus}, {"proton_minus", minus}, {"proton_mixed", mixed}}) {
      check(std::string(name) + "_u", baryon(projector, 0));
      check(std::string(name) + "_d", baryon(projector, 1));
    }
  }
}

TEST_CASE("the scalar current summed over all times is minus the derivative with respect to the mass") {
  // Of Wilson's M = m + ..., and of domain wall's physical propagator, whose inverse is K + m.
  const Coord extents{2, 2, 2, 4};
  const HostGauge gauge = hot(extents);
  const int separation = 2;
  for (const Settings& action : {Settings{{"action", "wilson"}, {"normalisation", "mass"}},
                                 {{"action", "domain-wall"}, {"ls", "4"}},
                                 {{"action", "moebius"}, {"ls", "4"}, {"b5", "1.5"}, {"c5", "0.5"}}}) {
    INFO(action.front().second);
    const auto at = [&](double mass, const Settings& further = {}) {
      Settings settings = action;
      settings.insert(settings.end(), {{"mass", std::to_string(mass)}, {"correlators", "pion,proton"}, {"tol", "1e-12"}});
      settings.insert(settings.end(), further.begin(), further.end());
      return solved(gauge, settings);
    };
    constexpr double m = 0.5, h = 0.01;
    const std::vector<Correlator> here = at(m, {{"three-points", "pion:2+proton_u:2+proton_d:2"}, {"currents", "scalar"}}), up = at(m + h),
                                  down = at(m - h), up2 = at(m + 2 * h), down2 = at(m - 2 * h);
    const auto derivative = [&](const std::string& name) {
      return (8.0 * (value(up, name, separation) - value(down, name, separation)) -
              (value(up2, name, separation) - value(down2, name, separation))) /
             (12 * h);
    };
    const auto sum = [&](const std::string& hadron) {
      Complex total = 0;
      for (int t = 0; t < extents[3]; ++t) total += value(here, hadron + "_3pt_dt2_scalar", t);
      return total;
    };
    const double pion = derivative("pion").real();
    CHECK(std::abs(2 * sum("pion").real() + pion) < 1e-6 * std::abs(pion));
    const Complex proton = derivative("proton");
    CHECK(std::abs(sum("proton_u") + sum("proton_d") + proton) < 1e-6 * std::abs(proton));
  }
}

TEST_CASE("a smeared sink is smeared at both ends of the sequential propagator") {
  // The conserved current still counts the charge of what goes from the source to the smeared sink.
  const Coord extents{4, 4, 2, 6};
  const std::vector<Correlator> all = solved(hot(extents), {{"kappa", "0.11"},
                                                            {"source", "gaussian:1,2,0,1,1.5,8"},
                                                            {"sinks", "point+gaussian:1,5,0.5,2"},
                                                            {"three-points", "pion:3+proton_u:3"},
                                                            {"currents", "conserved_t"},
                                                            {"correlators", "pion,proton"}});
  for (const char* sink : {"", "_sink-gaussian:1,5,0.5,2"})
    for (const auto& [hadron, two_point, charge] : {std::tuple{"pion", "pion", 1.0}, {"proton_u", "proton", 2.0}}) {
      const std::string name = std::string(hadron) + "_3pt_dt3_conserved_t" + sink;
      const Complex expected = charge * value(all, std::string(two_point) + sink, 3);
      INFO(name);
      for (const int t : {1, 2, 4, 5}) CHECK(std::abs(value(all, name, t) - value(all, name, t < 3 ? 0 : 3)) < 1e-11 * std::abs(expected));
      CHECK(std::abs(value(all, name, 0) - value(all, name, 3) - expected) < 1e-11 * std::abs(expected));
    }
}

TEST_CASE("a baryon whose sink is behind time's boundary gets its phase thrice, wherever the current is, and a pion none") {
  // The same links, counted from another time slice: the boundary is elsewhere. Behind it is e^{-3 i pi theta} of what is there without.
  const Coord extents{2, 2, 2, 6};
  const HostGauge gauge = hot(extents);
  const int later = 4;
  HostGauge moved = gauge;
  const std::size_t slice = moved.data.size() / static_cast<std::size_t>(extents[3]);
  for (std::size_t i = 0; i < moved.data.size(); ++i) moved.data[(i + later * slice) % moved.data.size()] = gauge.data[i];
  const auto at = [&](const HostGauge& links, const std::string& time, const char* boundary) {
    return solved(links, {{"kappa", "0.11"},
                          {"boundary", boundary},
                          {"source", "point:1,0,0," + time},
                          {"three-points", "pion:3+proton_u:3+proton_d:1"},
                          {"currents", "vector_t,conserved"},
                          {"current-momenta", "1,0,0"},
                          {"correlators", "pion"}});
  };
  for (const auto& [boundary, phase] : {std::pair{"t=1", Complex{-1}}, {"t=0.5", Complex{0, 1}}}) {
    const std::vector<Correlator> first = at(gauge, "0", boundary), second = at(moved, "4", boundary);
    REQUIRE(first.size() == second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      const bool crosses = first[i].name.starts_with("proton_u");
      INFO(boundary << " " << first[i].name);
      for (int t = 0; t < extents[3]; ++t) {
        const Complex expected = (crosses ? phase : 1) * value(first, first[i].name, t);
        CHECK(std::abs(value(second, first[i].name, t) - expected) < 1e-10 * std::max(std::abs(expected), 1e-3));
      }
    }
  }
}

TEST_CASE("sequential solves have a time and an energy of their own") {
  const HostGauge gauge = hot({4, 4, 4, 4});
  const Settings common{{"kappa", "0.11"}, {"three-points", "pion:2"}, {"nrhs", "4"}};
  const auto with = [&](const char* in_flight) {
    Settings settings = common;
    settings.emplace_back("in-flight", in_flight);
    return reported(gauge, settings);
  };
  const auto measured = [](const app::ColumnReport& solve) {
    for (const runtime::EnergyReading* reading : {&solve.energy.cpu, &solve.energy.gpu})
      CHECK((reading->available() || reading->unavailable != "not measured"));
    CHECK(solve.result.seconds > 0);
    CHECK(solve.idle_us);
  };
  for (const char* in_flight : {"1", "3"}) {
    INFO("in flight " << in_flight);
    const auto begin = std::chrono::steady_clock::now();
    const app::RunReport report = with(in_flight);
    const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    REQUIRE(report.solves.size() == 12);
    REQUIRE(report.sequential.size() == 12);
    double seconds = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      const app::ColumnReport& sequential = report.sequential[i].solve;
      CHECK(sequential.column == static_cast<int>(i));
      for (const app::ColumnReport* solve : {&report.solves[i], &sequential}) {
        measured(*solve);
        seconds += solve->result.seconds;
      }
      if (in_flight == std::string("3")) CHECK(report.solves[i].result.seconds == sequential.result.seconds);
    }
    CHECK(seconds < whole);
  }
}

TEST_CASE("columns of three-point functions follow each other through the memory that is estimated") {
  const Coord extents{8, 8, 8, 8};
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 2}, 1);
  const auto lattice = std::make_shared<Lattice>(decomposition, Precision::double_, periodic);
  const FullField s(lattice, spinor_components, 12), g(lattice, spinor_components, 12);
  std::vector<int> all(12);
  std::iota(all.begin(), all.end(), 0);
  const testing::RandomColumns random(12, extents, seed);
  for (const FullField* field : {&s, &g})
    for (const int parity : {0, 1}) transfer::load(field->of(parity), random.columns);
  const HostGauge gauge = hot(extents);
  const contract::HopLinks links{gauge, antiperiodic_in_time, {1, 1, 1, 1}};
  const std::vector<contract::Momentum> momenta{{0, 0, 0}, {0, 1, 0}, {0, 0, 2}};
  const auto sites = static_cast<double>(volume(extents));
  for (const auto& names : {std::vector<std::string>{"local"}, {"vector_t", "conserved"}}) {
    INFO(names.back());
    const std::vector<contract::Choice> currents =
        contract::choose({"local", "conserved_x", "conserved_y", "conserved_z", "conserved_t"}, names, "currents");
    session.wait_all();
    const std::size_t before = runtime::host_memory_use().now;
    runtime::restart_peak();
    {
      contract::ThreePoint three_point(decomposition, currents, momenta, {}, &links);
      three_point.add(s, all, g, all);
      (void)three_point.correlators({&contract::hadrons().front(), 3});
    }
    session.wait_all();
    const auto taken = static_cast<double>(runtime::host_memory_use().peak - before),
               sums = contract::three_point_sums(currents, momenta.size()) * extents[3],
               fields = contract::three_point_bytes(currents) * sites;
    CHECK(taken > 0.95 * (sums + fields));
    CHECK(taken < 1.1 * (sums + fields));
  }
}

TEST_CASE("cuts and numbers of columns change no bit of a three-point function") {
  const Coord extents{4, 4, 4, 8};
  const HostGauge gauge = hot(extents);
  const Settings common{{"action", "clover"},
                        {"kappa", "0.11"},
                        {"tol", "1e-6"},
                        {"three-points", "pion:3,0,1,0+proton_d:5"},
                        {"current-momenta", "0,0,0+1,1,0"},
                        {"currents", "local,conserved"}};
  const auto with = [&](const Settings& further) {
    Settings settings = common;
    settings.insert(settings.end(), further.begin(), further.end());
    return solved(gauge, settings);
  };
  const std::vector<Correlator> expected = with({});
  std::set<std::string> names;
  for (const Correlator& correlator : expected) names.insert(correlator.name);
  CHECK(names.size() == expected.size());
  CHECK(expected.size() == 4 + 2 * 2 * 20);
  for (const Settings& further : {Settings{{"nrhs", "7"}},
                                  {{"workers", "2"}, {"blocks", "1,2,1,2"}},
                                  {{"workers", "2"}, {"share", "columns"}},
                                  {{"nrhs", "4"}, {"in-flight", "3"}},
                                  {{"precision", "double"}, {"policy", "dmda"}, {"workers", "2"}}}) {
    INFO(further.front().first << " " << further.front().second);
    const bool other_solve = further.front().first == "precision";
    if (other_solve) CHECK(testing::same_bits(with(further), with({{"precision", "double"}})));
    else CHECK(testing::same_bits(with(further), expected));
  }
}

TEST_CASE("what three-point functions need is refused by name") {
  const HostGauge gauge = hot({2, 2, 2, 4});
  const auto refuses = [&](const Settings& settings, const char* parameter, const char* text) {
    try {
      (void)solved(gauge, settings);
      FAIL("nothing was refused");
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(error.parameter() == parameter);
      CHECK(std::string(error.what()).find(text) != std::string::npos);
    }
  };
  refuses({{"action", "asqtad"}, {"three-points", "pion:2"}}, "three-points", "the action asqtad has none");
  refuses({{"action", "twisted-mass"}, {"three-points", "proton_u:2"}}, "three-points", "has no proton_u; use pion");
  refuses({{"action", "twisted-mass"}, {"csw", "1"}, {"three-points", "pion:2"}}, "three-points", "of the opposite mu");
  refuses({{"action", "twisted-mass"}, {"mu", "0.1"}, {"recycle", "16"}, {"three-points", "pion:2"}}, "three-points", "leave out recycle");
  refuses({{"action", "domain-wall"}, {"three-points", "pion:2"}, {"currents", "conserved"}}, "currents", "'conserved' is no current of");
  refuses({{"three-points", "pion:2"}, {"columns", "0-3"}}, "columns", "need all 12");
  refuses({{"currents", "vector"}}, "currents", "give --three-points");
  const contract::HadronSink far{&contract::hadrons().front(), 4};
  CHECK_THROWS_AS(contract::check_sink(far, {2, 2, 2, 4}), Error);
  CHECK(contract::separation_of("proton_mixed_u_3pt_dt12_axial_z_p1,0,0_q0,0,1") == 12);
  CHECK_THROWS_AS((void)contract::separation_of("pion_p1,0,0"), ShapeError);
}

}  // namespace three_point_test
