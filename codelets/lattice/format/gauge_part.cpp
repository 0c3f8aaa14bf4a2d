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

/// Reads one box of the lattice in slabs of t, so that the raw bytes never need much memory: each(slab, bytes).
/// All ranks take the same number of steps; a rank whose box is thinner reads its last slab again, unused.
template <class Each>
void read_box(Job& job, SharedFile& file, const PayloadLayout& layout, const Box& box, Each&& each) {
  const auto steps = static_cast<int>(job.combined(static_cast<std::uint64_t>(box.extents[3]), runtime::mpi::Combine::maximum));
  Box slab = box;
  slab.extents[3] = 1;
  std::vector<std::byte> bytes(static_cast<std::size_t>(volume(slab.extents)) * layout.record_bytes());
  for (int step = 0; step < steps; ++step) {
    slab.origin[3] = box.origin[3] + std::min(step, box.extents[3] - 1);
    file.read({layout.offset, layout.record_bytes(), layout.extents}, slab, bytes);
    if (step < box.extents[3]) each(slab, std::span<const std::byte>(bytes));
  }
}

/// Stores the links of a slab in a field whose box may reach over the lattice's edges. Returns the first site with a link that is not finite.
std::optional<Coord> store(HostGauge& gauge, const PayloadLayout& layout, const Box& slab, std::span<const std::byte> bytes) {
  std::optional<Coord> not_finite;
  const Box box = gauge.box();
  std::array<double, 18> link;
  const std::byte* in = bytes.data();
  for (std::int64_t i = 0; i < volume(slab.extents); ++i) {
    Coord site = coordinates(i, slab.extents);
    for (int mu = 0; mu < 4; ++mu) site[mu] += slab.origin[mu];
    const std::int64_t index = index_in(box, site, layout.extents);
    for (int mu = 0; mu < 4; ++mu, in += layout.link_bytes()) {
      decode_link(layout, in, link);
      std::copy(link.begin(), link.end(), gauge.link(index, mu).begin());
      if (!not_finite && !std::all_of(link.begin(), link.end(), [](double v) { return std::isfinite(v); })) not_finite = site;
    }
  }
  return not_finite;
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
  SharedFile shared(job, path, SharedFile::Mode::read);
  PayloadChecksum checksum = file->new_checksum();
  std::optional<Coord> not_finite;
  read_box(job, shared, layout, part, [&](const Box& slab, std::span<const std::byte> bytes) {
    add_box(checksum, slab, lattice, bytes);
    if (const auto bad = store(result.gauge, layout, slab, bytes); bad && !not_finite) not_finite = bad;
  });
  for (int mu = 0; mu < 4; ++mu) {
    if (decomposition.ranks()[mu] == 1) continue;
    for (const int distance : {-1, part.extents[mu]}) {
      Box layer = part;
      layer.origin[mu] = (part.origin[mu] + distance + lattice[mu]) % lattice[mu];
      layer.extents[mu] = 1;
      read_box(job, shared, layout, layer, [&](const Box& slab, std::span<const std::byte> bytes) { store(result.gauge, layout, slab, bytes); });
    }
  }
  const PayloadChecksum total = over_ranks(job, checksum);
  job.together([&] {
    result.info.checksums = file->settle(total);
    if (!not_finite) return;
    throw Error(ErrorKind::input, path, fmt::format("a link at x,y,z,t = {} is not finite", fmt::join(*not_finite, ",")),
                "the file is damaged: copy it again");
  });
  return result;
}

}  // namespace quarkstar::format
