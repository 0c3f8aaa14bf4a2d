#include "runtime/mpi/shared_output.hpp"

namespace quarkstar::runtime::mpi {

SharedOutput::SharedOutput(Job& job, const std::string& path) : job_(job) {
  job.on_root([&] { file_.emplace(path); });
  temporary_ = job.broadcast(file_ ? file_->temporary() : "");
}

void SharedOutput::fill(SiteRecords records, const Box& box, std::span<const std::byte> bytes) {
  records.offset = job_.combined(job_.is_root() ? records.offset : 0, Combine::maximum);
  SharedFile(job_, temporary_, SharedFile::Mode::write).write(records, box, bytes);
}

void SharedOutput::commit() {
  job_.on_root([this] { file_->commit(); });
}

}  // namespace quarkstar::runtime::mpi
