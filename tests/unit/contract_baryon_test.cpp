// Baryons on the graph against Wick's theorem, term by term, on random columns.
#include "codelets/arch/dispatch.hpp"
#include "codelets/contract/families.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/unit/contract_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

namespace contract_baryon_test {

using namespace quarkstar;
using reference::Complex;
using reference::Matrix;
using testing::RandomColumns;

namespace {

constexpr std::uint64_t seed = 235711;

}  // namespace

TEST_CASE("baryons are the sum over all contractions, on every architecture") {
  MESSAGE("seed " << seed);
  const Coord extents{2, 2, 2, 4};
  const RandomColumns random(spinor_components, extents, seed);
  const Source source{Source::Kind::point, {1, 0, 1, 3}};
  const Matrix<4> one = Matrix<4>::identity(), g4 = reference::gamma_product(8), c = reference::gamma_product(2) * g4,
                  g1 = reference::gamma_product(1), g2 = reference::gamma_product(2), sigma = reference::imaginary_unit * (g1 * g2),
                  plus = Complex{0.5} * (one + g4), minus = Complex{0.5} * (one - g4);
  const runtime::Session session(runtime_testing::options(1, 2));
  const arch::Architecture chosen = arch::current();
  for (const std::array<int, 3>& n : {std::array<int, 3>{0, 0, 0}, {1, 0, 1}}) {
    std::map<std::string, std::vector<Complex>> expected;
    const auto add = [&](const char* name, Complex scale, const Matrix<4>& gamma, const Matrix<4>& projector, int flavour) {
      const std::vector<Complex> term = reference::baryon(random.fields, gamma, projector, {0, flavour, 0}, n, source.position);
      std::vector<Complex>& sum = expected[name];
      sum.resize(term.size());
      for (std::size_t t = 0; t < term.size(); ++t) sum[t] += scale * term[(t + 3) % term.size()];
    };
    const Matrix<4> nucleon = c * reference::gamma5(reference::Basis::degrand_rossi);
    add("proton", 1, nucleon, plus, 1);
    add("proton_minus", 1, nucleon, minus, 1);
    add("proton_mixed", 1, nucleon, (one + reference::imaginary_unit * Complex{-1} * (g1 * g2)) * plus, 1);
    for (const double sign : {1.0, -1.0}) {
      const Matrix<4> gamma = Complex{0.5} * (c * (g1 + Complex{0, sign} * g2)), spin = Complex{0.5} * (one + Complex{sign} * sigma);
      add("delta", 0.25, gamma, spin * plus, 0);
      add("delta_minus", 0.25, gamma, spin * minus, 0);
    }
    for (const char* family : {"octet", "decuplet"}) {
      std::vector<Correlator> first;
      for (const arch::Architecture architecture : arch::available()) {
        arch::force(architecture);
        const std::vector<Correlator> all = testing::contracted(random.columns, family, {.names = {family}, .momenta = {n}}, source);
        if (first.empty()) first = all;
        INFO(std::string(arch::name_of(architecture)));
        CHECK(testing::same_bits(all, first));
      }
      arch::force(chosen);
      for (const Correlator& got : first) {
        const std::vector<Complex>& of_name = expected.at(got.name.substr(0, got.name.find("_p1")));
        double scale = 0;
        for (const Complex& value : of_name) scale = std::max(scale, std::abs(value));
        for (std::size_t t = 0; t < of_name.size(); ++t) {
          INFO(got.name << " t " << t);
          CHECK(std::abs(Complex{got.values[t], got.imaginary[t]} - of_name[t]) < 1e-12 * scale);
        }
      }
    }
  }
}

TEST_CASE("baryons of two propagators are the sum over all contractions; of equal ones they are those of one") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 4};
  const RandomColumns light(spinor_components, extents, seed), strange(spinor_components, extents, seed + 100);
  const Source source{Source::Kind::point, {1, 0, 1, 3}};
  const std::array<int, 3> n{1, 0, 1};
  const Matrix<4> one = Matrix<4>::identity(), g4 = reference::gamma_product(8), c = reference::gamma_product(2) * g4,
                  g1 = reference::gamma_product(1), g2 = reference::gamma_product(2), sigma = reference::imaginary_unit * (g1 * g2),
                  plus = Complex{0.5} * (one + g4), minus = Complex{0.5} * (one - g4);
  // Flavours: u, d and s.
  const std::vector<const reference::Propagator*> propagators{&light.fields, &light.fields, &strange.fields};
  const double sixth = std::sqrt(1.0 / 6), third = std::sqrt(1.0 / 3);
  const std::vector<reference::BaryonTerm> sigma_plus{{1, {0, 2, 0}}},
      lambda{{2 * sixth, {0, 1, 2}}, {sixth, {0, 2, 1}}, {-sixth, {1, 2, 0}}}, sigma_star{{2 * third, {0, 2, 0}}, {third, {0, 0, 2}}};
  std::map<std::string, std::vector<Complex>> expected;
  const auto add = [&](const char* name, Complex scale, const std::vector<reference::BaryonTerm>& terms, const Matrix<4>& gamma,
                       const Matrix<4>& projector) {
    const std::vector<Complex> term = reference::baryon(propagators, terms, gamma, projector, n, source.position);
    std::vector<Complex>& sum = expected[name];
    sum.resize(term.size());
    for (std::size_t t = 0; t < term.size(); ++t) sum[t] += scale * term[(t + 3) % term.size()];
  };
  const Matrix<4> octet = c * reference::gamma5(reference::Basis::degrand_rossi);
  add("proton", 1, sigma_plus, octet, plus);
  add("proton_minus", 1, sigma_plus, octet, minus);
  add("proton_mixed", 1, sigma_plus, octet, (one + reference::imaginary_unit * Complex{-1} * (g1 * g2)) * plus);
  add("lambda", 1, lambda, octet, plus);
  add("lambda_minus", 1, lambda, octet, minus);
  for (const double sign : {1.0, -1.0}) {
    const Matrix<4> gamma = Complex{0.5} * (c * (g1 + Complex{0, sign} * g2)), spin = Complex{0.5} * (one + Complex{sign} * sigma);
    add("delta", 0.25, sigma_star, gamma, spin * plus);
    add("delta_minus", 0.25, sigma_star, gamma, spin * minus);
  }
  const runtime::Session session(runtime_testing::options(1, 2));
  const arch::Architecture chosen = arch::current();
  const auto both = [](const RandomColumns& first, const RandomColumns& second) {
    std::vector<HostField> columns = first.columns;
    columns.insert(columns.end(), second.columns.begin(), second.columns.end());
    return columns;
  };
  for (const char* family : {"octet", "decuplet"}) {
    const std::string of_two = std::string(family) + "-of-two";
    const contract::Request request{.names = {family}, .momenta = {n}};
    std::vector<Correlator> first;
    for (const arch::Architecture architecture : arch::available()) {
      arch::force(architecture);
      const std::vector<Correlator> all = testing::contracted(both(light, strange), of_two, request, source);
      if (first.empty()) first = all;
      INFO(std::string(arch::name_of(architecture)));
      CHECK(testing::same_bits(all, first));
    }
    arch::force(chosen);
    CHECK(testing::same_bits(testing::contracted(both(light, strange), of_two, request, source, {{1, 1, 2, 2}, {.most_lanes = 2}, 26}),
                             first));
    const std::vector<Correlator> of_one = testing::contracted(light.columns, family, request, source),
                                  equal = testing::contracted(both(light, light), of_two, request, source);
    CHECK(first.size() == (std::string(family) == "octet" ? 5 : 2));
    for (const Correlator& got : first) {
      const std::string name = got.name.substr(0, got.name.find("_p1"));
      const std::vector<Complex>& of_name = expected.at(name);
      const std::string alike = name.starts_with("lambda") ? "proton" + name.substr(6) : name;
      const Correlator &degenerate = testing::named(equal, got.name), &single = testing::named(of_one, alike + "_p1,0,1");
      double scale = 0;
      for (const Complex& value : of_name) scale = std::max(scale, std::abs(value));
      for (std::size_t t = 0; t < of_name.size(); ++t) {
        INFO(got.name << " t " << t);
        CHECK(std::abs(Complex{got.values[t], got.imaginary[t]} - of_name[t]) < 1e-12 * scale);
        const Complex one_quark{single.values[t], single.imaginary[t]};
        CHECK(std::abs(Complex{degenerate.values[t], degenerate.imaginary[t]} - one_quark) < 1e-12 * scale);
      }
    }
  }
}

TEST_CASE("cuts and lanes change no bit of a baryon") {
  const RandomColumns random(spinor_components, {4, 4, 4, 8}, seed);
  const runtime::Session session(runtime_testing::options(2, 1));
  const Source source{Source::Kind::point, {3, 0, 2, 6}};
  for (const char* family : {"octet", "decuplet"}) {
    const contract::Request request{.names = {family}, .momenta = {{0, 0, 0}, {2, -1, 1}}};
    const std::vector<Correlator> expected = testing::contracted(random.columns, family, request, source);
    for (const testing::ContractionLayout& layout :
         {testing::ContractionLayout{{1, 1, 1, 2}}, {{2, 1, 2, 1}}, {{1, 1, 1, 1}, {.most_lanes = 1}}, {{1, 1, 2, 1}, {}, 14}})
      CHECK(testing::same_bits(testing::contracted(random.columns, family, request, source, layout), expected));
  }
}

}  // namespace contract_baryon_test
