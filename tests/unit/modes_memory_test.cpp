// Where the modes of a deflated solve are: the rule, its part of the plan, and bits that do not depend on it.
#include "solvers/eigen/modes_memory.hpp"

#include "apps/run/eigen_file.hpp"
#include "apps/run/modes_plan.hpp"
#include "tests/unit/projection_support.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace modes_memory_test {

using namespace quarkstar;

constexpr std::uint64_t seed = 20261201;

TEST_CASE("modes in host memory are projected onto where that is predicted to be faster") {
  // 200 vectors of 1 GB; 12 right-hand sides; a bus of 44 GB/s.
  const HostProjection projection{.modes = 200e9, .kept = 0, .vectors = 24e9, .flops = 200e9 * 12};
  const HostSpeeds many_cores{.bus = 44e9, .memory = 400e9, .flops = 2e12}, few_cores{.bus = 44e9, .memory = 20e9, .flops = 80e9};
  CHECK(predicted_seconds(ModesMemory::device, projection, many_cores) == 0);
  CHECK(predicted_seconds(ModesMemory::streamed, projection, many_cores) == doctest::Approx(400.0 / 44));
  CHECK(predicted_seconds(ModesMemory::on_cpus, projection, many_cores) == doctest::Approx(2400.0 / 2000 + 24.0 / 44));
  CHECK(predicted_seconds(ModesMemory::on_cpus, projection, few_cores) == doctest::Approx(2400.0 / 80 + 24.0 / 44));
  CHECK(faster_in_host_memory(projection, many_cores) == ModesMemory::on_cpus);
  CHECK(faster_in_host_memory(projection, few_cores) == ModesMemory::streamed);
  // What GPUs keep is not copied again.
  HostProjection kept = projection;
  kept.kept = 190e9;
  CHECK(faster_in_host_memory(kept, many_cores) == ModesMemory::streamed);
  // Reading bounds CPUs where right-hand sides are few.
  HostProjection one = projection;
  one.flops /= 12;
  CHECK(predicted_seconds(ModesMemory::on_cpus, one, many_cores) == doctest::Approx(400.0 / 400 + 24.0 / 44));
}

TEST_CASE("a plan puts modes in host memory where GPUs have no room for them, and only if the solve then fits") {
  const runtime::Session session(runtime_testing::options(1));
  const runtime::Decomposition whole({4, 4, 4, 4}, {1, 1, 1, 1}, 1);
  app::RunConfig config;
  config.action = &kind_named("hisq");
  complete(config);
  const auto needs = [](double device, double in_host, double limit) {
    return [=](const app::RunConfig& c) {
      const bool there = app::modes_memory(c) == ModesMemory::device;
      return std::vector<app::MemoryNeed>{
          {.where = "CUDA 0", .gpu = true, .fields = {.fields = there ? device : in_host}, .available = limit}};
    };
  };
  const auto placed = [&](double limit) {
    const std::vector<app::MemoryNeed> found = app::place_modes(session, {&whole, 1}, config, needs(3, 1, limit));
    CHECK(found.front().total() == (app::modes_memory(config) == ModesMemory::device ? 3 : 1));
    return app::modes_memory(config);
  };
  CHECK(placed(2) == ModesMemory::device);  // there are no modes
  app::EigenHeader header;
  header.values.assign(40, 1.0);
  app::count_projector(config, header);
  CHECK(app::basis_vectors(config) == 48);
  CHECK(app::modes_to_project(config) == 40);
  CHECK(app::basis_vectors_on_device(config) == 48);
  CHECK(placed(4) == ModesMemory::device);
  CHECK(placed(2) != ModesMemory::device);
  CHECK(placed(0.5) == ModesMemory::device);  // which is then refused
  // What a GPU holds of them: fields of 16 vectors, two that are read and the next two.
  header.values.assign(1000, 1.0);
  app::count_projector(config, header);
  app::set_modes_memory(config, ModesMemory::streamed);
  CHECK(app::basis_vectors(config) == 1008);
  CHECK(app::basis_vectors_on_device(config) == 64);
  app::set_modes_memory(config, ModesMemory::on_cpus);
  CHECK(app::basis_vectors_on_device(config) == 0);
  // In single precision half of that, and two wide fields.
  header.stored = Precision::single;
  app::count_projector(config, header);
  app::set_modes_memory(config, ModesMemory::streamed);
  CHECK(app::basis_vectors_on_device(config) == 32 + 32);
  app::set_modes_memory(config, ModesMemory::device);
  CHECK(app::basis_vectors_on_device(config) == 504 + 64);
}

TEST_CASE("projectors have the same bits wherever their modes are, and however many are made wide together") {
  MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  for (const auto& [components, count, n] : {std::tuple{colour_components, 150, 3}, std::tuple{spinor_components, 20, 2}}) {
    const std::vector<HostField> modes = projection_testing::random_fields(components, count, random),
                                 rhs = projection_testing::random_fields(components, n, random);
    for (const Precision stored : {Precision::double_, Precision::single, Precision::half}) {
      const auto with = [&](const Coord& cut, ModesMemory where) {
        return projection_testing::projected(runtime_testing::options(2), cut, modes, rhs, stored, where);
      };
      const std::vector<HostField> expected = with({1, 1, 1, 1}, ModesMemory::device);
      for (const ModesMemory where : {ModesMemory::streamed, ModesMemory::on_cpus}) {
        INFO(components << " components in " << std::string(name_of(stored)) << ", " << std::string(describe(where)));
        const std::vector<HostField> found = with({1, 1, 1, 2}, where);
        for (std::size_t v = 0; v < rhs.size(); ++v) CHECK(found[v].data == expected[v].data);
      }
    }
  }
}

}  // namespace modes_memory_test
