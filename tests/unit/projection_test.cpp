// Products of vectors rounded to whole numbers, and sums of vectors, against integers of 128 bits and multiply-adds one by one.
#include "codelets/field/projection.hpp"

#include "codelets/arch/dispatch.hpp"
#include "codelets/field/rounding.hpp"
#include "tests/unit/projection_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace projection_test {

using namespace quarkstar;
using namespace quarkstar::projection_testing;

namespace {

constexpr std::uint64_t seed = 20261215;

std::vector<std::int64_t> even_sites() {
  std::vector<std::int64_t> sites;
  for (std::int64_t site = 0; site < volume(extents); ++site)
    if (parity_of(coordinates(site, extents)) == 0) sites.push_back(site);
  return sites;
}

/// On the even sites.
double scale_of(const HostField& field) {
  long double norm2 = 0, sum8 = 0;
  for (const std::int64_t site : even_sites())
    for (int c = 0; c < field.components; ++c) {
      const long double of_number = std::norm(std::complex<long double>(field.at(site, c)));
      norm2 += of_number;
      sum8 += of_number * of_number * of_number * of_number;
    }
  return blas::scale_of_rounding(static_cast<double>(norm2), static_cast<double>(sum8));
}

std::complex<double> rounded_product(const HostField& a, const HostField& b, double of_a, double of_b) {
  __int128 re = 0, im = 0;
  for (const std::int64_t site : even_sites())
    for (int c = 0; c < a.components; ++c) {
      const auto whole = [](double x) { return static_cast<__int128>(std::llrint(x)); };
      const __int128 ar = whole(a.at(site, c).real() * of_a), ai = whole(a.at(site, c).imag() * of_a),
                     br = whole(b.at(site, c).real() * of_b), bi = whole(b.at(site, c).imag() * of_b);
      re += ar * br + ai * bi;
      im += ar * bi - ai * br;
    }
  return {static_cast<double>(re), static_cast<double>(im)};
}

/// base + sum of a_i c_iv, number by number.
std::complex<double> sum_of(const std::vector<HostField>& a, const Outcome& outcome, std::size_t v, std::int64_t site, int c,
                            std::complex<double> base) {
  double re = base.real(), im = base.imag();
  const std::size_t vectors = outcome.combined.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::complex<double> z = a[i].at(site, c);
    const runtime::ComplexScalar& f = outcome.coefficients[i * vectors + v];
    re = std::fma(-f.im, z.imag(), std::fma(f.re, z.real(), re));
    im = std::fma(f.re, z.imag(), std::fma(f.im, z.real(), im));
  }
  return {re, im};
}

}  // namespace

TEST_CASE("scales of rounding: numbers fit, and few bits are left unused") {
  MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> number;
  std::uniform_int_distribution<int> exponent(-130, 130), count(1, 3000);
  for (int round = 0; round < 400; ++round) {
    const int n = count(random);
    const double size = std::ldexp(1.0, exponent(random));
    double norm2 = 0, sum8 = 0, most = 0;
    for (int i = 0; i < n; ++i) {
      const double re = size * number(random), im = round % 3 == 0 ? 0 : size * number(random), of_number = re * re + im * im;
      norm2 += of_number;
      sum8 += of_number * of_number * of_number * of_number;
      most = std::max({most, std::abs(re), std::abs(im)});
    }
    const double scale = blas::scale_of_rounding(norm2, sum8);
    INFO(n << " numbers up to " << most << ", scale " << scale);
    CHECK(std::rint(most * scale) <= blas::most_rounded);
    const bool in_range = sum8 > 1e-250 && sum8 < 1e300;
    CHECK(most * scale * (in_range ? std::pow(n, 0.125) : std::sqrt(n)) * 4 > blas::most_rounded);
    CHECK(std::ilogb(scale) == std::log2(scale));
  }
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(blas::scale_of_rounding(0, 0) == 1);
  CHECK(std::isnan(blas::scale_of_rounding(nan, nan)));
  CHECK(std::isnan(blas::scale_of_rounding(infinity, infinity)));
  CHECK(blas::scale_of_rounding(1, 1) == std::ldexp(1.0, 22));  // as 1.0 takes 24 bits, and the largest number fewer
  CHECK(blas::scale_of_rounding(1e100, nan) > 0);               // the eighth power left the range, the norm did not
}

TEST_CASE(
    "rounded products are exact sums of whole numbers, and combinations multiply-adds, with the same bits however they are computed") {
  MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  const arch::Architecture chosen = arch::current();
  struct Shape {
    int components, count, room, n, vectors;
  };
  for (const auto& [components, count, room, n, vectors] : {Shape{colour_components, 37, 16, 12, 12}, Shape{colour_components, 5, 3, 1, 4},
                                                            Shape{spinor_components, 9, 8, 7, 7}, Shape{colour_components, 2, 1, 17, 17}}) {
    INFO(components << " components, " << count << " vectors by " << room << ", " << n << " others");
    std::vector<HostField> a = random_fields(components, count, random), b = random_fields(components, n, random);
    if (count > 2) std::fill(a[1].data.begin(), a[1].data.end(), 0.0);
    const Outcome first = compute(a, b, room, {1, 1, 1, 1}, {}, vectors);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(first.scales_of_a[i] == scale_of(a[i]));
    for (std::size_t v = 0; v < b.size(); ++v) CHECK(first.scales_of_b[v] == scale_of(b[v]));
    std::size_t differ = 0;
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t v = 0; v < b.size(); ++v) {
        const double of_a = first.scales_of_a[i], of_b = first.scales_of_b[v];
        const std::complex<double> expected = rounded_product(a[i], b[v], of_a, of_b),
                                   found = {first.products[2 * (i * b.size() + v)], first.products[2 * (i * b.size() + v) + 1]};
        differ += found != expected ? 1 : 0;
        std::complex<long double> exact = 0;
        long double norm_a = 0, norm_b = 0;
        for (const std::int64_t site : even_sites())
          for (int c = 0; c < components; ++c) {
            const std::complex<long double> x(a[i].at(site, c)), y(b[v].at(site, c));
            exact += std::conj(x) * y;
            norm_a += std::norm(x);
            norm_b += std::norm(y);
          }
        const std::complex<long double> unscaled = std::complex<long double>(found) / static_cast<long double>(of_a * of_b);
        if (norm_a > 0) worst = std::max(worst, static_cast<double>(std::abs(unscaled - exact) / std::sqrt(norm_a * norm_b)));
        for (int w = 0; w < (n == 1 ? vectors : 1); ++w) {
          const std::size_t column = n == 1 ? static_cast<std::size_t>(w) : v;
          const double below = 0.25 * static_cast<double>(i + 1) + 0.1 * static_cast<double>(column);
          const runtime::ComplexScalar& c = first.coefficients[i * static_cast<std::size_t>(vectors) + column];
          differ += c.re != expected.real() / (of_a * of_b) / below || c.im != expected.imag() / (of_a * of_b) / below ? 1 : 0;
        }
      }
    CHECK(differ == 0);
    MESSAGE("largest error of " << a.size() * b.size() << " products: " << worst << " of the norms");
    CHECK(worst < 1e-6);
    for (std::size_t v = 0; v < first.combined.size(); ++v)
      for (const std::int64_t site : even_sites())
        for (int c = 0; c < components; ++c) {
          const std::complex<double> once = sum_of(a, first, v, site, c, 0), twice = sum_of(a, first, v, site, c, once);
          differ += once != first.combined[v].at(site, c) || twice != first.added[v].at(site, c) ? 1 : 0;
        }
    CHECK(differ == 0);
    const auto check = [&](const Outcome& other) {
      CHECK(other.products == first.products);
      CHECK(same(other.coefficients, first.coefficients));
      for (std::size_t v = 0; v < first.combined.size(); ++v) {
        CHECK(other.combined[v].data == first.combined[v].data);
        CHECK(other.added[v].data == first.added[v].data);
      }
    };
    check(compute(a, b, room, {1, 1, 1, 2}, {}, vectors));
    check(compute(a, b, room, {1, 2, 1, 2}, 2, vectors));
    check(compute(a, b, std::min(room + 1, 16), {1, 1, 1, 1}, 1, vectors));
    for (const arch::Architecture architecture : arch::available()) {
      arch::force(architecture);
      check(compute(a, b, room, {1, 1, 1, 1}, {}, vectors));
    }
    arch::force(chosen);
  }
}

TEST_CASE("rounded products: a vector that is no numbers spoils its own alone, and fields that do not fit are refused") {
  MESSAGE("seed " << seed);
  std::mt19937_64 random(seed + 1);
  std::vector<HostField> a = random_fields(colour_components, 3, random), b = random_fields(colour_components, 2, random);
  const Outcome sound = compute(a, b, 2, {1, 1, 1, 1}, {}, 2);
  b[1].data.front() = std::numeric_limits<double>::infinity();
  const Outcome spoilt = compute(a, b, 2, {1, 1, 1, 1}, {}, 2);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(spoilt.coefficients[2 * i].re == sound.coefficients[2 * i].re);
    CHECK(std::isnan(spoilt.coefficients[2 * i + 1].re));
  }
  CHECK(spoilt.combined[0].data == sound.combined[0].data);

  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const auto of = [&](Precision precision) {
    return std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), precision, antiperiodic_in_time);
  };
  const LatticePointer lattice = of(Precision::double_), single = of(Precision::single);
  const runtime::Handle numbers(64 * sizeof(double));
  const runtime::PartialSums sums(1, 64);
  const Field tile(lattice, 0, colour_components, 4), in(lattice, 0, colour_components, 2), odd(lattice, 1, colour_components, 2),
      narrow(single, 0, colour_components, 2);
  CHECK_THROWS_AS(blas::rounded_products({{&tile}, 5}, numbers, in, numbers, sums), ShapeError);
  CHECK_THROWS_AS(blas::rounded_products({{}, 0}, numbers, in, numbers, sums), ShapeError);
  CHECK_THROWS_AS(blas::rounded_products({{&tile, &in}, 5}, numbers, in, numbers, sums), ShapeError);
  CHECK_THROWS_AS(blas::rounded_products({{&tile}, 4}, numbers, odd, numbers, sums), ShapeError);
  CHECK_THROWS_AS(blas::combine(narrow, nullptr, {{&narrow}, 2}, numbers), ShapeError);
}

}  // namespace projection_test
