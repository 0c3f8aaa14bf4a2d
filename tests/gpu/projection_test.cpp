// Products of rounded vectors and sums of vectors have the bits of a CPU on a GPU.
#include "codelets/field/projection.hpp"

#include "tests/gpu/support.hpp"
#include "tests/unit/projection_support.hpp"

#include <doctest/doctest.h>

namespace projection_test {

using namespace quarkstar;
using namespace quarkstar::projection_testing;

namespace {

constexpr std::uint64_t seed_of_projection = 20261216;

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

TEST_CASE("rounded products on a GPU whose blocks take many chunks, and in several launches, are those of a CPU") {
  QUARKSTAR_NEEDS_GPU("gpu rounded products of many sites");
  MESSAGE("seed " << seed_of_projection);
  std::mt19937_64 random(seed_of_projection + 2);
  // 16^4 sites: twelve chunks a block. 24^3 x 48 sites with spinors: more than a launch takes, so that the second one adds its sums.
  for (const auto& [components, count, n, lattice] :
       {std::tuple{colour_components, 20, 5, Coord{16, 16, 16, 16}}, std::tuple{spinor_components, 1, 1, Coord{24, 24, 24, 48}}}) {
    INFO(components << " components");
    const std::vector<HostField> a = random_fields(components, count, random, lattice), b = random_fields(components, n, random, lattice);
    const Outcome expected = compute(a, b, std::min(count, 16), {1, 1, 1, 1}, {}, n, 0),
                  found = compute(a, b, std::min(count, 16), {1, 1, 1, 1}, {}, n, 1);
    CHECK(found.scales_of_b == expected.scales_of_b);
    CHECK(found.products == expected.products);
    for (std::size_t v = 0; v < expected.combined.size(); ++v) CHECK(found.combined[v].data == expected.combined[v].data);
  }
}

TEST_CASE("a projector on a GPU has the CPU's bits, also where its modes take several tasks, are narrow, or are in host memory") {
  QUARKSTAR_NEEDS_GPU("gpu projector");
  MESSAGE("seed " << seed_of_projection);
  std::mt19937_64 random(seed_of_projection + 1);
  for (const auto& [components, count, n] : {std::tuple{colour_components, 280, 12}, std::tuple{spinor_components, 100, 2}}) {
    const std::vector<HostField> modes = random_fields(components, count, random), rhs = random_fields(components, n, random);
    for (const Precision stored : {Precision::double_, Precision::single, Precision::half}) {
      const std::vector<HostField> expected = projected({.cuda_workers = 0}, {1, 1, 1, 1}, modes, rhs, stored);
      for (const ModesMemory where : {ModesMemory::device, ModesMemory::streamed, ModesMemory::on_cpus}) {
        INFO(components << " components in " << std::string(name_of(stored)) << ", " << std::string(describe(where)));
        const std::vector<HostField> found = projected({.cuda_workers = 1, .devices = "cuda"}, {1, 1, 1, 1}, modes, rhs, stored, where);
        for (std::size_t v = 0; v < rhs.size(); ++v) CHECK(found[v].data == expected[v].data);
      }
    }
  }
}

TEST_CASE("modes that a GPU has no room for are copied to it, or CPUs project: the same bits") {
  QUARKSTAR_NEEDS_GPU("gpu projector in host memory");
  MESSAGE("seed " << seed_of_projection);
  std::mt19937_64 random(seed_of_projection + 3);
  const Coord lattice{16, 16, 16, 16};
  constexpr int count = 256, n = 4;
  const std::vector<HostField> modes = random_fields(colour_components, count, random, lattice),
                               rhs = random_fields(colour_components, n, random, lattice);
  const std::vector<HostField> expected = projected({.cuda_workers = 1, .devices = "cuda"}, {1, 1, 1, 1}, modes, rhs);
  const double vector = static_cast<double>(volume(lattice)) / 2 * 48;
  const int held = EigenProjector::vectors_in_doubles(count, colour_components, Precision::double_, 1, ModesMemory::streamed) + 3 * n;
  runtime::SessionOptions options{.cuda_workers = 1, .devices = "cuda"};
  options.gpu_memory = static_cast<std::size_t>(held * vector) + (64 << 20);  // two chunks of small pieces
  CHECK(static_cast<double>(options.gpu_memory) < 0.7 * count * vector);
  for (const ModesMemory where : {ModesMemory::streamed, ModesMemory::on_cpus}) {
    INFO(std::string(describe(where)));
    const std::vector<HostField> found = projected(options, {1, 1, 1, 1}, modes, rhs, Precision::double_, where);
    for (std::size_t v = 0; v < rhs.size(); ++v) CHECK(found[v].data == expected[v].data);
  }
}

}  // namespace projection_test
