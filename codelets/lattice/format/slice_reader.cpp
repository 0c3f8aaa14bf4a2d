#include "codelets/lattice/format/slice_reader.hpp"

#include <vector>

namespace quarkstar::format {

void read_slices(runtime::mpi::Job& job, runtime::mpi::SharedFile& file, const runtime::mpi::SiteRecords& records, std::span<const Box> slices,
                 const std::function<void(const Box& slice, std::span<const std::byte> bytes)>& each) {
  const Box idle{{}, {1, 1, 1, 1}};  // what a rank without further slices reads while others go on
  const std::uint64_t steps = job.combined(slices.size(), runtime::mpi::Combine::maximum);
  std::vector<std::byte> bytes;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const bool mine = step < slices.size();
    const Box& slice = mine ? slices[step] : idle;
    bytes.resize(static_cast<std::size_t>(volume(slice.extents)) * records.record_bytes);
    file.read(records, slice, bytes);
    if (mine) each(slice, bytes);
  }
}

}  // namespace quarkstar::format
