// Products of the vectors of two fields with each other, and products with matrices, have the bits of a CPU on a GPU.
#include "codelets/field/gram.hpp"

#include "codelets/field/transfer.hpp"
#include "tests/battery/support.hpp"
#include "tests/gpu/support.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

namespace gram_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed_of_products = 71905;

/// Numbers of all sizes, so that a thread's sums begin their digits anew now and then; and zeros.
std::vector<HostField> fields_of_all_sizes(int components, const Coord& lattice, int n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> kind(0, 9), exponent(-60, 30), tiny(-530, -500);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  const auto number = [&] {
    const int of_number = kind(random);
    if (of_number == 1) return std::ldexp(mantissa(random), tiny(random));  // products are smaller than any normal number
    return of_number == 0 ? 0.0 : of_number < 4 ? std::ldexp(mantissa(random), exponent(random)) : mantissa(random);
  };
  std::vector<HostField> fields(static_cast<std::size_t>(n), HostField(components, lattice));
  for (HostField& field : fields)
    for (auto& z : field.data) z = {number(), number()};
  return fields;
}

struct MatrixOfTest {
  runtime::GraphStatus status{};
  runtime::ComplexScalar matrix[blas::VectorMatrix::most]{};
};

struct ProductsOfTest {
  std::vector<double> sums;
  std::vector<HostField> multiplied;
};

ProductsOfTest compute_products(int gpus, Precision precision, const std::vector<HostField>& x, const std::vector<HostField>& y,
                                std::optional<int> most_lanes = {}) {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = gpus});
  const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(x[0].extents, {1, 1, 1, 1}, session.block_owners()), precision,
                                                 antiperiodic_in_time, LayoutRequest{.most_lanes = most_lanes});
  const auto n = static_cast<int>(x.size()), m = static_cast<int>(y.size());
  const Field a(lattice, 0, x[0].components, n), b(lattice, 0, x[0].components, m), c(lattice, 0, x[0].components, n);
  transfer::load(a, x);
  transfer::load(b, y);
  const std::vector<HostField> backward(x.rbegin(), x.rend());
  transfer::load(c, backward);
  ProductsOfTest result;
  const auto add = [&](const std::vector<double>& some) { result.sums.insert(result.sums.end(), some.begin(), some.end()); };
  const runtime::PartialSums products(1, 2 * n * m), gram(1, n * n), norms(1, n * n);
  blas::products(a, b, products);
  add(runtime::values_of(products, 2 * n * m));
  const runtime::Handle state(sizeof(MatrixOfTest));
  {
    const runtime::HostView<MatrixOfTest> view(state, runtime::HostAccess::overwrite);
    *view = MatrixOfTest{};
    for (int i = 0; i < n * m; ++i) view->matrix[i] = {std::sin(i + 0.5), std::cos(3.0 * i)};
  }
  blas::gram(a, c, gram, state);
  add(runtime::values_of(gram, n * n));
  blas::gram(a, a, norms, state);
  add(runtime::values_of(norms, n * n));
  const auto matrix = blas::VectorMatrix::of(&MatrixOfTest::matrix);
  blas::multiply(b, &b, a, matrix, state);  // rows: of a
  result.multiplied.assign(y.size(), HostField(x[0].components, x[0].extents));
  transfer::store(result.multiplied, b);
  session.wait_all();
  return result;
}

}  // namespace

TEST_CASE("products of vectors and with matrices on a GPU have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu products of vectors");
  MESSAGE("seed " << seed_of_products);
  std::uint64_t next = seed_of_products;
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int components : {spinor_components, colour_components})
      for (const auto& [n, m] :
           {std::pair{1, 1}, std::pair{3, 5}, std::pair{12, 12}, std::pair{16, 12}, std::pair{20, 7}, std::pair{32, 16}}) {
        INFO(name_of(precision) << ", " << components << " components, " << n << " and " << m << " vectors");
        std::vector<HostField> x = fields_of_all_sizes(components, {8, 8, 4, 6}, n, next++);
        const std::vector<HostField> y = fields_of_all_sizes(components, {8, 8, 4, 6}, m, next++);
        const ProductsOfTest expected = compute_products(0, precision, x, y), found = compute_products(1, precision, x, y);
        REQUIRE(found.sums.size() == expected.sums.size());
        std::size_t differ = 0;
        for (std::size_t i = 0; i < found.sums.size(); ++i)
          differ += std::bit_cast<std::uint64_t>(found.sums[i]) != std::bit_cast<std::uint64_t>(expected.sums[i]) ? 1 : 0;
        CHECK(differ == 0);
        REQUIRE(found.multiplied.size() == expected.multiplied.size());
        for (std::size_t v = 0; v < found.multiplied.size(); ++v) CHECK(found.multiplied[v].data == expected.multiplied[v].data);
        if (precision == Precision::half) continue;
        // A number that is none spoils the products of its own vector alone.
        x.back().data.front() = std::numeric_limits<double>::infinity();
        const std::vector<double> spoilt = compute_products(1, precision, x, y).sums;
        CHECK(std::isnan(spoilt[static_cast<std::size_t>(2 * (n - 1) * m)]));
        if (n > 1) CHECK(std::bit_cast<std::uint64_t>(spoilt[0]) == std::bit_cast<std::uint64_t>(expected.sums[0]));
      }
}

TEST_CASE("products of vectors at the edges of what a sum's digits hold have the CPU's bits on a GPU") {
  QUARKSTAR_NEEDS_GPU("gpu products at edges");
  MESSAGE("seed " << seed_of_products);
  // One component of a site alone, so that a product is a summand: 2^(32 w + 31) and its neighbours, and numbers that these leave digits
  // of.
  std::mt19937_64 random(seed_of_products);
  std::uniform_int_distribution<int> kind(0, 5), window(-1, 1), sign(0, 1);
  const auto number = [&] {
    const double edge = std::ldexp(sign(random) == 0 ? 1.0 : -1.0, 32 * window(random) + 31);
    switch (kind(random)) {
      case 0:
        return edge;
      case 1:
        return std::nextafter(edge, 0.0);
      case 2:
        return std::nextafter(edge, 2 * edge);
      case 3:
        return edge * (1 - std::ldexp(1.0, -33));
      default:
        return std::ldexp(edge, -60) / 3;
    }
  };
  for (int round = 0; round < 8; ++round) {
    std::vector<HostField> x(2, HostField(colour_components, {4, 4, 2, 2})), y(3, HostField(colour_components, {4, 4, 2, 2}));
    for (HostField& field : x)
      for (std::size_t i = 0; i < field.data.size(); i += colour_components) field.data[i] = 1;
    for (HostField& field : y)
      for (std::size_t i = 0; i < field.data.size(); i += colour_components)
        if (round == 0 || kind(random) == 0) field.data[i] = {number(), number()};
    CHECK(compute_products(1, Precision::double_, x, y).sums == compute_products(0, Precision::double_, x, y).sums);
  }
}

TEST_CASE("products of vectors without lanes of sites on a GPU have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu products without lanes");
  MESSAGE("seed " << seed_of_products);
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int components : {spinor_components, colour_components}) {
      INFO(name_of(precision) << ", " << components << " components");
      // Of three vectors a site has no whole pieces of 16 bytes in single precision.
      const std::vector<HostField> x = fields_of_all_sizes(components, {8, 8, 4, 6}, 3, seed_of_products),
                                   y = fields_of_all_sizes(components, {8, 8, 4, 6}, 5, seed_of_products + 1);
      CHECK(compute_products(1, precision, x, y, 1).sums == compute_products(0, precision, x, y).sums);
    }
}

}  // namespace gram_test
