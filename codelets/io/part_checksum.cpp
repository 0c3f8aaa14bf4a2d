#include "codelets/io/part_checksum.hpp"

namespace quarkstar::format {

void add_box(PayloadChecksum& sum, const Box& box, const Coord& lattice, std::span<const std::byte> bytes) {
  const std::size_t row = bytes.size() / static_cast<std::size_t>(volume(box.extents)) * static_cast<std::size_t>(box.extents[0]);
  for (std::int64_t i = 0; i < volume(box.extents) / box.extents[0]; ++i) {
    sum.add(lexicographic(site_of(box, i * box.extents[0]), lattice), bytes.subspan(static_cast<std::size_t>(i) * row, row));
  }
}

PayloadChecksum over_ranks(runtime::mpi::Job& job, const PayloadChecksum& mine) {
  PayloadChecksum total = mine.none();
  for (const std::array<std::uint32_t, 2>& sums : job.gather(mine.sums())) total.merge(sums);
  return total;
}

}  // namespace quarkstar::format
