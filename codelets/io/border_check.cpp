#include "codelets/io/border_check.hpp"

#include "codelets/io/checksum.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/system/error.hpp"

#include <vector>

namespace quarkstar::format {

void compare_borders(runtime::mpi::Job& job, const std::string& path, std::span<const double> field, const Box& box, const Box& part,
                     const Coord& lattice) {
  if (job.is_fake()) return;  // the other ranks do not exist
  const auto site_reals = field.size() / static_cast<std::size_t>(volume(box.extents));
  // Over sites, without regard to order: crc32 of the site's reals times its number in the lattice plus one, modulo 2^64.
  const auto sum_of = [&](const Box& sites) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < volume(sites.extents); ++i) {
      const Coord site = site_of(sites, i);
      PayloadChecksum crc(ChecksumKind::scidac, ByteOrder::little, site_reals * sizeof(double));
      crc.add(0, std::as_bytes(field.subspan(static_cast<std::size_t>(index_in(box, site, lattice)) * site_reals, site_reals)));
      sum += crc.sums()[0] * (static_cast<std::uint64_t>(lexicographic(site, lattice)) + 1);
    }
    return sum;
  };
  const std::vector<Box> boxes = job.gather(box);
  std::vector<std::uint64_t> owners(boxes.size());  // of each rank's border, by those who own it
  std::uint64_t mine = 0;
  job.together([&] {
    for (const Box& piece : folded(border_of(box, part, lattice), lattice)) mine += sum_of(piece);
    for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
      if (static_cast<int>(rank) == job.rank()) continue;
      for (const Box& piece : folded(std::span(&boxes[rank], 1), lattice)) owners[rank] += sum_of(common(piece, part));
    }
  });
  job.combine(owners, runtime::mpi::Combine::sum);
  job.together([&] {
    if (owners[static_cast<std::size_t>(job.rank())] == mine) return;
    throw Error(ErrorKind::environment, path, "the sites around this rank's part are not what their owners have read",
                "hosts see different files under this name, or the file system fails: try again");
  });
}

}  // namespace quarkstar::format
