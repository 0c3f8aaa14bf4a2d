// Meson contractions on the graph against the reference's matrix formulas on random columns.
#include "codelets/arch/dispatch.hpp"
#include "codelets/contract/mesons.hpp"
#include "codelets/contract/neutral_mesons.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/unit/contract_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <tuple>

namespace contract_meson_test {

using namespace quarkstar;
using contract::Mesons;
using contract::Momentum;
using testing::contracted;
using testing::named;
using testing::RandomColumns;

namespace {

/// expected: of absolute time slices, of which the first here is source_time. scale: what rounding is relative to.
void check_close(const Correlator& got, const std::vector<reference::Complex>& expected, int source_time, double scale) {
  REQUIRE(got.values.size() == expected.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    INFO(got.name << " t " << t);
    const reference::Complex value{got.values[t], got.imaginary.empty() ? 0 : got.imaginary[t]};
    CHECK(std::abs(value - expected[(t + static_cast<std::size_t>(source_time)) % expected.size()]) < 1e-12 * scale);
  }
}

}  // namespace

TEST_CASE("spin matrices are the DeGrand-Rossi gammas of the reference") {
  constexpr std::complex<double> power_of_i[4] = {1, {0, 1}, -1, {0, -1}};
  const auto check = [&](const contract::SpinMatrix& sparse, const reference::Matrix<4>& dense) {
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < 4; ++column)
        CHECK(std::abs((column == (row ^ sparse.flip) ? power_of_i[sparse.power[row]] : 0) - dense(row, column)) == 0);
  };
  for (int n = 0; n < 16; ++n) check(contract::spin_basis(n), reference::gamma_product(n));
  check(contract::spin_gamma5, reference::gamma5(reference::Basis::degrand_rossi));
}

TEST_CASE("all mesons equal the reference at any momentum, counted from the source, on every architecture") {
  const std::uint64_t seed = std::random_device{}();
  INFO("seed ", seed);
  const Coord extents{4, 4, 2, 8};
  const RandomColumns random(spinor_components, extents, seed);
  const runtime::Session session(runtime_testing::options(1, 2));
  const contract::Request request{.names = {"mesons"}, .momenta = {{0, 0, 0}, {1, 0, 0}, {-1, 2, 1}, {3, -5, 0}}};
  const Source source{Source::Kind::point, {1, 3, 0, 5}};
  const double scale = reference::pion(random.fields)[0];
  const arch::Architecture chosen = arch::current();
  std::vector<Correlator> first;
  for (const arch::Architecture architecture : arch::available()) {
    arch::force(architecture);
    INFO(std::string(arch::name_of(architecture)));
    const std::vector<Correlator> all = contracted(random.columns, "mesons", request, source);
    if (first.empty()) first = all;
    CHECK(testing::same_bits(all, first));
  }
  arch::force(chosen);
  REQUIRE(first.size() == 17 * request.momenta.size());
  for (const Momentum& n : request.momenta)
    for (int channel = 0; channel < Mesons::numbers; ++channel) {
      const reference::Matrix<4> g5 = reference::gamma5(reference::Basis::degrand_rossi), g4 = reference::gamma_product(8);
      const bool axial = channel == 16;
      const reference::Matrix<4> g = axial ? g5 : reference::gamma_product(Mesons::gamma[channel]);
      // Tr[g4 S S^+] = Tr[g5 g4 S g5 g5 S^+ g5]
      const auto expected = reference::meson(random.fields, axial ? g5 * g4 : g, g, n, source.position);
      check_close(named(first, contract::name_of(Mesons::channels[channel], n)), expected, 5, scale);
    }
}

TEST_CASE(
    "mesons of two propagators equal the reference on every architecture and cut, and those of one where both are equal; exchanged they "
    "are "
    "the complex conjugates with momentum -p") {
  const std::uint64_t seed = std::random_device{}();
  INFO("seed ", seed);
  const Coord extents{4, 2, 2, 8};
  const RandomColumns s(spinor_components, extents, seed), t(spinor_components, extents, seed + 12);
  const runtime::Session session(runtime_testing::options(1, 2));
  const Source source{Source::Kind::point, {1, 1, 0, 5}};
  const double scale = reference::pion(s.fields)[0];
  const reference::Matrix<4> g5 = reference::gamma5(reference::Basis::degrand_rossi), g4 = reference::gamma_product(8);
  const arch::Architecture chosen = arch::current();
  for (const auto& [family, word, channels] :
       {std::tuple("neutral-mesons", "neutral-mesons", std::span<const contract::Channel>(contract::NeutralMesons::channels)),
        {"mesons-of-two", "mesons", Mesons::channels}}) {
    const contract::Request request{.names = {word}, .momenta = {{0, 0, 0}, {1, -1, 0}, {-1, 1, 0}}};
    const auto of = [&](const RandomColumns& first, const RandomColumns& second, const testing::ContractionLayout& layout = {}) {
      std::vector<HostField> columns = first.columns;
      columns.insert(columns.end(), second.columns.begin(), second.columns.end());
      return contracted(columns, family, request, source, layout);
    };
    const std::vector<Correlator> got = of(s, t), exchanged = of(t, s), equal = of(s, s);
    for (const arch::Architecture architecture : arch::available()) {
      arch::force(architecture);
      INFO(std::string(arch::name_of(architecture)));
      CHECK(testing::same_bits(of(s, t), got));
    }
    arch::force(chosen);
    CHECK(testing::same_bits(of(s, t, {{2, 1, 1, 2}, {.most_lanes = 2}, 26}), got));
    const std::vector<Correlator> of_one = contracted(s.columns, "mesons", {.names = {"mesons"}, .momenta = request.momenta}, source);
    for (std::size_t channel = 0; channel < channels.size(); ++channel) {
      const bool axial = channel == 16;
      const reference::Matrix<4> g = axial ? g5 : reference::gamma_product(Mesons::gamma[channel]);
      for (const Momentum& n : request.momenta) {
        const std::string name = contract::name_of(channels[channel], n);
        check_close(named(got, name), reference::meson(s.fields, t.fields, axial ? g5 * g4 : g, g, n, source.position), 5, scale);
        const Correlator &one = named(equal, name), &expected = named(of_one, contract::name_of(Mesons::channels[channel], n));
        for (std::size_t time = 0; time < 8; ++time) {
          CHECK(std::abs(one.values[time] - expected.values[time]) < 1e-12 * scale);
          CHECK(std::abs(one.imaginary[time] - (expected.imaginary.empty() ? 0 : expected.imaginary[time])) < 1e-12 * scale);
        }
      }
      for (const Momentum& n : {Momentum{0, 0, 0}, {1, -1, 0}}) {
        const Correlator &one = named(got, contract::name_of(channels[channel], n)),
                         &other = named(exchanged, contract::name_of(channels[channel], {-n[0], -n[1], -n[2]}));
        for (std::size_t time = 0; time < 8; ++time) {
          CHECK(std::abs(one.values[time] - other.values[time]) < 1e-12 * scale);
          CHECK(std::abs(one.imaginary[time] + other.imaginary[time]) < 1e-12 * scale);
        }
      }
    }
  }
}

TEST_CASE("cuts, lanes, orders of sites and places of columns change no bit of a meson") {
  constexpr std::uint64_t seed = 4711;
  MESSAGE("seed " << seed);
  const Coord extents{8, 4, 4, 8};
  const RandomColumns random(spinor_components, extents, seed);
  const runtime::Session session(runtime_testing::options(2, 1));
  const contract::Request request{.names = {"mesons"}, .momenta = {{0, 0, 0}, {1, 0, 0}, {2, -1, 1}}};
  const Source source{Source::Kind::point, {3, 0, 2, 6}};
  const std::vector<Correlator> expected = contracted(random.columns, "mesons", request, source);
  for (const testing::ContractionLayout& layout : {testing::ContractionLayout{{1, 1, 1, 2}},
                                                   {{2, 1, 2, 1}},
                                                   {{1, 2, 2, 4}},
                                                   {{1, 1, 1, 1}, {.most_lanes = 1}},
                                                   {{1, 1, 1, 2}, {.most_lanes = 4, .tile = {4, 2, 2, 2}}},
                                                   {{1, 1, 1, 1}, {}, 12},
                                                   {{2, 1, 1, 1}, {}, 15}})
    CHECK(testing::same_bits(contracted(random.columns, "mesons", request, source, layout), expected));
}

TEST_CASE("a choice of channels, and the usual ones, are the same numbers; folding averages with the reflection") {
  constexpr std::uint64_t seed = 99;
  MESSAGE("seed " << seed);
  const RandomColumns random(spinor_components, {4, 2, 2, 6}, seed);
  const runtime::Session session(runtime_testing::options(1, 1));
  const std::vector<Correlator> all = contracted(random.columns, "mesons", {.names = {"mesons"}}),
                                usual = contracted(random.columns, "mesons"),
                                some = contracted(random.columns, "mesons", {.names = {"a4p", "rho", "pion2", "rho"}}),
                                folded = contracted(random.columns, "mesons", {.names = {"pion", "a4p"}, .fold = true});
  std::vector<std::string> names;
  for (const Correlator& c : usual) names.push_back(c.name);
  CHECK(names == std::vector<std::string>{"pion", "rho_x", "rho_y", "rho_z"});
  names.clear();
  for (const Correlator& c : some) names.push_back(c.name);
  CHECK(names == std::vector<std::string>{"rho_x", "rho_y", "rho_z", "pion2", "a4p"});
  for (const auto* chosen : {&usual, &some})
    for (const Correlator& c : *chosen) CHECK(c.values == named(all, c.name).values);
  for (std::size_t t = 0; t < 6; ++t) {
    const std::size_t back = (6 - t) % 6;
    CHECK(folded[0].values[t] == 0.5 * (all[0].values[t] + all[0].values[back]));
    CHECK(folded[1].values[t] == 0.5 * (named(all, "a4p").values[t] - named(all, "a4p").values[back]));
  }
}

// sum_p C(p, t) / V = c(x0, t): a delta function at the source's place.
TEST_CASE("the sum over all momenta is what the source's own place contributes") {
  constexpr std::uint64_t seed = 271;
  MESSAGE("seed " << seed);
  const Coord extents{4, 2, 6, 4};
  const RandomColumns random(spinor_components, extents, seed);
  contract::Request request{.names = {"pion", "b1_y"}, .momenta = {}};
  for (int i = 0; i < 48; ++i) request.momenta.push_back({i % 4, i / 4 % 2 - 1, i / 8 - 3});
  const Source source{Source::Kind::point, {2, 1, 4, 3}};
  const runtime::Session session(runtime_testing::options(1, 2));
  const std::vector<Correlator> all = contracted(random.columns, "mesons", request, source);
  const double scale = reference::pion(random.fields)[0];
  for (const int n : {15, 5}) {
    reference::Propagator there = random.fields;  // the source's place alone
    for (reference::Field& column : there)
      for (std::int64_t site = 0; site < volume(extents); ++site)
        if (Coord x = coordinates(site, extents); x[0] != 2 || x[1] != 1 || x[2] != 4)
          for (int c = 0; c < 12; ++c) column.data[static_cast<std::size_t>(12 * site + c)] = 0;
    const auto expected = reference::meson(there, reference::gamma_product(n), reference::gamma_product(n));
    for (std::size_t t = 0; t < 4; ++t) {
      reference::Complex sum = 0;
      for (std::size_t i = n == 15 ? 0 : 1; i < all.size(); i += 2)
        sum += reference::Complex{all[i].values[t], all[i].imaginary.empty() ? 0 : all[i].imaginary[t]} / 48.0;
      CHECK(std::abs(sum - expected[(t + 3) % 4]) < 1e-12 * scale);
    }
  }
}

TEST_CASE("columns that do not fit, and names of no correlator, are refused") {
  const runtime::Session session(runtime_testing::options(1, 1));
  const std::vector<HostField> columns(11, HostField(spinor_components, {2, 2, 2, 2}));
  CHECK_THROWS_AS(contracted(columns, "mesons"), ShapeError);
  CHECK_THROWS_AS(contracted(std::vector<HostField>(3, HostField(spinor_components, {2, 2, 2, 2})), "staggered-mesons"), ShapeError);
  try {
    contract::choose({"mesons"}, {"pion", "pion05"});
    FAIL("no error");
  } catch (const Error& error) {
    const std::string what = error.what();
    CHECK(what.find("correlators: 'pion05' is no correlator of this action; use some of mesons, pion, rho_x, rho, ") != std::string::npos);
  }
}

}  // namespace contract_meson_test
