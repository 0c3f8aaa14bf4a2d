#include "codelets/io/gauge_part.hpp"

#include "codelets/io/border_check.hpp"
#include "codelets/io/part_checksum.hpp"
#include "codelets/io/reals.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/mpi/shared_file.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace quarkstar::format {
namespace {

using runtime::mpi::Job;
using runtime::mpi::SharedFile;

/// Stores the links of a slab in a field whose box may reach over the lattice's edges. Returns the first site with a link that is not
/// finite.
std::optional<Coord> store(HostGauge& gauge, const PayloadLayout& layout, const Box& slab, std::span<const std::byte> bytes) {
  std::optional<Coord> not_finite;
  const Box box = gauge.box();
  std::array<double, 18> link;
  const std::byte* in = bytes.data();
  for (std::int64_t i = 0; i < volume(slab.extents); ++i) {
    const Coord site = site_of(slab, i);
    const std::int64_t index = index_in(box, site, layout.extents);
    for (const int mu : layout.directions) {
      decode_link(layout, in, link);
      in += layout.link_bytes();
      std::copy(link.begin(), link.end(), gauge.link(index, mu).begin());
      if (!not_finite && !std::all_of(link.begin(), link.end(), [](double v) { return std::isfinite(v); })) not_finite = site;
    }
  }
  return not_finite;
}

}  // namespace

Box box_with_border(const runtime::Decomposition& decomposition) {
  return with_border(decomposition.part(), decomposition.lattice(), 1, 1);
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
    result.gauge = {box.extents, allocate_reals(path, static_cast<std::size_t>(volume(box.extents)) * HostGauge::reals_per_site),
                    box.origin};
  });
  SharedFile shared(job, path, SharedFile::Mode::read);
  const runtime::mpi::SiteRecords records{layout.offset, layout.record_bytes(), layout.extents};
  PayloadChecksum checksum = file->new_checksum();
  std::optional<Coord> not_finite;
  shared.read_slabs(records, part, [&](const Box& slab, std::span<const std::byte> bytes) {
    add_box(checksum, slab, lattice, bytes);
    if (const auto bad = store(result.gauge, layout, slab, bytes); bad && !not_finite) not_finite = bad;
  });
  shared.read_slabs(records, folded(border_of(box, part, lattice), lattice),
                    [&](const Box& slab, std::span<const std::byte> bytes) { store(result.gauge, layout, slab, bytes); });
  shared.close();
  const PayloadChecksum total = over_ranks(job, checksum);
  job.together([&] {
    result.info.checksums = file->settle(total);
    if (!not_finite) return;
    throw Error(ErrorKind::input, path, fmt::format("a link at x,y,z,t = {} is not finite", fmt::join(*not_finite, ",")),
                "the file is damaged: copy it again");
  });
  compare_borders(job, path, result.gauge.data, box, part, lattice);
  return result;
}

}  // namespace quarkstar::format
