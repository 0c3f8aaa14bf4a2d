#include "codelets/lattice/format/gauge_part.hpp"

#include "codelets/lattice/format/part_checksum.hpp"
#include "codelets/lattice/format/reals.hpp"
#include "runtime/error.hpp"
#include "runtime/mpi/shared_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace quarkstar::format {
namespace {

using runtime::mpi::Job;
using runtime::mpi::SharedFile;

/// Stores the links of a slab in a field whose box may reach over the lattice's edges. Returns the first site with a link that is not finite.
std::optional<Coord> store(HostGauge& gauge, const PayloadLayout& layout, const Box& slab, std::span<const std::byte> bytes) {
  std::optional<Coord> not_finite;
  const Box box = gauge.box();
  std::array<double, 18> link;
  const std::byte* in = bytes.data();
  for (std::int64_t i = 0; i < volume(slab.extents); ++i) {
    const Coord site = site_of(slab, i);
    const std::int64_t index = index_in(box, site, layout.extents);
    for (int mu = 0; mu < 4; ++mu, in += layout.link_bytes()) {
      decode_link(layout, in, link);
      std::copy(link.begin(), link.end(), gauge.link(index, mu).begin());
      if (!not_finite && !std::all_of(link.begin(), link.end(), [](double v) { return std::isfinite(v); })) not_finite = site;
    }
  }
  return not_finite;
}

/// A layer of sites of a part, or the one before (distance = -1) or behind it, over the lattice's edge too.
Box layer_of(const Box& part, const Coord& lattice, int mu, int distance) {
  Box layer = part;
  layer.origin[mu] = (part.origin[mu] + distance + lattice[mu]) % lattice[mu];
  layer.extents[mu] = 1;
  return layer;
}

/// Checksums of the links in the layers of a part: [mu][before it, its first, its last, behind it].
using LayerSums = std::array<std::array<std::uint32_t, 4>, 4>;

LayerSums layer_sums(const HostGauge& gauge, const Box& part, const runtime::Decomposition& decomposition) {
  constexpr std::size_t site_reals = HostGauge::reals_per_site;
  LayerSums sums{};
  for (int mu = 0; mu < 4; ++mu) {
    if (decomposition.ranks()[mu] == 1) continue;
    const std::array<int, 4> distances{-1, 0, part.extents[mu] - 1, part.extents[mu]};
    for (std::size_t i = 0; i < 4; ++i) {
      const Box layer = layer_of(part, decomposition.lattice(), mu, distances[i]);
      PayloadChecksum sum(ChecksumKind::scidac, ByteOrder::little, site_reals * sizeof(double));
      for (std::int64_t site = 0; site < volume(layer.extents); ++site) {
        const auto place = static_cast<std::size_t>(index_in(gauge.box(), site_of(layer, site), decomposition.lattice()));
        sum.add(site, std::as_bytes(std::span(gauge.data).subspan(place * site_reals, site_reals)));
      }
      sums[static_cast<std::size_t>(mu)][i] = sum.sums()[0];
    }
  }
  return sums;
}

/// A file's checksums cover parts, not the layers around them: those must be what the ranks have that own them.
void compare_borders(Job& job, const std::string& path, const HostGauge& gauge, const runtime::Decomposition& decomposition) {
  LayerSums mine{};
  job.together([&] { mine = layer_sums(gauge, decomposition.part(), decomposition); });
  const std::vector<LayerSums> all = job.gather(mine);
  job.together([&] {
    for (int mu = 0; mu < 4; ++mu) {
      const int ranks = decomposition.ranks()[mu];
      if (ranks == 1) continue;
      for (const bool behind : {false, true}) {
        Coord place = coordinates(decomposition.rank(), decomposition.ranks());
        place[mu] = (place[mu] + (behind ? 1 : ranks - 1)) % ranks;
        const auto owner = static_cast<std::size_t>(lexicographic(place, decomposition.ranks()));
        const auto direction = static_cast<std::size_t>(mu);
        if (mine[direction][behind ? 3 : 0] == all[owner][direction][behind ? 1 : 2]) continue;
        throw Error(ErrorKind::environment, path,
                    fmt::format("read links at the edge of its part ({} {}) that are not those of {}", behind ? "behind it in" : "before it in",
                                "xyzt"[mu], job.name_of(static_cast<int>(owner))),
                    "the hosts see different files under this name, or the file system fails: try again");
      }
    }
  });
}

}  // namespace

Box box_with_border(const runtime::Decomposition& decomposition) {
  Box box = decomposition.part();
  const Coord& lattice = decomposition.lattice();
  for (int mu = 0; mu < 4; ++mu) {
    if (decomposition.ranks()[mu] == 1) continue;
    if (box.extents[mu] + 2 > lattice[mu]) {
      box.origin[mu] = 0;
      box.extents[mu] = lattice[mu];
    } else {
      box.origin[mu] = (box.origin[mu] + lattice[mu] - 1) % lattice[mu];
      box.extents[mu] += 2;
    }
  }
  return box;
}

GaugeRead read_gauge_part(const std::string& path, const GaugeReadOptions& options, const runtime::Decomposition& decomposition) {
  Job& job = Job::current();
  std::optional<GaugeFile> file;
  job.together([&] { file.emplace(path, options); });
  const PayloadLayout& layout = file->info().layout;
  GaugeRead result;
  if (layout.site_order != SiteOrder::lexicographic) {
    job.together([&] { result = read_gauge(*file); });
    return result;
  }
  const Coord& lattice = decomposition.lattice();
  const Box part = decomposition.part(), box = box_with_border(decomposition);
  result.info = file->info();
  job.together([&] {
    result.gauge = {box.extents, allocate_reals(path, static_cast<std::size_t>(volume(box.extents)) * HostGauge::reals_per_site), box.origin};
  });
  for (std::size_t link = 0; link < result.gauge.data.size(); link += 18)
    for (const std::size_t diagonal : {0, 8, 16}) result.gauge.data[link + diagonal] = 1;
  PayloadChecksum checksum = file->new_checksum();
  std::optional<Coord> not_finite;
  const runtime::mpi::SiteRecords records{layout.offset, layout.record_bytes(), lattice};
  SharedFile shared(job, path, SharedFile::Mode::read);
  shared.read_slabs(records, part, [&](const Box& slab, std::span<const std::byte> bytes) {
    add_box(checksum, slab, lattice, bytes);
    if (const auto bad = store(result.gauge, layout, slab, bytes); bad && !not_finite) not_finite = bad;
  });
  for (int mu = 0; mu < 4; ++mu) {
    if (decomposition.ranks()[mu] == 1) continue;
    for (const int distance : {-1, part.extents[mu]})
      shared.read_slabs(records, layer_of(part, lattice, mu, distance),
                        [&](const Box& slab, std::span<const std::byte> bytes) { store(result.gauge, layout, slab, bytes); });
  }
  shared.close();
  const PayloadChecksum total = over_ranks(job, checksum);
  job.together([&] {
    result.info.checksums = file->settle(total);
    if (!not_finite) return;
    throw Error(ErrorKind::input, path, fmt::format("a link at x,y,z,t = {} is not finite", fmt::join(*not_finite, ",")),
                "the file is damaged: copy it again");
  });
  compare_borders(job, path, result.gauge, decomposition);
  return result;
}

}  // namespace quarkstar::format
