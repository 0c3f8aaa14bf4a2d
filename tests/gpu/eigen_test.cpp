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

/// The runtime makes chunks of 32 MiB for small pieces, or nothing at all: a GPU that is given less never runs a task.
TEST_CASE("modes have the same bits on a GPU whose memory does not hold the basis") {
  QUARKSTAR_NEEDS_GPU("gpu eigenvectors in host memory");
  MESSAGE("seed " << seed);
  const Coord extents{8, 8, 8, 32};  // fields of 6 MiB, which are no such pieces
  const RunOperator made = kind_named("naive").with_any_links(reference::near_unit_gauge(extents, seed, 0.4), {});
  EigenSettings settings{.modes = 160, .tolerance = 1e-8, .block = 8};  // in single precision these do not all converge
  const runtime::SessionOptions options{.cuda_workers = 1, .devices = "cuda"};
  const Outcome there = solved(options, *made.action, extents, settings);
  REQUIRE(there.result.converged);
  const double vector = static_cast<double>(volume(extents)) / 2 * 48;
  constexpr double links = 32 << 20, chunks = 64 << 20;
  settings.basis_in_host_memory = true;
  const double needed = vector * fields_on_device(settings, colour_components) + links + chunks,
               all = vector * fields_for(settings, colour_components) + links;
  CHECK(needed < all);
  runtime::SessionOptions limited = options;
  limited.gpu_memory = static_cast<std::size_t>(needed);
  const Outcome found = solved(limited, *made.action, extents, settings);
  CHECK(found.result.values == there.result.values);
  CHECK(found.result.residuals == there.result.residuals);
  REQUIRE(found.vectors.size() == there.vectors.size());
  for (std::size_t v = 0; v < there.vectors.size(); ++v) CHECK(battery::same_bits(found.vectors[v], there.vectors[v]));
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
