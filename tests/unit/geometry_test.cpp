// Index tables of blocks against plain coordinate arithmetic, site by site.
#include "codelets/lattice/block_geometry.hpp"
#include "codelets/lattice/lattice.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace geometry_test {

using namespace quarkstar;
using runtime::Decomposition;
using Cuts = std::array<std::vector<int>, 4>;

namespace {

struct Case {
  Decomposition decomposition;
  Precision precision;
  int most_lanes;
  BoundaryAngles boundary;
};

std::vector<Case> cases() {
  std::vector<Decomposition> cuts;
  for (const Coord& lattice : {Coord{4, 4, 4, 4}, Coord{8, 4, 4, 8}})
    for (const Coord& grid : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{2, 1, 1, 1}, Coord{2, 2, 2, 2}})
      cuts.emplace_back(lattice, grid, 1);
  cuts.emplace_back(Coord{4, 6, 2, 8}, Coord{1, 1, 1, 1}, 1);
  cuts.emplace_back(Coord{6, 6, 4, 10}, Cuts{{{2, 4}, {1, 5}, {3, 1}, {4, 1, 5}}}, std::vector<int>(24, 0));
  cuts.emplace_back(Coord{4, 8, 4, 12}, Cuts{{{4}, {4, 4}, {4}, {8, 4}}}, std::vector<int>(4, 0));
  cuts.emplace_back(Coord{2, 2, 2, 2}, Coord{1, 2, 2, 2}, 1);
  std::vector<Case> list;
  for (const Decomposition& decomposition : cuts) {
    list.push_back({decomposition, Precision::single, 16, antiperiodic_in_time});
    list.push_back({decomposition, Precision::double_, 8, {0, 0.5, 0, 1}});
    list.push_back({decomposition, Precision::double_, 4, {0.25, 0.5, 0.75, 1}});
    list.push_back({decomposition, Precision::double_, 1, periodic});
  }
  return list;
}

/// Runs body(case, lattice) for every case within one session.
template <class Body>
void for_cases(Body&& body) {
  const runtime::Session session(runtime_testing::options(1));
  for (const Case& c : cases()) {
    const Lattice lattice(c.decomposition, c.precision, c.boundary, LayoutRequest{.most_lanes = c.most_lanes});
    INFO(c.decomposition.describe() << ", " << lattice.lanes().lanes << " lanes");
    body(c, lattice);
  }
}

Coord global(const BlockGeometry& block, const SitePosition& position) {
  Coord site = block.local_site(position);
  for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
  return site;
}

Coord hop(Coord site, int direction, const Coord& lattice) {
  const int mu = direction / 2;
  site[mu] = (site[mu] + (direction % 2 == 0 ? 1 : lattice[mu] - 1)) % lattice[mu];
  return site;
}

/// Whether a lane lies in the outermost half that a hop leaves the block from; every lane where nothing is split.
bool on_edge(const BlockGeometry& block, int lane, int direction) {
  const int stride = block.lanes().stride[direction / 2];
  return stride == 0 || ((lane & stride) != 0) == (direction % 2 == 0);
}

bool inside(const BlockGeometry& block, const Coord& site) {
  for (int mu = 0; mu < 4; ++mu)
    if (site[mu] < block.block().origin[mu] || site[mu] >= block.block().origin[mu] + block.block().extents[mu]) return false;
  return true;
}

/// Calls body(position, neighbour's global coordinates, table entry, direction) for every site and direction of a
/// block.
template <class Body>
void for_hops(const BlockGeometry& block, const Coord& lattice, Body&& body) {
  for (int parity = 0; parity < 2; ++parity)
    for (int outer = 0; outer < block.outer_sites(); ++outer)
      for (int lane = 0; lane < block.lanes().lanes; ++lane)
        for (int d = 0; d < 8; ++d) {
          const SitePosition here{parity, outer, lane};
          const std::size_t at = block.neighbours(parity) + static_cast<std::size_t>(outer) * 8 + static_cast<std::size_t>(d);
          body(here, hop(global(block, here), d, lattice), block.tables()[at], d);
        }
}

std::vector<std::uint32_t> list_of(const BlockGeometry& block, const TableRange& range) {
  const auto part = block.tables().subspan(range.offset, range.count);
  return {part.begin(), part.end()};
}

/// Lanes of a face site in order: those of the sender on the edge that the reader looks at.
std::vector<int> face_lanes_of_sender(const BlockGeometry& sender, int direction) {
  std::vector<int> lanes;
  for (int lane = 0; lane < sender.lanes().lanes; ++lane)
    if (on_edge(sender, lane, direction ^ 1)) lanes.push_back(lane);
  return lanes;
}

}  // namespace

TEST_CASE("locate and local_site are inverse, parity is that of global coordinates") {
  for_cases([](const Case&, const Lattice& lattice) {
    for (int b = 0; b < lattice.block_count(); ++b) {
      const BlockGeometry& block = lattice.block(b);
      REQUIRE(2 * std::int64_t{block.outer_sites()} * block.lanes().lanes == volume(block.block().extents));
      std::vector<bool> seen(static_cast<std::size_t>(volume(block.block().extents)), false);
      bool good = true;
      for (std::int64_t i = 0; i < volume(block.block().extents); ++i) {
        const Coord local = coordinates(i, block.block().extents);
        const SitePosition p = block.locate(local);
        Coord site = local;
        for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
        good &= block.local_site(p) == local && p.parity == (site[0] + site[1] + site[2] + site[3]) % 2;
        good &= p.outer >= 0 && p.outer < block.outer_sites() && p.lane >= 0 && p.lane < block.lanes().lanes;
        const auto place = static_cast<std::size_t>((p.parity * block.outer_sites() + p.outer) * block.lanes().lanes + p.lane);
        REQUIRE(place < seen.size());
        good &= !seen[place];
        seen[place] = true;
      }
      CHECK(good);
    }
  });
}

TEST_CASE("neighbour entries lead to the neighbouring site") {
  for_cases([](const Case& c, const Lattice& lattice) {
    for (int b = 0; b < lattice.block_count(); ++b) {
      const BlockGeometry& block = lattice.block(b);
      int wrong_site = 0, wrong_face = 0, wrong_phase = 0;
      for_hops(block, c.decomposition.lattice(), [&](const SitePosition& here, const Coord& there, std::uint32_t entry, int d) {
        const int mu = d / 2, length = c.decomposition.lattice()[mu];
        const bool wraps = global(block, here)[mu] == (d % 2 == 0 ? length - 1 : 0);
        const bool takes_phase = (entry & neighbour_entry::phase) != 0 && on_edge(block, here.lane, d);
        wrong_phase += takes_phase != (wraps && c.boundary[mu] != 0);

        const bool takes_face = (entry & neighbour_entry::face) != 0 && on_edge(block, here.lane, d);
        const bool leaves = c.decomposition.is_cut(mu) && !inside(block, there);
        wrong_face += takes_face != leaves;
        if (leaves) return;
        const bool exchanges = (entry & neighbour_entry::exchange) != 0;
        const SitePosition target{1 - here.parity, static_cast<int>(entry >> neighbour_entry::shift),
                                  here.lane ^ (exchanges ? block.lanes().stride[mu] : 0)};
        wrong_site += global(block, target) != there;
      });
      CHECK(wrong_site == 0);
      CHECK(wrong_face == 0);
      CHECK(wrong_phase == 0);
    }
  });
}

TEST_CASE("every entry is within the block, also where a face replaces it") {
  for_cases([](const Case& c, const Lattice& lattice) {
    for (int b = 0; b < lattice.block_count(); ++b) {
      const BlockGeometry& block = lattice.block(b);
      bool good = true;
      for_hops(block, c.decomposition.lattice(), [&](const SitePosition&, const Coord&, std::uint32_t entry, int) {
        good &= static_cast<int>(entry >> neighbour_entry::shift) < block.outer_sites();
      });
      CHECK(good);
    }
  });
}

TEST_CASE("interior and boundary are all sites once, split by whether a neighbour is elsewhere") {
  for_cases([](const Case& c, const Lattice& lattice) {
    for (int b = 0; b < lattice.block_count(); ++b) {
      const BlockGeometry& block = lattice.block(b);
      CHECK(block.has_faces() == (c.decomposition.count() > 1));
      for (int parity = 0; parity < 2; ++parity) {
        std::vector<std::uint32_t> interior, boundary;
        for (int outer = 0; outer < block.outer_sites(); ++outer) {
          bool edge = false;
          for (int lane = 0; lane < block.lanes().lanes; ++lane)
            for (int d = 0; d < 8; ++d)
              edge |=
                  c.decomposition.is_cut(d / 2) && !inside(block, hop(global(block, {parity, outer, lane}), d, c.decomposition.lattice()));
          (edge ? boundary : interior).push_back(static_cast<std::uint32_t>(outer));
        }
        CHECK(list_of(block, block.interior(parity)) == interior);
        CHECK(list_of(block, block.boundary(parity)) == boundary);
      }
    }
  });
}

TEST_CASE("what a block packs is what its neighbour reads, site by site and lane by lane") {
  for_cases([](const Case& c, const Lattice& lattice) {
    const Decomposition& decomposition = c.decomposition;
    for (int b = 0; b < lattice.block_count(); ++b) {
      const BlockGeometry& reader = lattice.block(b);
      for (int parity = 0; parity < 2; ++parity)
        for (int d = 0; d < 8; ++d) {
          const BlockGeometry& sender = lattice.block(decomposition.neighbour(b, d));
          const TableRange packed = sender.pack(1 - parity, d);
          if (!decomposition.is_cut(d / 2)) {
            CHECK(packed.count == 0);
            continue;
          }
          const std::vector<std::uint32_t> sites = list_of(sender, packed);
          const std::vector<int> lanes = face_lanes_of_sender(sender, d);
          REQUIRE(reader.face_lanes(d) == static_cast<int>(lanes.size()));
          REQUIRE(static_cast<int>(sites.size()) <= reader.face_sites(d));
          const std::vector<std::uint32_t> boundary = list_of(reader, reader.boundary(parity));
          int read = 0, wrong = 0;
          for (std::size_t i = 0; i < boundary.size(); ++i) {
            const auto outer = static_cast<int>(boundary[i]);
            int position_in_lanes = 0;
            for (int lane = 0; lane < reader.lanes().lanes; ++lane) {
              const Coord there = hop(global(reader, {parity, outer, lane}), d, decomposition.lattice());
              if (inside(reader, there)) continue;
              const std::uint32_t at = reader.tables()[reader.boundary_faces(parity) + i * 8 + static_cast<std::size_t>(d)];
              REQUIRE(at < sites.size());
              const SitePosition source{1 - parity, static_cast<int>(sites[at]), lanes[static_cast<std::size_t>(position_in_lanes++)]};
              wrong += global(sender, source) != there;
              ++read;
            }
          }
          CHECK(wrong == 0);
          CHECK(read == static_cast<int>(sites.size() * lanes.size()));
        }
    }
  });
}

TEST_CASE("tasks see the same tables as the host") {
  for_cases([](const Case&, const Lattice& lattice) {
    for (int b = 0; b < lattice.block_count(); ++b) {
      const BlockGeometry& block = lattice.block(b);
      const runtime::HostView<std::uint32_t> view(block.handle());
      CHECK(std::equal(block.tables().begin(), block.tables().end(), view.get()));
    }
  });
}

TEST_CASE("a lane grid that does not fit a block is refused") {
  const runtime::Session session(runtime_testing::options(1));
  const Decomposition decomposition({4, 4, 4, 6}, {1, 1, 1, 1}, 1);
  CHECK_THROWS_AS(BlockGeometry(decomposition, 0, LaneGrid{2, {0, 0, 0, 1}}, periodic), ShapeError);
  CHECK_NOTHROW(BlockGeometry(decomposition, 0, LaneGrid{2, {0, 0, 1, 0}}, periodic));
}

}  // namespace geometry_test
