// The links of a staggered operator on one of several ranks: from the links of its part the memory is what it is from those of the whole
// lattice.
#include "tests/battery/staggered_support.hpp"

namespace staggered_part_test {

using namespace quarkstar;
using reference::cut_out;

namespace {

constexpr std::uint64_t seed = 31;

bool same_memory(const LinkField& a, const LinkField& b) {
  for (const int block : a.lattice()->local_blocks()) {
    const runtime::Handle &first = a.block(block), &second = b.block(block);
    if (first.bytes() != second.bytes()) return false;
    const runtime::HostView<char> left(first), right(second);
    if (std::memcmp(left.get(), right.get(), first.bytes()) != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("staggered links of a rank come from those of its part") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 8, 12};
  const double scale = -1 / 24.;
  const smear::StaggeredLinks whole = battery::with_phases(battery::random_links(lattice, seed, scale), scale);
  const runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
  for (const Coord& grid : {Coord{1, 1, 1, 3}, Coord{1, 1, 2, 2}, Coord{2, 1, 1, 1}})
    for (int rank = 0; rank < volume(grid); ++rank) {
      CAPTURE(grid);
      CAPTURE(rank);
      const runtime::Decomposition ranks(lattice, runtime::RankGrid{grid, rank, {}}, {1, 1, 1, 1}, 1);
      smear::StaggeredLinks mine = whole;
      mine.fat = cut_out(whole.fat, smear::hops_box(ranks.part(), lattice, 1));
      mine.long_links = cut_out(whole.long_links, smear::hops_box(ranks.part(), lattice, 3));
      const auto blocks = std::make_shared<Lattice>(ranks, Precision::double_, periodic, LayoutRequest{.most_lanes = 16, .reach = 3});
      using Pair = std::array<staggered::Links, 2>;
      const auto loaded = [&](const smear::StaggeredLinks& links) {
        std::unique_ptr<Pair> pair(new Pair{{{blocks, 0, 18}, {blocks, 1, 18}}});
        staggered::load((*pair)[0], (*pair)[1], links);
        return pair;
      };
      const auto from_part = loaded(mine), from_whole = loaded(whole);
      for (const std::size_t parity : {0, 1}) {
        CHECK(same_memory((*from_part)[parity].fat, (*from_whole)[parity].fat));
        CHECK(same_memory(*(*from_part)[parity].far, *(*from_whole)[parity].far));
      }
      smear::StaggeredLinks thin = mine;
      thin.long_links = cut_out(whole.long_links, smear::hops_box(ranks.part(), lattice, 1));
      if (thin.long_links.box().extents != mine.long_links.box().extents) CHECK_THROWS_AS(loaded(thin), ShapeError);
    }
}

}  // namespace staggered_part_test
