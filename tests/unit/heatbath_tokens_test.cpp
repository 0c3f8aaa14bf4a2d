// The dependencies that a task declares are those of the links that its staples read, no more and no fewer.
#include "codelets/gauge/heatbath/tokens.hpp"
#include "tests/reference/lattice.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace quarkstar;
using reference::step;

namespace {

int block_of(const runtime::Decomposition& decomposition, const Coord& x) {
  for (const runtime::Block& block : decomposition.blocks()) {
    bool inside = true;
    for (int mu = 0; mu < 4; ++mu) inside = inside && x[mu] >= block.origin[mu] && x[mu] < block.origin[mu] + block.extents[mu];
    if (inside) return block.index;
  }
  return -1;
}

/// Walks around all six plaquettes of every link U_mu(x) of the group.
std::set<int> tokens_on_plaquettes(const runtime::Decomposition& decomposition, const runtime::Block& block, int parity, int mu) {
  const Coord& lattice = decomposition.lattice();
  std::set<int> tokens;
  const auto touch = [&](const Coord& x, int direction) {
    tokens.insert(heatbath::token_index(block_of(decomposition, x), parity_of(x), direction));
  };
  for (std::int64_t k = 0; k < volume(block.extents); ++k) {
    Coord x = coordinates(k, block.extents);
    for (int nu = 0; nu < 4; ++nu) x[nu] += block.origin[nu];
    if (parity_of(x) != parity) continue;
    for (int nu = 0; nu < 4; ++nu) {
      if (nu == mu) continue;
      const Coord below = step(x, nu, -1, lattice);
      touch(step(x, mu, 1, lattice), nu);
      touch(step(x, nu, 1, lattice), mu);
      touch(x, nu);
      touch(step(below, mu, 1, lattice), nu);
      touch(below, mu);
      touch(below, nu);
    }
  }
  return tokens;
}

}  // namespace

TEST_CASE("heatbath: declared dependencies are exactly the links around the plaquettes") {
  const Coord lattice{8, 4, 6, 4};
  for (const Coord& grid : {Coord{1, 1, 1, 1}, Coord{2, 1, 1, 1}, Coord{1, 1, 2, 2}, Coord{4, 1, 3, 1}, Coord{2, 2, 2, 2}}) {
    CAPTURE(grid);
    const runtime::Decomposition decomposition(lattice, grid, 1);
    for (const runtime::Block& block : decomposition.blocks())
      for (int parity = 0; parity < 2; ++parity)
        for (int mu = 0; mu < 4; ++mu) {
          const auto declared = heatbath::tokens_read(decomposition, block.index, parity, mu);
          const auto needed = tokens_on_plaquettes(decomposition, block, parity, mu);
          CHECK(std::set<int>(declared.begin(), declared.end()) == needed);
          CHECK(declared.size() == needed.size());
          CHECK(needed.count(heatbath::token_index(block.index, parity, mu)) == 0);
          CHECK(declared.size() <= 28);
        }
  }
}

TEST_CASE("heatbath: blocks one site thick declare at least what they need") {
  const Coord lattice{2, 4, 4, 4};
  const runtime::Decomposition decomposition(lattice, {1, 4, 2, 4}, 1);
  for (const runtime::Block& block : decomposition.blocks())
    for (int parity = 0; parity < 2; ++parity)
      for (int mu = 0; mu < 4; ++mu) {
        const auto declared = heatbath::tokens_read(decomposition, block.index, parity, mu);
        const std::set<int> available(declared.begin(), declared.end());
        for (const int token : tokens_on_plaquettes(decomposition, block, parity, mu)) CHECK(available.count(token) == 1);
      }
}
