// Kernels that are brought onto the GPU early still wait for the ones before them: long rows of short dependent kernels.
#include "codelets/field/blas.hpp"
#include "runtime/graph/batch.hpp"
#include "tests/battery/support.hpp"
#include "tests/gpu/support.hpp"

namespace overlap_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 496;

/// psi -> 2 passes over it for every pair of hopping terms, many times, in batches that are run, captured and replayed.
HostField chain(const HostGauge& gauge, const HostField& psi, Precision precision) {
  battery::HoppingHarness harness({gauge.extents, {1, 1, 1, 1}, precision, 12}, gauge, antiperiodic_in_time);
  const Field even(harness.lattice(), 0, spinor_components), odd(harness.lattice(), 1, spinor_components),
      sum(harness.lattice(), 1, spinor_components);
  transfer::load(odd, psi);
  transfer::load(sum, psi);
  for (int round = 0; round < 6; ++round) {
    runtime::Batch batch;
    for (int k = 0; k < 16; ++k) {
      harness.hopping().apply(even, odd, {.scale = same_for_all(0.15)});
      harness.hopping().apply(odd, even, {.scale = same_for_all(0.15)});
      blas::submit<blas::AddScaled>({&sum, &odd}, {blas::Coefficient(0.5, 0.25)});
      blas::submit<blas::Scale>({&odd, &sum}, {blas::Coefficient(0.4, -0.3)});
    }
    batch.submit();
  }
  HostField result(spinor_components, gauge.extents);
  transfer::store(result, odd);
  transfer::store(result, even);
  runtime::Session::current().wait_all();
  return result;
}

}  // namespace

TEST_CASE("rows of short kernels on a GPU have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu overlap");
  MESSAGE("seed " << seed);
  // The last is large enough for overlapping launches of the hopping term.
  for (const Coord& lattice : {Coord{4, 4, 4, 4}, Coord{8, 8, 8, 8}, Coord{16, 16, 16, 32}}) {
    const HostGauge gauge = reference::random_gauge(lattice, seed);
    const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
    for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
      HostField expected;
      {
        runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
        expected = chain(gauge, psi, precision);
      }
      INFO("extent " << lattice[0] << " " << name_of(precision));
      runtime::Session gpu({.cuda_workers = 1});
      for (int repetition = 0; repetition < 3; ++repetition) CHECK(battery::same_bits(chain(gauge, psi, precision), expected));
    }
  }
}

}  // namespace overlap_test
