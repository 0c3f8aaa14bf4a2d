// Sources: what stands where, noise, and parts of the lattice.
#include "apps/run/parse.hpp"
#include "codelets/field/source.hpp"
#include "codelets/lattice/random.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/system/error.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

namespace app_source_test {

using namespace quarkstar;
using namespace quarkstar::app;

TEST_CASE("sources of a time slice: where they are not zero, and what they are there") {
  const Coord extents{4, 2, 6, 8};
  struct Kind {
    const char* text;
    std::complex<double> (*expected)(const Coord&);  ///< at a site of the time slice; none: noise
    double norm2;
  };
  const Kind kinds[] = {
      {"point:1,0,5,3",
       [](const Coord& x) {
         return x == Coord{1, 0, 5, 3} ? std::complex(1.0) : 0.0;
       },
       1},
      {"wall:3", [](const Coord&) { return std::complex(1.0); }, 48},
      {"wall:3,1,0,-2", [](const Coord& x) { return std::polar(1.0, 2 * std::numbers::pi * (x[0] / 4.0 - 2 * x[2] / 6.0)); }, 0},
      {"corner-wall:3", [](const Coord& x) { return (x[0] | x[1] | x[2]) % 2 == 0 ? std::complex(1.0) : 0.0; }, 6},
      {"z2:3,7", nullptr, 48},
      {"random:3,7", nullptr, 0}};
  for (const Kind& kind : kinds) {
    INFO(kind.text);
    const Source source = parse_source(kind.text);
    CHECK(text_of(source) == kind.text);
    double norm2 = 0;
    for (std::int64_t site = 0; site < volume(extents); ++site) {
      const Coord x = coordinates(site, extents);
      const std::complex<double> at = source_at(source, site, extents);
      norm2 += std::norm(at);
      if (x[3] != 3) CHECK(at == 0.0);
      else if (kind.expected != nullptr) CHECK(std::abs(at - kind.expected(x)) < (source.momentum[0] != 0 ? 1e-15 : 1e-300));
      else if (source.kind == Source::Kind::z2) CHECK((at == 1.0 || at == -1.0));
      else CHECK((at.real() != 0 && at.imag() != 0));
    }
    if (kind.norm2 > 0) CHECK(norm2 == kind.norm2);
    const std::int64_t site = lexicographic({1, 0, 5, 3}, extents);
    const HostField colour = make_source(source, colour_components, extents, 2);
    const HostField spinor = make_source(source, spinor_components, extents, 5);
    for (int c = 0; c < 3; ++c) {
      CHECK(colour.at(site, c) == (c == 2 ? source_at(source, site, extents) : 0.0));
      for (int spin = 0; spin < 4; ++spin) CHECK(spinor.at(site, spin, c) == (3 * spin + c == 5 ? source_at(source, site, extents) : 0.0));
    }
  }
  const Source outside = parse_source("point:0,0,0,99");
  CHECK_THROWS_AS(make_source(outside, spinor_components, extents, 0), Error);
  CHECK_THROWS_AS(make_source(outside, colour_components, extents, 0), Error);
  for (const char* wrong : {"z2", "z2:1,2,3", "wall:1,2", "random:-1", "corner:1", "corner-wall:1,0,0,1", "gaussian", "gaussian:0,0,0,0",
                            "gaussian:0,0,0,0,2", "gaussian:0,0,0,0,2,6", "gaussian:0,0,0,0,0,5", "wuppertal:0,0,0,0,0.2,10,0.5",
                            "gaussian:0,0,0,0,2,10,1.5,3", "gaussian:0,0,0,-1,2,10"})
    CHECK_THROWS_AS(parse_source(wrong), BadValue);
}

TEST_CASE("texts of smeared points and sinks, and what they mean") {
  for (const char* text : {"gaussian:1,0,5,3,2,10", "wuppertal:1,0,5,3,0.15,20,0.6,3"}) {
    const Source source = parse_source(text);
    CHECK(text_of(source) == text);
    CHECK(source.kind == Source::Kind::point);
    CHECK(source.position == Coord{1, 0, 5, 3});
    REQUIRE(source.smearing);
    CHECK(source_at(source, lexicographic({1, 0, 5, 3}, {4, 2, 6, 8}), {4, 2, 6, 8}) == 1.0);
  }
  CHECK(kind_of(parse_source("gaussian:1,0,5,3,2,10")) == "gaussian:2,10");
  CHECK(kind_of(parse_source("wall:3,0,0,0")) == "wall");
  CHECK(kind_of(parse_source("wall:3,1,0,-2")) == "wall:1,0,-2");
  CHECK(kind_of(parse_source("z2:3,7")) == "z2");
  for (const char* text : {"point", "gaussian:2,10", "wuppertal:0.15,20,0.6,3"}) CHECK(text_of(parse_sink(text)) == text);
  CHECK(!parse_sink("point"));
  CHECK(parse_sink("gaussian:2,10")->weight() == 0.1);
  CHECK(parse_sink("wuppertal:0.2,20")->weight() == doctest::Approx(0.2 / 2.2));
  CHECK(parse_sink("wuppertal:0.2,20,0.6,3")->ape_steps == 3);
  for (const char* wrong : {"wall", "gaussian:2", "gaussian:2,10,0.6", "gaussian:2,0", "gaussian:2,6", "gaussian:2,10,0,3", "gaussian:x,3"})
    CHECK_THROWS_AS(parse_sink(wrong), BadValue);
  CHECK(parse_sink("gaussian:2,7"));
}

TEST_CASE("noise belongs to its seed and site: Philox's numbers, with the moments of signs and of normal numbers") {
  const Coord extents{16, 16, 16, 4};
  constexpr double sites = 16 * 16 * 16,
                   bound = 5 / 64.;  // five standard errors of a mean of 64^2 numbers of variance 1
  const auto values = [&](const std::string& text) {
    std::vector<std::complex<double>> slice;
    const Source source = parse_source(text);
    const std::int64_t first = lexicographic({0, 0, 0, source.time()}, extents);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(sites); ++i) slice.push_back(source_at(source, first + i, extents));
    return slice;
  };
  /// <conj(a) b>, or <a b>.
  const auto mean_product = [&](const auto& a, const auto& b, bool conjugate) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (conjugate ? std::conj(a[i]) : a[i]) * b[i];
    return sum / sites;
  };
  const std::vector<std::complex<double>> ones(static_cast<std::size_t>(sites), 1.0);
  for (const std::string kind : {"z2", "random"}) {
    INFO(kind);
    const auto noise = values(kind + ":1,5");
    CHECK(values(kind + ":1,5") == noise);
    CHECK(values(kind + ":1,1") == values(kind + ":1"));
    CHECK(std::abs(mean_product(ones, noise, true)) < bound);
    CHECK(std::abs(mean_product(noise, noise, true) - 1.0) < bound);
    CHECK(std::abs(mean_product(noise, noise, false) - (kind == "z2" ? 1.0 : 0.0)) < bound);
    for (const std::string other : {":1,6", ":2,5"}) CHECK(std::abs(mean_product(noise, values(kind + other), true)) < bound);
  }
  // The first group of the stream with the key (seed, noise_source) and the counter (site, 0, 0, 0).
  const std::int64_t first = lexicographic({0, 0, 0, 1}, extents);
  const auto signs = values("z2:1,5"), normal = values("random:1,5");
  for (std::size_t i = 0; i < 64; ++i) {
    const auto words = r123::Philox4x64()({{static_cast<std::uint64_t>(first) + i, 0, 0, 0}}, {{5, 3}});
    CHECK(signs[i].real() == (static_cast<std::int64_t>(words[0]) < 0 ? 1 : -1));
    const auto uniform = [](std::uint64_t word) { return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52; };
    const std::complex<double> expected = std::polar(std::sqrt(-std::log(uniform(words[0]))), 2 * std::numbers::pi * uniform(words[1]));
    CHECK(std::abs(normal[i] - expected) < 1e-14 * (1 + std::abs(expected)));
  }
}

TEST_CASE("parts of a source are those of the whole") {
  const Coord extents{8, 4, 4, 6};
  for (const char* text : {"point:3,1,2,5", "wall:0", "wall:2,1,0,1", "corner-wall:3", "z2:3,7", "random:1"}) {
    INFO(text);
    const Source source = parse_source(text);
    const HostField spinor = make_source(source, spinor_components, extents, 7);
    const HostField colour = make_source(source, colour_components, extents, 1);
    for (const Coord& grid : {Coord{2, 1, 2, 3}, Coord{1, 2, 1, 1}, Coord{4, 1, 1, 2}}) {
      const runtime::Decomposition cut(extents, runtime::RankGrid{grid, 0, {}}, {1, 1, 1, 1}, 1);
      for (int rank = 0; rank < volume(grid); ++rank) {
        const Box box = cut.part_of(rank);
        const HostField spinor_part = make_source(source, spinor_components, extents, box, 7);
        const HostField colour_part = make_source(source, colour_components, extents, box, 1);
        CHECK(spinor_part.origin == box.origin);
        for (std::int64_t i = 0; i < volume(box.extents); ++i) {
          const std::int64_t site = lexicographic(site_of(box, i), extents);
          CHECK(spinor_part.at(i, 2, 1) == spinor.at(site, 2, 1));
          CHECK(colour_part.at(i, 1) == colour.at(site, 1));
        }
      }
    }
  }
}

}  // namespace app_source_test
