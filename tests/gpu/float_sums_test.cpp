// Sums of single-precision fields on a GPU have the bits of the CPU's, for summands of every size.
#include "codelets/field/blas.hpp"
#include "codelets/field/transfer.hpp"
#include "tests/battery/support.hpp"
#include "tests/gpu/support.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace float_sums_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 60617;

/// Numbers from the smallest floats to large ones side by side, zeros and halves of integers among them.
std::vector<HostField> wild_fields(int components, const Coord& lattice, int n, int largest_exponent, std::uint64_t of_seed) {
  std::mt19937_64 random(of_seed);
  std::uniform_int_distribution<int> kind(0, 5), exponent(-70, largest_exponent), small(-4, 4);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  const auto number = [&] {
    switch (kind(random)) {
      case 0:
        return 0.0;
      case 1:
        return 0.5 * small(random);
      case 2:
        return std::exp2(-74) * small(random);  // their squares are the smallest floats
      default:
        return std::ldexp(mantissa(random), exponent(random));
    }
  };
  std::vector<HostField> fields(static_cast<std::size_t>(n), HostField(components, lattice));
  for (HostField& field : fields)
    for (auto& z : field.data) z = {static_cast<float>(number()), static_cast<float>(number())};
  return fields;
}

/// Norms and products of the even sites.
std::vector<double> sums(int gpus, std::span<const HostField> x, std::span<const HostField> y) {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = gpus});
  const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(x[0].extents, {1, 1, 1, 1}, session.block_owners()),
                                                 Precision::single, antiperiodic_in_time);
  const auto n = static_cast<int>(x.size());
  const Field a(lattice, 0, x[0].components, n), b(lattice, 0, x[0].components, n);
  transfer::load(a, x);
  transfer::load(b, y);
  std::vector<double> all;
  const auto add = [&](const std::vector<double>& some) { all.insert(all.end(), some.begin(), some.end()); };
  const runtime::PartialSums norms(1, n), products(1, 2 * n);
  blas::submit<blas::Norm>({&a}, {}, {}, &norms);
  add(runtime::values_of(norms, n));
  blas::submit<blas::Dot>({&a, &b}, {}, {}, &products);
  add(runtime::values_of(products, 2 * n));
  session.wait_all();
  return all;
}

}  // namespace

TEST_CASE("float sums on a GPU have the CPU's bits for summands of every size") {
  QUARKSTAR_NEEDS_GPU("gpu float sums");
  MESSAGE("seed " << seed);
  std::uint64_t next = seed;
  for (const int components : {spinor_components, colour_components})
    for (const int n : {1, 3, 8, 12})
      for (const int largest : {-40, 0, 55}) {
        INFO(components << " components, " << n << " vectors, up to 2^" << largest);
        std::vector<HostField> x = wild_fields(components, {8, 8, 4, 6}, n, largest, next++);
        const std::vector<HostField> y = wild_fields(components, {8, 8, 4, 6}, n, largest, next++);
        const std::vector<double> expected = sums(0, x, y), found = sums(1, x, y);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
          CHECK(std::bit_cast<std::uint64_t>(found[i]) == std::bit_cast<std::uint64_t>(expected[i]));
        // A number that is none spoils its own vector's sums alone.
        x.back().data.front() = std::numeric_limits<double>::infinity();
        const std::vector<double> spoilt = sums(1, x, y);
        CHECK(std::isnan(spoilt[static_cast<std::size_t>(n) - 1]));
        if (n > 1) CHECK(std::bit_cast<std::uint64_t>(spoilt[0]) == std::bit_cast<std::uint64_t>(expected[0]));
      }
}

}  // namespace float_sums_test
