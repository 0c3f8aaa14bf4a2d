// Contractions on a GPU have the bits of those on CPUs.
#include "codelets/contract/families.hpp"
#include "tests/gpu/support.hpp"
#include "tests/unit/contract_testing.hpp"

#include <doctest/doctest.h>

namespace contract_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 31337;

/// Correlators of random columns, in a session of its own.
std::vector<Correlator> on(int gpus, std::string_view family, int count, int components, const testing::ContractionLayout& layout) {
  const Coord extents{8, 4, 4, 8};
  std::vector<HostField> columns;
  for (int first = 0; first < count; first += components)
    for (HostField& column : testing::RandomColumns(components, extents, seed + static_cast<std::uint64_t>(first)).columns)
      columns.push_back(std::move(column));
  columns.erase(columns.begin() + count, columns.end());
  const std::string_view of_one = family.substr(0, family.rfind("-of-two"));  // whose name is used for two quarks, too
  contract::Request request{.names = {std::string(of_one)}, .momenta = {}};
  for (int n = 0; n < 40; ++n) request.momenta.push_back({n % 4, n / 4 % 5 - 2, n / 20});  // more sums than a launch has tables
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = gpus});
  return testing::contracted(columns, family, request, {Source::Kind::point, {5, 1, 2, 3}}, layout);
}

}  // namespace

TEST_CASE("correlators have the same bits on CPUs and GPUs, in every layout") {
  QUARKSTAR_NEEDS_GPU("contractions");
  MESSAGE("seed " << seed);
#define QUARKSTAR_CORRELATORS(family)                                                                                             \
  {                                                                                                                               \
    using Family = contract::family;                                                                                              \
    INFO(Family::name);                                                                                                           \
    const std::vector<Correlator> expected = on(0, Family::name, Family::columns, contract::components_of<Family>, {});           \
    for (const testing::ContractionLayout& layout :                                                                               \
         {testing::ContractionLayout{}, {{1, 1, 1, 2}}, {{1, 1, 1, 1}, {.most_lanes = 4}}, {{1, 1, 2, 1}, {}, 26}})               \
      CHECK(testing::same_bits(on(1, Family::name, Family::columns, contract::components_of<Family>, layout), expected));         \
    if (Family::columns == spinor_components)                                                                                     \
      CHECK(testing::same_bits(on(1, Family::name, Family::columns, spinor_components, {{1, 1, 1, 1}, {.vectors_in_lanes = 12}}), \
                               expected));                                                                                        \
  }
#include "codelets/contract/families.inc"

#undef QUARKSTAR_CORRELATORS
}

}  // namespace contract_test
