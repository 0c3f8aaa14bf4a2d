// Batches are told apart by the bytes of their tasks' arguments: equal work must have equal bytes, whatever was on the stack before.
#include "codelets/field/blas.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/graph/scalar.hpp"
#include "tests/battery/staggered_support.hpp"

#include <array>
#include <functional>

namespace equal_work_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 27182;

struct State {
  runtime::GraphStatus status;
  runtime::ComplexScalar alpha;
};

[[gnu::noinline]] void fill_the_stack(unsigned char garbage) {
  std::array<volatile unsigned char, 1 << 15> unused;
  for (auto& byte : unused) byte = garbage;
}

/// The arguments of all tasks that `submit` submits.
std::vector<std::vector<std::byte>> arguments(unsigned char garbage, const std::function<void()>& submit) {
  fill_the_stack(garbage);
  runtime::Batch batch;
  submit();
  std::vector<std::vector<std::byte>> bytes;
  for (const runtime::Batch::Part& part : batch.parts()) bytes.push_back(part.arguments);
  batch.submit();
  return bytes;
}

void check_equal(const std::function<void()>& submit) {
  const auto first = arguments(0x55, submit), second = arguments(0xaa, submit);
  CHECK(!first.empty());
  CHECK(first == second);
}

}  // namespace

TEST_CASE("equal work on spinors has equal bytes") {
  MESSAGE("seed " << seed);
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const Coord extents{4, 4, 4, 8};
  const HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.4);
  battery::HoppingHarness low({.lattice = extents, .blocks = {1, 1, 1, 2}, .precision = Precision::half}, gauge, antiperiodic_in_time);
  battery::HoppingHarness high({.lattice = extents, .blocks = {1, 1, 1, 2}}, gauge, antiperiodic_in_time);
  const Field a(low.lattice(), 0, 12), b(low.lattice(), 1, 12), c(low.lattice(), 1, 12), x(high.lattice(), 0, 12);
  const runtime::GraphState<State> state(State{}, 1, 0);
  const runtime::Guard guard(&state.handle()), due = guard.refreshing();
  for (const Field* field : {&a, &b, &c, &x}) blas::submit<blas::Fill>({field}, {1.0});
  const auto alpha = blas::Coefficient{0.5, 0};
  check_equal([&] { blas::submit<blas::AddScaled>({&a, &a}, {alpha}, guard); });
  check_equal([&] { blas::submit<blas::Scale>({&x, &x}, {-alpha}, due); });
  check_equal([&] { transfer::convert(x, a, guard); });
  check_equal([&] { transfer::convert(a, x); });
  check_equal([&] { low.hopping().apply(b, a, {.x = &c, .diagonal = same_for_all(2)}, false, guard); });
}

TEST_CASE("equal work on colour vectors has equal bytes") {
  MESSAGE("seed " << seed);
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const Coord extents{4, 4, 4, 16};
  const smear::StaggeredLinks links = battery::with_phases(battery::random_links(extents, seed, 0.04), 0.04);
  const battery::DslashHarness low({.lattice = extents, .blocks = {1, 1, 1, 2}, .precision = Precision::single}, links);
  const battery::DslashHarness high({.lattice = extents, .blocks = {1, 1, 1, 2}}, links);
  constexpr int n = 3;
  const Field a(low.lattice(), 0, 3, n), b(low.lattice(), 1, 3, n), c(low.lattice(), 1, 3, n), x(high.lattice(), 0, 3, n);
  const runtime::GraphState<State> state(State{}, 1, 0);
  for (const Field* field : {&a, &b, &c, &x}) blas::submit<blas::Fill>({field}, {1.0});
  staggered::Dslash dslash(low.even(), low.odd(), n);
  check_equal([&] { blas::submit<blas::AddScaled>({&a, &a}, {-blas::Coefficient(0.5)}); });
  check_equal([&] { transfer::convert(x, a); });
  check_equal([&] { transfer::convert(a, x); });
  check_equal([&] { dslash.apply(b, a, {.x = &c, .diagonal = same_for_all(2), .y = &c, .sums = {.dot = true}}); });
}

}  // namespace equal_work_test
