// Eigenvectors on a GPU: the bits of CPUs, also where the GPU's memory does not hold the basis.
#include "solvers/gamma5_operator.hpp"
#include "tests/battery/eigen_support.hpp"
#include "tests/gpu/support.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace eigen_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261129;

struct Outcome {
  EigenResult result;
  std::vector<HostField> vectors;
};

Outcome solved(const runtime::SessionOptions& options, const Action& action, const Coord& extents, const EigenSettings& settings) {
  const runtime::Session session(options);
  battery::HermitianOperator a(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), action, settings.block);
  BlockLanczos lanczos(*a, settings);
  Outcome outcome{lanczos.solve(), {}};
  outcome.vectors = battery::extracted(lanczos, settings.modes);
  return outcome;
}

}  // namespace

/// Skipped: on an H200 the bits are right in GPU memory, and then it does not end in a minute with so little of it. `quarkstar eigen` with
/// 950 MiB where it counts 925, of a basis of 2.7 GiB, does (docs/results/2026-11-29-h200-moebius.md).
TEST_CASE("modes have the bits of a CPU on a GPU whose memory does not hold the basis" * doctest::skip()) {
  QUARKSTAR_NEEDS_GPU("gpu eigenvectors in host memory");
  MESSAGE("seed " << seed);
  const Coord extents{8, 8, 8, 8};
  const RunOperator made = kind_named("naive").with_any_links(reference::near_unit_gauge(extents, seed, 0.4), {});
  for (const Precision precision : {Precision::double_, Precision::single}) {
    INFO("basis in " << name_of(precision));
    EigenSettings settings{.modes = 160, .tolerance = 1e-8, .block = 8, .basis_precision = precision};
    const Outcome cpu = solved({.cuda_workers = 0}, *made.action, extents, settings);
    REQUIRE(cpu.result.converged);
    const double vector = static_cast<double>(volume(extents)) / 2 * 48;
    for (const bool in_host_memory : {false, true}) {
      runtime::SessionOptions options{.cuda_workers = 1, .devices = "cuda"};
      settings.basis_in_host_memory = in_host_memory;
      constexpr double links = 8 << 20;
      const double needed = vector * fields_on_device(settings, colour_components) + links;
      if (in_host_memory) {
        options.gpu_memory = static_cast<std::size_t>(needed);
        CHECK(needed < 0.8 * (vector * fields_for(settings, colour_components) + links));
      }
      const Outcome gpu = solved(options, *made.action, extents, settings);
      CHECK(gpu.result.values == cpu.result.values);
      CHECK(gpu.result.residuals == cpu.result.residuals);
      REQUIRE(gpu.vectors.size() == cpu.vectors.size());
      for (std::size_t v = 0; v < cpu.vectors.size(); ++v) CHECK(battery::same_bits(gpu.vectors[v], cpu.vectors[v]));
    }
  }
}

TEST_CASE("modes of five-dimensional operators have the bits of a CPU") {
  QUARKSTAR_NEEDS_GPU("gpu eigenvectors of walls");
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 8};
  for (const char* action : {"domain-wall", "moebius"})
    for (const Precision precision : {Precision::double_, Precision::single}) {
      INFO(std::string(action) << ", basis in " << name_of(precision));
      const RunOperator made = kind_named(action).with_any_links(reference::near_unit_gauge(extents, seed, 0.4), {});
      const EigenSettings settings{.modes = 5, .tolerance = 1e-7, .block = 2, .basis_precision = precision};
      const Outcome cpu = solved({.cuda_workers = 0}, *made.action, extents, settings);
      const Outcome gpu = solved({.cuda_workers = 1, .devices = "cuda"}, *made.action, extents, settings);
      REQUIRE(cpu.result.converged);
      CHECK(gpu.result.values == cpu.result.values);
      CHECK(gpu.result.residuals == cpu.result.residuals);
      REQUIRE(gpu.vectors.size() == cpu.vectors.size());
      for (std::size_t v = 0; v < cpu.vectors.size(); ++v) CHECK(battery::same_bits(gpu.vectors[v], cpu.vectors[v]));
    }
}

TEST_CASE("modes of gamma_5 M have the bits of a CPU") {
  QUARKSTAR_NEEDS_GPU("gpu gamma_5 M");
  MESSAGE("seed " << seed);
  const Coord extents{4, 4, 4, 8};
  const EigenSettings settings{.modes = 6, .tolerance = 1e-8};
  const RunOperator made = kind_named("wilson").with_any_links(reference::near_unit_gauge(extents, seed, 0.4), {});
  const auto solved_on = [&](const runtime::SessionOptions& options) {
    const runtime::Session session(options);
    const auto prepared = made.action->in_precision(runtime::Decomposition(extents, {1, 1, 1, 1}, 1),
                                                    {.speed = {.vectors = settings.block, .measure = false}});
    const auto system = prepared->system(settings.block, same_for_all(prepared->own_mass().value()));
    Gamma5Operator h(*system);
    SquaredSystem squared(h);
    BlockLanczos lanczos(squared, settings, &h);
    Outcome outcome{lanczos.solve(), {}};
    outcome.vectors = battery::extracted(lanczos, settings.modes);
    return outcome;
  };
  const Outcome cpu = solved_on({.cuda_workers = 0}), gpu = solved_on({.cuda_workers = 1, .devices = "cuda"});
  REQUIRE(cpu.result.converged);
  CHECK(gpu.result.values == cpu.result.values);
  CHECK(gpu.result.residuals == cpu.result.residuals);
  for (std::size_t v = 0; v < cpu.vectors.size(); ++v) CHECK(battery::same_bits(gpu.vectors[v], cpu.vectors[v]));
}

}  // namespace eigen_test
