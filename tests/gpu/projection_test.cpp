// Products of rounded vectors and sums of vectors have the bits of a CPU on a GPU.
#include "codelets/field/projection.hpp"

#include "solvers/eigen/eigen_projector.hpp"
#include "tests/gpu/support.hpp"
#include "tests/unit/projection_support.hpp"

#include <doctest/doctest.h>

namespace projection_test {

using namespace quarkstar;
using namespace quarkstar::projection_testing;

namespace {

constexpr std::uint64_t seed_of_projection = 20261216;

std::vector<HostField> projected(int gpus, const std::vector<HostField>& modes, const std::vector<HostField>& rhs) {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = gpus});
  const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 1}, session.block_owners()), Precision::double_,
                                                 antiperiodic_in_time);
  const int components = modes[0].components, n = static_cast<int>(rhs.size()), count = static_cast<int>(modes.size());
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(1e-3 * (i + 1));
  EigenProjector projector(lattice, 0, components, values);
  for (int first = 0; first < count; first += EigenProjector::block_for(count))
    projector.add(std::span(modes).subspan(static_cast<std::size_t>(first),
                                           static_cast<std::size_t>(std::min(EigenProjector::block_for(count), count - first))));
  const Field in(lattice, 0, components, n), out(lattice, 0, components, n);
  transfer::load(in, rhs);
  for (int pass = 0; pass < 3; ++pass) projector.apply(out, in, {});  // the second one is captured, the third one replayed
  std::vector<HostField> result(rhs.size(), HostField(components, extents));
  transfer::store(result, out);
  session.wait_all();
  return result;
}

}  // namespace

TEST_CASE("rounded products and combinations on a GPU have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu rounded products");
  MESSAGE("seed " << seed_of_projection);
  std::mt19937_64 random(seed_of_projection);
  struct Shape {
    int components, count, room, n, vectors;
    std::optional<int> most_lanes;
  };
  for (const auto& [components, count, room, n, vectors, most_lanes] :
       {Shape{colour_components, 40, 16, 12, 12, {}}, Shape{colour_components, 256, 16, 16, 16, {}},
        Shape{colour_components, 7, 3, 1, 5, {}}, Shape{colour_components, 11, 16, 32, 32, 1}, Shape{spinor_components, 21, 16, 12, 12, {}},
        Shape{spinor_components, 3, 1, 3, 3, 2}, Shape{spinor_components, 17, 15, 20, 20, {}}}) {
    INFO(components << " components, " << count << " vectors by " << room << ", " << n << " others");
    const std::vector<HostField> a = random_fields(components, count, random), b = random_fields(components, n, random);
    const Outcome expected = compute(a, b, room, {1, 1, 1, 1}, most_lanes, vectors, 0),
                  found = compute(a, b, room, {1, 1, 1, 1}, most_lanes, vectors, 1);
    CHECK(found.scales_of_a == expected.scales_of_a);
    CHECK(found.scales_of_b == expected.scales_of_b);
    CHECK(found.products == expected.products);
    CHECK(same(found.coefficients, expected.coefficients));
    for (std::size_t v = 0; v < expected.combined.size(); ++v) {
      CHECK(found.combined[v].data == expected.combined[v].data);
      CHECK(found.added[v].data == expected.added[v].data);
    }
  }
}

TEST_CASE("a projector on a GPU has the CPU's bits, also where its modes take several tasks") {
  QUARKSTAR_NEEDS_GPU("gpu projector");
  MESSAGE("seed " << seed_of_projection);
  std::mt19937_64 random(seed_of_projection + 1);
  for (const auto& [components, count, n] : {std::tuple{colour_components, 280, 12}, std::tuple{spinor_components, 20, 2}}) {
    const std::vector<HostField> modes = random_fields(components, count, random), rhs = random_fields(components, n, random);
    const std::vector<HostField> expected = projected(0, modes, rhs), found = projected(1, modes, rhs);
    for (std::size_t v = 0; v < rhs.size(); ++v) CHECK(found[v].data == expected[v].data);
  }
}

}  // namespace projection_test
