// Staggered correlators on the graph against the reference's, on fields that are no solutions.
#include "runtime/system/error.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/unit/contract_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

namespace contract_staggered_test {

using namespace quarkstar;
using testing::contracted;
using testing::named;
using testing::RandomColumns;

namespace {

constexpr std::uint64_t seed = 20261130;

Source point(const Coord& position) { return {Source::Kind::point, position}; }

}  // namespace

TEST_CASE("staggered correlators equal the reference's") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 6, 2, 8};
  const RandomColumns random(colour_components, extents, seed);
  const int source_time = 3;
  const Coord origin{2, 0, 0, source_time};
  const runtime::Session session(runtime_testing::options(1, 2));
  const std::vector<Correlator> all = contracted(random.columns, "staggered-mesons", {.momenta = {{0, 0, 0}, {1, 2, 0}}}, point(origin));
  const auto close = [&](const char* name, const std::vector<double>& from_zero) {
    const std::vector<double>& got = named(all, name).values;
    for (std::size_t t = 0; t < got.size(); ++t) {
      INFO(name << " t " << t);
      CHECK(got[t] == doctest::Approx(from_zero[(t + source_time) % from_zero.size()]).epsilon(1e-12));
    }
  };
  close("pion5", reference::pion(random.fields));
  const std::vector<double> x = reference::staggered_rho(random.fields, 0), y = reference::staggered_rho(random.fields, 1),
                            z = reference::staggered_rho(random.fields, 2);
  close("pion05", reference::staggered_pion05(random.fields, origin));
  close("rho_x", x);
  close("rho_y", y);
  close("rho_z", z);
  std::vector<double> mean(x.size());
  for (std::size_t t = 0; t < mean.size(); ++t) mean[t] = (x[t] + y[t] + z[t]) / 3;
  close("rho", mean);
  // With momentum.
  std::vector<reference::Complex> waves(8);
  for (const reference::Field& column : random.fields)
    for (std::int64_t site = 0; site < column.sites(); ++site)
      for (int c = 0; c < 3; ++c) {
        const Coord at = coordinates(site, extents);
        waves[at[3]] += reference::plane_wave(at, {1, 2, 0}, origin, extents) * std::norm(column(site, 0, c));
      }
  const Correlator& moving = named(all, "pion5_p1,2,0");
  for (std::size_t t = 0; t < 8; ++t)
    CHECK(std::abs(reference::Complex{moving.values[t], moving.imaginary[t]} - waves[(t + source_time) % 8]) < 1e-12 * all[0].values[t]);
}

TEST_CASE("staggered mesons of two propagators equal sums over sites; exchanged they are the complex conjugates with momentum -p") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 6, 2, 8}, origin{2, 0, 0, 3};
  const RandomColumns g(colour_components, extents, seed), h(colour_components, extents, seed + 3);
  const runtime::Session session(runtime_testing::options(1, 2));
  const auto of = [&](const RandomColumns& first, const RandomColumns& second, const testing::ContractionLayout& layout = {}) {
    std::vector<HostField> columns = first.columns;
    columns.insert(columns.end(), second.columns.begin(), second.columns.end());
    return contracted(columns, "staggered-mesons-of-two", {.momenta = {{0, 0, 0}, {1, 2, 0}, {-1, -2, 0}}}, point(origin), layout);
  };
  const std::vector<Correlator> got = of(g, h), exchanged = of(h, g), equal = of(g, g),
                                of_one = contracted(g.columns, "staggered-mesons", {}, point(origin));
  CHECK(testing::same_bits(of(g, h, {{2, 1, 1, 2}, {.most_lanes = 2}, 9}), got));
  const double scale = reference::pion(g.fields)[0];
  const auto is_close = [scale](double a, double b) { CHECK(std::abs(a - b) < 1e-12 * scale); };
  const auto sign = [](int exponent) { return exponent % 2 == 0 ? 1.0 : -1.0; };
  const auto phase = [&](std::string_view name, const Coord& x) {
    if (name == "pion05") return sign(x[0] + x[1] + x[2] + x[3] - 5);
    if (name == "rho") return (sign(x[0]) + sign(x[1]) + sign(x[2])) / 3;
    return name == "pion5" ? 1.0 : sign(x[static_cast<std::size_t>(name.back() - 'x')]);
  };
  for (const char* name : {"pion5", "pion05", "rho_x", "rho_y", "rho_z", "rho"})
    for (const bool moves : {false, true}) {
      CAPTURE(name);
      std::vector<reference::Complex> sum(8);
      for (std::size_t column = 0; column < 3; ++column)
        for (std::int64_t site = 0; site < volume(extents); ++site)
          for (int c = 0; c < 3; ++c) {
            const Coord x = coordinates(site, extents);
            const reference::Complex wave = moves ? reference::plane_wave(x, {1, 2, 0}, origin, extents) : 1;
            sum[x[3]] += phase(name, x) * wave * g.fields[column](site, 0, c) * std::conj(h.fields[column](site, 0, c));
          }
      const std::string suffix = moves ? "_p1,2,0" : "";
      const Correlator &one = named(got, name + suffix), &other = named(exchanged, name + std::string(moves ? "_p-1,-2,0" : ""));
      for (std::size_t t = 0; t < 8; ++t) {
        is_close(one.values[t], sum[(t + 3) % 8].real());
        is_close(one.imaginary[t], sum[(t + 3) % 8].imag());
        is_close(one.values[t], other.values[t]);
        is_close(one.imaginary[t], -other.imaginary[t]);
        is_close(named(equal, name).values[t], named(of_one, name).values[t]);
        is_close(named(equal, name).imaginary[t], 0);
      }
    }
}

TEST_CASE("cuts, lanes of vectors and places of columns change no bit of a staggered correlator") {
  const Coord extents{4, 4, 8, 8};
  const RandomColumns random(colour_components, extents, seed);
  const runtime::Session session(runtime_testing::options(2, 1));
  const contract::Request request{.momenta = {{0, 0, 0}, {0, 1, -1}}};
  const Source source = point({1, 0, 1, 3});
  const std::vector<Correlator> expected = contracted(random.columns, "staggered-mesons", request, source);
  for (const testing::ContractionLayout& layout : {testing::ContractionLayout{{1, 1, 2, 2}},
                                                   {{1, 2, 1, 1}, {.most_lanes = 4}},
                                                   {{1, 1, 1, 2}, {.vectors_in_lanes = 8}, 16},
                                                   {{1, 1, 2, 1}, {.reach = 3}, 7}})
    CHECK(testing::same_bits(contracted(random.columns, "staggered-mesons", request, source, layout), expected));
}

TEST_CASE("pion05 has the sign of x + y + z + t") {
  const Coord extents{2, 2, 2, 4};
  std::vector<HostField> columns(3, HostField(colour_components, extents));
  columns[1].at(lexicographic({1, 1, 1, 2}, extents), 0) = 2;
  columns[2].at(lexicographic({1, 0, 1, 2}, extents), 2) = {0, 3};
  const runtime::Session session(runtime_testing::options(1, 1));
  const auto values = [&](const char* name, const Coord& origin) {
    return contracted(columns, "staggered-mesons", {.names = {name}}, point(origin)).front().values;
  };
  CHECK(values("pion05", {0, 0, 0, 1}) == std::vector<double>{0, -5, 0, 0});
  CHECK(values("pion05", {1, 0, 0, 1}) == std::vector<double>{0, 5, 0, 0});
  CHECK(values("pion05", {0, 0, 0, 0}) == std::vector<double>{0, 0, 5, 0});
  CHECK(values("rho_y", {1, 0, 0, 2}) == std::vector<double>{5, 0, 0, 0});
  columns.pop_back();
  CHECK_THROWS_AS(contracted(columns, "staggered-mesons"), ShapeError);
}

TEST_CASE("the pion of staggered quarks is the Goldstone pion, their rho the mean of three") {
  const auto choices = contract::choose({"staggered-mesons"}, {"pion", "rho"});
  REQUIRE(choices.size() == 1);
  CHECK(choices.front().channels == std::vector<int>{0, 5});
}

TEST_CASE("a source without phases of its own leaves all but pion5 out, and says so") {
  const auto choices = contract::choose({"staggered-mesons"}, {});
  const Source wall{Source::Kind::wall, {0, 0, 0, 2}}, corners{Source::Kind::corner_wall, {0, 0, 0, 2}};
  CHECK(contract::that_fit(choices, wall).front().channels == std::vector<int>{0});
  CHECK(contract::left_out(choices, wall) ==
        "pion05, rho_x, rho_y, rho_z, rho: wall:2 has no phases of its own; use a point or corner-wall source");
  CHECK(contract::left_out(choices, corners).empty());
  CHECK(contract::that_fit(choices, corners).front().channels.size() == 6);
}

}  // namespace contract_staggered_test
