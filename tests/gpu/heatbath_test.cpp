// A Markov chain on GPUs, bit for bit against the CPU's.
#include "codelets/gauge/heatbath/heatbath.hpp"

#include "codelets/gauge/heatbath/start.hpp"
#include "codelets/gauge/observables.hpp"
#include "runtime/graph/session.hpp"
#include "tests/gpu/support.hpp"

#include <doctest/doctest.h>

namespace heatbath_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 27182;

struct Chain {
  HostGauge end;
  gauge::Plaquettes plaquettes;
};

/// Three sweeps from a hot start. beta: weak couplings take one way through the sampling of SU(2), strong ones the other.
Chain run(const runtime::Session& session, const Coord& lattice, const Coord& blocks, double beta) {
  gauge::GaugeField links(runtime::Decomposition(lattice, blocks, session.block_owners()), 1);
  const HostGauge start = heatbath::hot_start(lattice, seed, runtime::Team({0}));
  load(links, start);
  heatbath::Heatbath chain(links, {.beta = beta, .seed = seed, .overrelaxation_per_heatbath = 2});
  for (int sweep = 0; sweep < 3; ++sweep) chain.sweep(sweep);
  Chain result{start, gauge::plaquettes(links)};
  store(result.end, links);
  runtime::Session::current().wait_all();
  return result;
}

}  // namespace

TEST_CASE("a heatbath on GPUs has the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu heatbath");
  MESSAGE("seed " << seed);
  const int gpus = static_cast<int>(runtime::gpus().size());
  for (const double beta : {0.3, 6.0})
    for (const Coord& lattice : {Coord{8, 8, 8, 8}, Coord{6, 4, 12, 8}}) {
      Chain expected;
      {
        const runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
        expected = run(cpu, lattice, {1, 1, 1, 1}, beta);
      }
      for (int count = 1; count <= gpus; count *= 2) {
        const runtime::Session session({.cuda_workers = count});
        for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{2, 1, 3, 1}, Coord{2, 2, 2, 2}}) {
          INFO("beta " << beta << " lattice " << lattice[0] << " gpus " << count << " blocks " << blocks[0] << blocks[1] << blocks[2]
                       << blocks[3]);
          if (lattice[2] % blocks[2] != 0) continue;
          const Chain found = run(session, lattice, blocks, beta);
          CHECK(found.end.data == expected.end.data);
          CHECK(found.plaquettes.spatial == expected.plaquettes.spatial);
          CHECK(found.plaquettes.temporal == expected.plaquettes.temporal);
        }
      }
    }
}

}  // namespace heatbath_test
