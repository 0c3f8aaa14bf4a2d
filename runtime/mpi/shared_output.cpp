#include "runtime/mpi/shared_output.hpp"

namespace quarkstar::runtime::mpi {

SharedOutput::SharedOutput(Job& job, const std::string& path) : job_(job) {
  job.on_root([&] { file_.emplace(path); });
}

void SharedOutput::fill(const SiteRecords& records, const Box& box, std::span<const std::byte> bytes) {
  SharedFile file(job_, temporary(), SharedFile::Mode::write);
  file.write(records, box, bytes);
  file.close();
}

void SharedOutput::fill_slabs(const SiteRecords& records, const Box& box, const SharedFile::Fill& slab) {
  SharedFile file(job_, temporary(), SharedFile::Mode::write);
  file.write_slabs(records, box, slab);
  file.close();
}

void SharedOutput::commit() {
  job_.on_root([this] { file_->commit(); });
}

}  // namespace quarkstar::runtime::mpi
