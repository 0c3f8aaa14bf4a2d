// Vector operations: each against its definition, the same bits in every layout, sums equal to adding one by one.
#include "codelets/field/blas.hpp"

#include "codelets/arch/table.hpp"
#include "codelets/field/blas_kernels.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/random.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace blas_test {

using namespace quarkstar;
using blas::Coefficient;
using runtime::BinnedSum;
using runtime_testing::options;
using runtime_testing::same_sum;
using Complex = std::complex<double>;

namespace {

constexpr std::uint64_t seed = 1847;
constexpr Coord extents{8, 4, 4, 8};

/// Runs body once for each architecture of this machine, then restores the choice.
template <class Body>
void for_architectures(Body&& body) {
  const arch::Architecture chosen = arch::current();
  for (const arch::Architecture architecture : arch::available()) {
    arch::force(architecture);
    INFO(std::string(arch::name_of(architecture)));
    body();
  }
  arch::force(chosen);
}

HostField random_spinor(std::uint64_t number) {
  HostField spinor(spinor_components, extents);
  reference::Random random(seed + number);
  for (Complex& value : spinor.data) value = random.normal();
  return spinor;
}

/// Every component of one parity, in no order that matters.
std::vector<Complex> of_parity(const HostField& spinor, int parity) {
  std::vector<Complex> values;
  for (std::int64_t i = 0; i < volume(extents); ++i)
    if (parity_of(coordinates(i, extents)) == parity)
      for (int c = 0; c < 12; ++c) values.push_back(spinor.data[static_cast<std::size_t>(12 * i + c)]);
  return values;
}

struct Layout {
  Coord blocks{1, 1, 1, 1};
  Precision precision = Precision::double_;
  int most_lanes = 16;
};

struct Outcome {
  std::vector<std::vector<Complex>> fields;
  std::vector<double> sums;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <class Operation>
using Coefficients = std::array<Coefficient, Operation::coefficients>;

/// The operation on random fields, in the session that runs.
template <class Operation>
Outcome run(const Layout& layout, const Coefficients<Operation>& coefficients, int parity) {
  constexpr std::size_t count = blas::field_count<Operation>;
  const runtime::Decomposition decomposition(extents, layout.blocks, static_cast<int>(runtime::Session::current().workers().size()));
  const auto lattice = std::make_shared<Lattice>(decomposition, layout.precision, periodic, LayoutRequest{.most_lanes = layout.most_lanes});
  std::vector<Field> fields;
  std::array<const Field*, count> pointers;
  std::vector<HostField> hosts;
  for (std::size_t i = 0; i < count; ++i) {
    fields.emplace_back(lattice, parity, spinor_components);
    hosts.push_back(random_spinor(i));
  }
  for (std::size_t i = 0; i < count; ++i) {
    pointers[i] = &fields[i];
    if (Operation::uses[i] != blas::Use::out) transfer::load(fields[i], hosts[i]);
  }
  const runtime::PartialSums partials(lattice->block_count());
  blas::submit<Operation>(pointers, coefficients, {}, &partials);
  Outcome outcome;
  for (std::size_t i = 0; i < count; ++i) transfer::store(hosts[i], fields[i]);
  runtime::Session::current().wait_all();
  for (const HostField& host : hosts) outcome.fields.push_back(of_parity(host, parity));
  for (int s = 0; s < Operation::sums; ++s) {
    BinnedSum total = BinnedSum::zero();
    for (int b = 0; b < lattice->block_count(); ++b) {
      const runtime::HostView<BinnedSum> partial(partials.task(b));
      total.merge(partial[static_cast<std::size_t>(s)]);
    }
    outcome.sums.push_back(value_of(total));
  }
  return outcome;
}

/// One component of every field before (and after) the operation, and what it adds to the sums.
using Definition = std::function<void(std::vector<Complex>& f, std::vector<double>& sums)>;

/// The definition within rounding, and the same bits for every architecture, cut, lane layout and team.
template <class Operation>
void check(const Coefficients<Operation>& coefficients, const Definition& definition) {
  INFO(std::string(Operation::name) << ", seed " << seed);
  for (const Precision precision : {Precision::double_, Precision::single})
    for (const int parity : {0, 1}) {
      constexpr std::size_t count = blas::field_count<Operation>;
      std::vector<std::vector<Complex>> expected;
      for (std::size_t i = 0; i < count; ++i) expected.push_back(of_parity(random_spinor(i), parity));
      std::vector<double> sums(Operation::sums, 0.0);
      for (std::size_t k = 0; k < expected[0].size(); ++k) {
        std::vector<Complex> f;
        for (const auto& field : expected) f.push_back(field[k]);
        definition(f, sums);
        for (std::size_t i = 0; i < count; ++i) expected[i][k] = f[i];
      }
      const double tolerance = precision == Precision::double_ ? 1e-14 : 1e-5;
      std::unique_ptr<Outcome> first;
      for (const auto& [workers, threads] : {std::pair{1, 1}, {2, 2}}) {
        const runtime::Session session(options(workers, threads));
        for_architectures([&] {
          for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{2, 1, 2, 4}})
            for (const int lanes : {16, 4, 1}) {
              const Outcome outcome = run<Operation>({blocks, precision, lanes}, coefficients, parity);
              if (first == nullptr) {
                first = std::make_unique<Outcome>(outcome);
                double largest = 0, scale = 0;
                for (std::size_t i = 0; i < count; ++i)
                  for (std::size_t k = 0; k < expected[i].size(); ++k) {
                    largest = std::max(largest, std::abs(outcome.fields[i][k] - expected[i][k]));
                    scale = std::max(scale, std::abs(expected[i][k]));
                  }
                CHECK(largest <= tolerance * scale);
                const double norm = sums.empty() ? 0 : sums[0];
                for (std::size_t s = 0; s < sums.size(); ++s) CHECK(std::abs(outcome.sums[s] - sums[s]) <= tolerance * norm);
              } else {
                INFO(lanes << " lanes, " << workers << " workers of " << threads);
                CHECK((outcome == *first));
              }
            }
        });
      }
    }
}

/// All architectures' copies of one kernel.
template <class T, class Operation>
constexpr arch::KernelTable<blas::Kernel<T> (*)(int)> kernels = QUARKSTAR_KERNEL_TABLE(blas_kernel<T, spinor_components, Operation>);

/// Sum of arbitrary numbers as a kernel of the current architecture takes it: Re <r0, r> of one component a site with
/// r0 = 1 and r = x, the other components zero. Storage [outer site][component][re, im][lane].
BinnedSum sum_in_kernel(const std::vector<double>& x, int lanes, std::int64_t first_part) {
  const std::size_t sites = x.size() / static_cast<std::size_t>(lanes);
  const std::vector<double> zero(2 * spinor_components * x.size(), 0.0);
  std::vector<double> solution = zero, r = zero, r0 = zero, p = zero, t = zero;
  for (std::size_t outer = 0; outer < sites; ++outer)
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
      const std::size_t at = 2 * spinor_components * outer * static_cast<std::size_t>(lanes) + lane;
      r[at] = x[outer * static_cast<std::size_t>(lanes) + lane];
      r0[at] = 1;
    }
  blas::Arguments<double> a{};
  double* const fields[] = {solution.data(), r.data(), p.data(), t.data(), r0.data()};
  std::copy(std::begin(fields), std::end(fields), a.fields);
  std::fill(std::begin(a.vectors_of), std::end(a.vectors_of), 1);
  a.vectors = 1;
  a.lanes = lanes;
  const blas::Numbers<double> coefficients{};
  const auto kernel = kernels<double, blas::BicgstabSolutionResidual>.current()(lanes);
  BinnedSum sums[3] = {BinnedSum::zero(), BinnedSum::zero(), BinnedSum::zero()};
  kernel(a, coefficients, 0, first_part, sums);
  kernel(a, coefficients, first_part, static_cast<std::int64_t>(sites), sums);
  return sums[1];
}

BinnedSum one_by_one(const std::vector<double>& x) {
  BinnedSum sum = BinnedSum::zero();
  for (const double value : x) add(sum, value);
  return sum;
}

/// Any sign, any exponent of [lowest, highest].
double of_exponent(std::mt19937_64& engine, int lowest, int highest) {
  const int exponent = lowest + static_cast<int>(engine() % static_cast<std::uint64_t>(highest - lowest + 1));
  const double fraction = 1 + static_cast<double>(engine() >> 11) * 0x1p-53;
  return std::ldexp(engine() % 2 == 0 ? fraction : -fraction, exponent);
}

void check_in_kernels(const std::vector<double>& x) {
  const BinnedSum expected = one_by_one(x);
  for_architectures([&] {
    for (const int lanes : {1, 4, 8}) {
      INFO(lanes << " lanes");
      const auto sites = static_cast<std::int64_t>(x.size()) / lanes;
      CHECK(same_sum(sum_in_kernel(x, lanes, 0), expected));
      CHECK(same_sum(sum_in_kernel(x, lanes, sites / 3), expected));
    }
  });
}

/// |x|^2 of one site in the order of storage, in the field's precision.
template <class T>
double site_norm(const Complex* site) {
  T sum = 0;
  for (int c = 0; c < 12; ++c) {
    const T re = static_cast<T>(site[c].real()), im = static_cast<T>(site[c].imag());
    sum = std::fma(im, im, std::fma(re, re, sum));
  }
  return static_cast<double>(sum);
}

struct Stopping : VectorStatus {
  runtime::ComplexScalar alpha[most_vectors]{};
};

}  // namespace

TEST_CASE("fill, scale, add_scaled, norms") {
  const Complex a{0.75, -1.5};
  const Coefficient c{a.real(), a.imag()};
  check<blas::Fill>({c}, [&](auto& f, auto&) { f[0] = a; });
  check<blas::Scale>({c}, [&](auto& f, auto&) { f[0] = a * f[1]; });
  check<blas::AddScaled>({c}, [&](auto& f, auto&) { f[0] += a * f[1]; });
  check<blas::AddScaledNorm>({c}, [&](auto& f, auto& sums) {
    f[0] += a * f[1];
    sums[0] += std::norm(f[0]);
  });
  check<blas::Norm>({}, [&](auto& f, auto& sums) { sums[0] += std::norm(f[0]); });
}

TEST_CASE("the fused steps of CG and BiCGStab") {
  const Complex alpha{0.3, 0.4}, omega{-0.6, 0.2}, beta{1.1, -0.5};
  const auto coefficient = [](const Complex& z) { return Coefficient{z.real(), z.imag()}; };
  check<blas::CgSolutionDirection>({coefficient(alpha), coefficient(beta)}, [&](auto& f, auto&) {
    f[0] += alpha * f[1];
    f[1] = f[2] + beta * f[1];
  });
  check<blas::BicgstabSolutionResidual>({coefficient(alpha), coefficient(omega), -coefficient(omega)}, [&](auto& f, auto& sums) {
    f[0] += alpha * f[2] + omega * f[1];
    f[1] -= omega * f[3];
    const Complex dot = std::conj(f[4]) * f[1];
    sums[0] += std::norm(f[1]);
    sums[1] += dot.real();
    sums[2] += dot.imag();
  });
  check<blas::BicgstabDirection>({coefficient(beta), -coefficient(omega)},
                                 [&](auto& f, auto&) { f[0] = f[1] + beta * (f[0] - omega * f[2]); });
}

TEST_CASE("a norm is the sum of its sites' norms, added one by one") {
  INFO("seed " << seed);
  for (const Precision precision : {Precision::double_, Precision::single}) {
    // Sites differ by hundreds of orders of magnitude, some are zero: the window of the sum moves.
    HostField host = random_spinor(9);
    std::mt19937_64 engine(seed);
    const int most = precision == Precision::double_ ? 450 : 40;
    for (std::int64_t i = 0; i < volume(extents); ++i) {
      const int exponent = static_cast<int>(engine() % static_cast<std::uint64_t>(2 * most + 1)) - most;
      for (int c = 0; c < 12; ++c) {
        Complex& value = host.data[static_cast<std::size_t>(12 * i + c)];
        value *= i % 5 == 0 ? 0.0 : std::ldexp(1.0, exponent);
      }
    }
    for (const auto& [workers, threads] : {std::pair{1, 1}, {1, 3}}) {
      const runtime::Session session(options(workers, threads));
      for_architectures([&] {
        for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}})
          for (const int lanes : {16, 8, 4, 1}) {
            const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(extents, blocks, 1), precision, periodic,
                                                           LayoutRequest{.most_lanes = lanes});
            const Field field(lattice, 1, spinor_components);
            transfer::load(field, host);
            const runtime::PartialSums partials(lattice->block_count());
            blas::submit<blas::Norm>({&field}, {}, {}, &partials);
            INFO(std::string(name_of(precision)) << ", " << lattice->lanes().lanes << " lanes, " << threads << " threads");
            for (int b = 0; b < lattice->block_count(); ++b) {
              const BlockGeometry& block = lattice->block(b);
              BinnedSum expected = BinnedSum::zero();
              for (int outer = 0; outer < block.outer_sites(); ++outer)
                for (int lane = 0; lane < block.lanes().lanes; ++lane) {
                  Coord site = block.local_site({1, outer, lane});
                  for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
                  const Complex* values = &host.data[static_cast<std::size_t>(12 * lexicographic(site, extents))];
                  add(expected, precision == Precision::double_ ? site_norm<double>(values) : site_norm<float>(values));
                }
              CHECK(same_sum(*runtime::HostView<BinnedSum>(partials.task(b)), expected));
            }
          }
      });
    }
  }
}

TEST_CASE("sums in kernels equal adding one by one, whatever the numbers") {
  INFO("seed " << seed);
  std::mt19937_64 engine(seed);
  const auto drawn = [&](std::size_t size, int lowest, int highest) {
    std::vector<double> x(size);
    for (double& value : x) value = engine() % 6 == 0 ? 0.0 : of_exponent(engine, lowest, highest);
    return x;
  };
  for (int round = 0; round < 20; ++round) {
    INFO("round " << round);
    check_in_kernels(drawn(64, -5, 5));
    check_in_kernels(drawn(64, -1074, 1023));
    check_in_kernels(drawn(64, -1074, -950));
    std::vector<double> rising = drawn(128, -200, 200);
    std::sort(rising.begin(), rising.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    check_in_kernels(rising);
    std::reverse(rising.begin(), rising.end());
    check_in_kernels(rising);
  }
  // Around the boundaries of windows, rising and falling, and the largest number of all.
  constexpr double largest = std::numeric_limits<double>::max();
  for (const int window : {-31, -30, -1, 0, 1, 30, 31}) {
    INFO("window " << window);
    std::vector<double> x;
    for (const int shift : {-97, -96, -65, -64, -33, -32, -1, 0, 31, -1, -32, -33, -64, -65, -96, -97})
      for (const double factor : {1.0, -1.5, 1 - 0x1p-53, -1 - 0x1p-52}) {
        const int exponent = 32 * window + shift;
        x.push_back(exponent < -1074 || exponent > 1022 ? largest : std::ldexp(factor, exponent));
      }
    check_in_kernels(x);
    std::reverse(x.begin(), x.end());
    check_in_kernels(x);
  }
  // Zeros, then a point source.
  check_in_kernels(std::vector<double>(64, 0.0));
  check_in_kernels(std::vector<double>(64, -0.0));
  for (const double value : {-3.5, 0x1p-1074, std::numeric_limits<double>::quiet_NaN()})
    for (const std::size_t at : {0u, 100u, 1023u}) {
      std::vector<double> x(1024, 0.0);
      x[at] = value;
      check_in_kernels(x);
    }
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()})
    for (const std::size_t at : {0u, 17u, 63u}) {
      std::vector<double> x = drawn(64, -100, 100);
      x[at] = bad;
      check_in_kernels(x);
      CHECK(std::isnan(value_of(sum_in_kernel(x, 8, 4))));
    }
}

TEST_CASE("sums in kernels stay exact past the digits that a double can hold") {
  // 5 2^20 summands just below 2^31 with all digits in use: their sum in one double would need 54 bits.
  constexpr std::size_t sites = 5u << 20;
  std::vector<double> field(2 * spinor_components * sites, 0.0);
  BinnedSum expected = BinnedSum::zero();
  for (std::size_t i = 0; i < sites; ++i) {
    double& component = field[2 * spinor_components * i];
    component = 46340.9 - static_cast<double>(i % 1000) * 0x1p-30;
    add(expected, component * component);
  }
  blas::Arguments<double> a{};
  a.fields[0] = field.data();
  a.vectors_of[0] = a.vectors = a.lanes = 1;
  for_architectures([&] {
    BinnedSum sum = BinnedSum::zero();
    kernels<double, blas::Norm>.current()(1)(a, {}, 0, static_cast<std::int64_t>(sites), &sum);
    CHECK(same_sum(sum, expected));
  });
}

TEST_CASE("coefficients come from the state, and a stopped state keeps the fields") {
  const runtime::Session session(options(2));
  const HostField x = random_spinor(0), y = random_spinor(1);
  for (const int stop : {0, 1}) {
    runtime::Session::current().events().reset();
    const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 2}, 2), Precision::double_, periodic);
    const Field fx(lattice, 0, spinor_components), fy(lattice, 0, spinor_components);
    transfer::load(fx, x);
    transfer::load(fy, y);
    Stopping initial;
    initial.status.stop = stop;
    initial.alpha[0] = {2, -1};
    const runtime::GraphState<Stopping> state(initial, 1, 0);
    const runtime::PartialSums partials(2);
    for (int b = 0; b < 2; ++b) *runtime::HostView<BinnedSum>(partials.task(b), runtime::HostAccess::overwrite) = BinnedSum::zero();
    blas::submit<blas::AddScaledNorm>({&fy, &fx}, {-Coefficient::of(&Stopping::alpha)}, &state.handle(), &partials);
    HostField result(spinor_components, extents);
    transfer::store(result, fy);
    runtime::Session::current().wait_all();
    const std::vector<Complex> before = of_parity(y, 0), added = of_parity(x, 0), after = of_parity(result, 0);
    double difference = 0;
    for (std::size_t k = 0; k < after.size(); ++k)
      difference = std::max(difference, std::abs(after[k] - (stop != 0 ? before[k] : before[k] - Complex{2, -1} * added[k])));
    CHECK(difference <= (stop != 0 ? 0 : 1e-14));
    const double components = static_cast<double>(after.size());
    const runtime::Totals totals = runtime::Session::current().events().totals();
    CHECK(totals.flops == (stop != 0 ? 0 : blas::AddScaledNorm::flops * components));
    CHECK(totals.bytes == (stop != 0 ? 0 : 3 * 16 * components));  // y in and out, x in
  }
}

TEST_CASE("n vectors: each as if it were alone, with its own coefficients, sums and flag") {
  // y_v += alpha_v x_v and |y_v|^2 for n vectors of spinors and colours; vector 2 is left out and keeps its bits.
  const runtime::Session session(options(2));
  constexpr int n = 5;
  INFO("seed " << seed);
  for (const int components : {spinor_components, colour_components}) {
    const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 2}, 2), Precision::double_, periodic);
    reference::Random random(seed);
    std::vector<HostField> x(n, HostField(components, extents)), y = x;
    Stopping initial;
    for (int v = 0; v < n; ++v) {
      for (Complex& value : x[static_cast<std::size_t>(v)].data) value = random.normal();
      for (Complex& value : y[static_cast<std::size_t>(v)].data) value = random.normal();
      initial.alpha[v] = {0.5 + v, -1.0 * v};
    }
    initial.stopped[2] = 1;
    const runtime::GraphState<Stopping> state(initial, 1, 0);
    const Field fx(lattice, 0, components, n), fy(lattice, 0, components, n);
    const runtime::PartialSums together(2, n), alone(2);
    transfer::load(fx, x);
    transfer::load(fy, y);
    blas::submit<blas::AddScaledNorm>({&fy, &fx}, {Coefficient::of(&Stopping::alpha)}, &state.handle(), &together);
    const std::vector<double> sums = runtime::values_of(together, n);
    std::vector<HostField> found(n, HostField(components, extents));
    transfer::store(found, fy);
    for (int v = 0; v < n; ++v) {
      INFO(components << " components, vector " << v);
      const auto at = static_cast<std::size_t>(v);
      HostField expected(components, extents);
      const Field one_x(lattice, 0, components), one_y(lattice, 0, components);
      transfer::load(one_x, x[at]);
      transfer::load(one_y, y[at]);
      if (v != 2) blas::submit<blas::AddScaledNorm>({&one_y, &one_x}, {Coefficient{initial.alpha[v].re, initial.alpha[v].im}}, {}, &alone);
      transfer::store(expected, one_y);
      const double norm = v == 2 ? 0 : runtime::values_of(alone, 1)[0];
      runtime::Session::current().wait_all();
      CHECK(found[at].data == expected.data);
      CHECK(sums[at] == norm);
    }
  }
}

TEST_CASE("fields that do not belong together are refused") {
  const runtime::Session session(options(1));
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 1}, 1);
  const auto a = std::make_shared<Lattice>(decomposition, Precision::double_, periodic);
  const auto b = std::make_shared<Lattice>(decomposition, Precision::double_, periodic);
  const Field even(a, 0, spinor_components), odd(a, 1, spinor_components), foreign(b, 0, spinor_components);
  const runtime::PartialSums partials(1);
  CHECK_THROWS_AS((blas::submit<blas::Scale>({&even, &odd}, {Coefficient{}})), ShapeError);
  CHECK_THROWS_AS((blas::submit<blas::Scale>({&even, &foreign}, {Coefficient{}})), ShapeError);
  CHECK_THROWS_AS((blas::submit<blas::Norm>({&even}, {}, {}, nullptr)), ShapeError);
}

}  // namespace blas_test
