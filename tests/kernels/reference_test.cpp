// Wilson and staggered kernels of every architecture on made-up blocks against their definitions in matrices. No task, no runtime.
#include "codelets/actions/staggered/dslash_kernels.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "tests/kernels/architectures.hpp"
#include "tests/kernels/staggered_case.hpp"
#include "tests/kernels/wilson_case.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace quarkstar;
using namespace quarkstar::kernels;

namespace {

constexpr int sites = 24;  // enough for every kind of hop in every direction that lanes are split in

/// Largest difference between N stored components a site and the expected ones, over the largest of those.
template <class F, std::size_t N>
class Difference {
 public:
  void add(const F* site, int lanes, const std::array<Complex, N>& expected) {
    const site::SiteReader<F, site::Lane<Real<F>>> stored(site, lanes);
    for (std::size_t c = 0; c < N; ++c) {
      const auto z = stored.component(static_cast<int>(c));
      difference_ = std::max(difference_, std::abs(Complex(static_cast<double>(z.re.v), static_cast<double>(z.im.v)) - expected[c]));
      largest_ = std::max(largest_, std::abs(expected[c]));
    }
  }
  double relative() const { return difference_ / largest_; }

 private:
  double difference_ = 0, largest_ = 0;
};

/// What rounding of fields, links and products leaves; in half precision that of the stored integers.
double rounding(Precision precision, int link_reals) {
  return (precision == Precision::double_ ? 1e-14 : precision == Precision::single ? 1e-6 : 3e-4) * (link_reals == 8 ? 3 : 1);
}

template <class F>
void check_wilson() {
  const Precision precision = NumberFormat<F>::precision;
  for (const int lanes : lane_counts(precision))
    for (const int reals : {18, 12, 8})
      for (const int sign : {1, -1})
        for (const int vectors : {1, 3}) {
          INFO(describe(precision, lanes) << " links " << reals << " sign " << sign << " right-hand sides " << vectors);
          WilsonCase<F> c(lanes, reals, sites, true, vectors);
          std::vector<runtime::BinnedSum> sums(static_cast<std::size_t>(3 * vectors), runtime::BinnedSum::zero());
          wilson::hopping_kernel<F>({lanes, reals, sign, wilson::default_launch})(c.arguments, 0, sites, nullptr, sums.data());
          for (int v = 0; v < vectors; ++v) {
            Difference<F, 12> difference;
            double norm = 0;
            Complex dot = 0;
            for (int i = 0; i < sites; ++i)
              for (int l = 0; l < lanes; ++l) {
                const auto site = static_cast<int>(c.list[static_cast<std::size_t>(i)]);
                const std::array<Complex, 12> expected = c.expected(i, l, sign, v);
                difference.add(c.out.data() + c.at(site, v) + l, lanes, expected);
                for (std::size_t k = 0; k < 12; ++k) {
                  norm += std::norm(expected[k]);
                  dot += std::conj(c.y.at(site * vectors + v, l, lanes)[k]) * expected[k];
                }
              }
            CHECK(difference.relative() < rounding(precision, reals));
            const auto sum = [&](int s) { return runtime::value_of(sums[static_cast<std::size_t>(s * vectors + v)]); };
            CHECK(sum(0) == doctest::Approx(norm).epsilon(1e-3));
            CHECK(std::abs(Complex(sum(1), sum(2)) - dot) < 1e-3 * norm);
          }
        }
}

template <class F>
void check_staggered() {
  const Precision precision = NumberFormat<F>::precision;
  for (const int lanes : lane_counts(precision))
    for (const int vectors : {1, 2, 3, 4, 7})
      for (const int reals : {0, 18, 14, 13, 9}) {
        INFO(describe(precision, lanes) << " right-hand sides " << vectors << " long links " << reals);
        StaggeredCase<F> c(lanes, vectors, reals, sites, true);
        std::vector<runtime::BinnedSum> sums(static_cast<std::size_t>(2 * vectors), runtime::BinnedSum::zero());
        staggered::dslash_kernel<F>({lanes, reals})(c.arguments, 0, sites, nullptr, sums.data());
        for (int v = 0; v < vectors; ++v) {
          Difference<F, 3> difference;
          double norm = 0;
          for (int i = 0; i < sites; ++i)
            for (int l = 0; l < lanes; ++l) {
              const auto site = static_cast<int>(c.list[static_cast<std::size_t>(i)]);
              const std::array<Complex, 3> expected = c.expected(i, l, v);
              difference.add(c.out.data() + (site * vectors + v) * staggered::vector_words<F> * lanes + l, lanes, expected);
              for (const Complex& z : expected) norm += std::norm(z);
            }
          CHECK(difference.relative() < rounding(precision, reals));
          CHECK(runtime::value_of(sums[static_cast<std::size_t>(v)]) == doctest::Approx(norm).epsilon(1e-3));
        }
      }
}

}  // namespace

TEST_CASE("the Wilson hopping term equals its definition") {
  for_architectures([] {
    check_wilson<double>();
    check_wilson<float>();
    check_wilson<Half>();
  });
}

TEST_CASE("the staggered Dslash equals its definition") {
  for_architectures([] {
    check_staggered<double>();
    check_staggered<float>();
    check_staggered<Half>();
  });
}
