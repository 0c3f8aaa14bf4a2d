// Schwarz domains on a GPU, bit for bit against the CPU's: the preconditioner alone, and GCR with it.
#include "codelets/actions/wilson/schwarz.hpp"

#include "codelets/actions/wilson/action.hpp"
#include "runtime/system/error.hpp"
#include "tests/battery/solver_support.hpp"
#include "tests/gpu/support.hpp"

#include <algorithm>
#include <cmath>

namespace schwarz_on_gpu_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 61553;

struct Case {
  Coord lattice, domain;
  Precision precision = Precision::double_;
  int link_reals = 18, steps = 3;
  Coord blocks{1, 1, 1, 1};
  std::optional<int> most_lanes{};
};

/// K of some sources in a session of its own.
std::vector<HostField> apply(const Case& c, const HostGauge& gauge, const std::vector<HostField>& sources, int gpus) {
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = gpus});
  const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(c.lattice, c.blocks, session.block_owners()), c.precision,
                                                 antiperiodic_in_time, LayoutRequest{.most_lanes = c.most_lanes, .unit = c.domain});
  CHECK((gpus > 0 && !c.most_lanes && lattice->lanes().lanes * static_cast<int>(computed_bytes(c.precision)) == 64) == lattice->chunked());
  LinkField even(lattice, 0, c.link_reals), odd(lattice, 1, c.link_reals);
  transfer::load_links(even, odd, gauge);
  const wilson::Schwarz schwarz(even, odd, c.domain, c.steps, 1.1, -0.0169);
  const auto n = static_cast<int>(sources.size());
  const Field in(lattice, 1, spinor_components, n), out(lattice, 1, spinor_components, n);
  transfer::load(in, sources);
  schwarz.apply(out, in);
  std::vector<HostField> results(sources.size(), HostField(spinor_components, c.lattice));
  transfer::store(results, out);
  session.wait_all();
  return results;
}

std::vector<HostField> sources_on(const Coord& lattice, std::size_t n) {
  std::vector<HostField> sources;
  for (std::size_t v = 0; v < n; ++v) sources.push_back(battery::to_host(reference::random_field(lattice, 4, seed + v)));
  return sources;
}

}  // namespace

// Lanes of 64 bytes in chunks, fewer and one; domains one and two to a block of threads, of fewer and of more sites than it has threads.
TEST_CASE("the Schwarz preconditioner on a GPU has the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu Schwarz domains");
  MESSAGE("seed " << seed);
  const Coord large{16, 16, 8, 8}, odd_extents{4, 4, 6, 8};
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int reals : {18, 12, 8})
      for (Case c : {Case{large, {4, 4, 4, 4}}, Case{large, {2, 2, 4, 2}}, Case{large, {8, 4, 4, 4}}, Case{large, {8, 4, 2, 4}},
                     Case{odd_extents, {4, 2, 6, 2}}, Case{odd_extents, {4, 4, 6, 4}}}) {
        if (precision == Precision::double_ && volume(c.domain) > 384) continue;
        c.precision = precision;
        c.link_reals = reals;
        const HostGauge gauge = reference::random_gauge(c.lattice, seed);
        const std::vector<HostField> sources = sources_on(c.lattice, 3);
        const std::vector<HostField> expected = apply(c, gauge, sources, 0);
        for (const bool whole : {true, false})
          for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}}) {
            if (c.lattice[3] / blocks[3] % c.domain[3] != 0) continue;
            Case other = c;
            other.blocks = blocks;
            if (!whole) other.most_lanes = 4;
            INFO(name_of(precision) << " links " << reals << " domain " << c.domain[0] << c.domain[1] << c.domain[2] << c.domain[3]
                                    << " blocks " << blocks[3] << (whole ? "" : ", 4 lanes at most"));
            const std::vector<HostField> found = apply(other, gauge, sources, 1);
            for (std::size_t v = 0; v < sources.size(); ++v) {
              CHECK(battery::same_bits(found[v], expected[v]));
              const auto& z = expected[v].data;  // on odd sites
              CHECK(2 * std::count_if(z.begin(), z.end(), [](const auto& x) { return x != 0.0 && std::isfinite(std::abs(x)); }) >=
                    static_cast<std::ptrdiff_t>(z.size()));
            }
          }
      }
}

TEST_CASE("GCR with Schwarz domains on a GPU has the CPU's residual history") {
  QUARKSTAR_NEEDS_GPU("gpu GCR with Schwarz domains");
  MESSAGE("seed " << seed + 9);
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed + 9, 0.4);
  const HostField source = battery::to_host(reference::random_field(lattice, 4, seed + 10));
  const WilsonParameters parameters{0.13, {}, antiperiodic_in_time};
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
    INFO(name_of(precision));
    battery::SolveCase c;
    c.settings.solver = "gcr";
    c.settings.precision = precision;
    c.settings.schwarz = SchwarzSettings{};
    const battery::SolveOutcome expected = battery::solve_once(c, gauge, parameters, source);
    CHECK(expected.result.converged());
    c.gpus = 1;
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}}) {
      c.blocks = blocks;
      battery::check_same_bits(battery::solve_once(c, gauge, parameters, source), expected);
    }
  }
}

TEST_CASE("Schwarz domains that a GPU's multiprocessor cannot hold are refused") {
  QUARKSTAR_NEEDS_GPU("gpu Schwarz domains that are too large");
  const Coord lattice{8, 8, 8, 8};
  const HostGauge gauge = reference::unit_gauge(lattice);
  runtime::Session session({.cpu_workers = 1, .cuda_workers = 1});
  SolverSettings settings;
  settings.solver = "gcr";
  settings.schwarz = SchwarzSettings{lattice, 4};
  CHECK_THROWS_WITH_AS(Solver(runtime::Decomposition(lattice, {1, 1, 1, 1}, session.block_owners()), wilson::Action(gauge, {}), settings),
                       doctest::Contains("schwarz-block: "), Error);
}

}  // namespace schwarz_on_gpu_test
