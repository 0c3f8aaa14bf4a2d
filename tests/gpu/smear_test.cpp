// Link construction on a GPU, bit for bit against the CPU's.
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/graph/session.hpp"
#include "tests/gpu/support.hpp"
#include "tests/reference/gauge.hpp"

#include <doctest/doctest.h>

namespace smear_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 16180;

bool same_bits(const smear::StaggeredLinks& a, const smear::StaggeredLinks& b) {
  return a.fat.data == b.fat.data && a.long_links.data == b.long_links.data;
}

}  // namespace

TEST_CASE("smeared links from GPUs have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu smear");
  MESSAGE("seed " << seed);
  const BoundaryAngles angles{0, 0.5, 0.3, 1};
  const int gpus = static_cast<int>(runtime::gpus().size());
  for (const Coord& lattice : {Coord{8, 8, 8, 8}, Coord{10, 4, 6, 4}}) {
    // Smooth links take the analytic way through the reunitarization, random ones often the decomposition.
    for (const HostGauge& gauge : {reference::near_unit_gauge(lattice, seed, 0.4), reference::random_gauge(lattice, seed)}) {
      smear::StaggeredLinks hisq, asqtad, naive;
      const auto make = [&](const Coord& blocks, int owners) {
        const runtime::Decomposition decomposition(lattice, blocks, owners);
        hisq = smear::hisq_links(decomposition, gauge, angles, -0.1);
        asqtad = smear::asqtad_links(decomposition, gauge, angles, 0.87);
        naive = smear::naive_links(decomposition, gauge, angles);
      };
      {
        const runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
        make({1, 1, 1, 1}, 1);
      }
      const smear::StaggeredLinks expected_hisq = hisq, expected_asqtad = asqtad, expected_naive = naive;
      for (int count = 1; count <= gpus; count *= 2) {
        const runtime::Session session({.cuda_workers = count});
        for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{2, 1, 3, 1}, Coord{2, 2, 2, 2}}) {
          INFO("lattice " << lattice[0] << " gpus " << count << " blocks " << blocks[0] << blocks[1] << blocks[2] << blocks[3]);
          make(blocks, session.block_owners());
          CHECK(same_bits(hisq, expected_hisq));
          CHECK(same_bits(asqtad, expected_asqtad));
          CHECK(same_bits(naive, expected_naive));
        }
      }
    }
  }
}

}  // namespace smear_test
