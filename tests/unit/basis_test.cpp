// A basis and its products with other vectors, exact and of rounded vectors, against the host's.
#include "solvers/eigen/basis.hpp"

#include "tests/unit/projection_support.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <random>
#include <vector>

namespace basis_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261203;

/// On the even sites.
template <class Each>
void for_even(const HostField& field, Each&& each) {
  for (std::int64_t site = 0; site < volume(field.extents); ++site)
    if (parity_of(coordinates(site, field.extents)) == 0)
      for (int c = 0; c < field.components; ++c) each(site, c);
}

std::complex<double> product(const HostField& a, const HostField& b) {
  std::complex<long double> sum = 0;
  for_even(a, [&](std::int64_t site, int c) {
    sum += std::conj(std::complex<long double>(a.at(site, c))) * std::complex<long double>(b.at(site, c));
  });
  return std::complex<double>(sum);
}

}  // namespace

TEST_CASE("a basis: products, also rough ones, and sums are those of its vectors, as it grows and is rotated") {
  MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  constexpr int block = 4, n = 3, components = colour_components;
  for (const Precision stored : {Precision::double_, Precision::single}) {
    INFO("stored in " << name_of(stored));
    const runtime::Session session(runtime_testing::options(2));
    const Coord extents = projection_testing::extents;
    const auto lattice =
        std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 2}, 2), Precision::double_, antiperiodic_in_time);
    Basis basis(lattice, 0, components, block, 40, stored);
    std::vector<HostField> vectors;
    const Field w(lattice, 0, components, n), image(lattice, 0, components, n), part(lattice, 0, components, block);
    const double noise = stored == Precision::double_ ? 1e-15 : 1e-7;
    const auto check = [&] {
      const std::vector<HostField> others = projection_testing::random_fields(components, n, random);
      transfer::load(w, others);
      const SmallMatrix exact = basis.products(w), rough = basis.rough_products(w);
      SmallMatrix weights(basis.count(), n);
      for (int i = 0; i < basis.count(); ++i)
        for (int v = 0; v < n; ++v) {
          const HostField &a = vectors[static_cast<std::size_t>(i)], &b = others[static_cast<std::size_t>(v)];
          const double size = std::sqrt(product(a, a).real() * product(b, b).real());
          CHECK(std::abs(exact(i, v) - product(a, b)) <= 10 * noise * size);
          CHECK(std::abs(rough(i, v) - product(a, b)) <= 2e-6 * size);
          weights(i, v) = {1.0 / (i + 1), 0.5 * v};
        }
      basis.combine(image, weights);
      basis.add(image, -weights);
      std::vector<HostField> left(n, HostField(components, extents)), sums = left;
      transfer::store(left, image);
      basis.combine(image, weights);
      transfer::store(sums, image);
      runtime::Session::current().wait_all();
      for (int v = 0; v < n; ++v)
        for_even(left[0], [&](std::int64_t site, int c) {
          const auto at = static_cast<std::size_t>(v);
          std::complex<double> sum = 0;
          double size = 0;
          for (int i = 0; i < basis.count(); ++i) {
            const std::complex<double> summand = weights(i, v) * vectors[static_cast<std::size_t>(i)].at(site, c);
            sum += summand;
            size += std::abs(summand);
          }
          CHECK(std::abs(sums[at].at(site, c) - sum) <= 10 * noise * size);
          CHECK(std::abs(left[at].at(site, c)) <= 10 * noise * size);
        });
    };
    const auto grow = [&](int blocks) {
      for (int b = 0; b < blocks; ++b) {
        const std::vector<HostField> some = projection_testing::random_fields(components, block, random);
        transfer::load(part, some);
        basis.append(part);
        vectors.insert(vectors.end(), some.begin(), some.end());
        runtime::Session::current().wait_all();
        if (b % 2 == 0) check();
      }
    };
    grow(6);
    // Half of them, in another order: single precision rounds once more.
    const int kept = 12;
    SmallMatrix rotation = SmallMatrix::Zero(basis.count(), kept);
    std::vector<HostField> turned;
    for (int i = 0; i < kept; ++i) {
      rotation(2 * i + 1, i) = 1;
      turned.push_back(vectors[static_cast<std::size_t>(2 * i + 1)]);
    }
    basis.rotate(rotation);
    vectors = turned;
    check();
    grow(3);
  }
}

}  // namespace basis_test
