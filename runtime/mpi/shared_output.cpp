#include "runtime/mpi/shared_output.hpp"

namespace quarkstar::runtime::mpi {

SharedOutput::SharedOutput(Job& job, const std::string& path) : job_(job), path_(path) {
  job.on_root([&] { file_.emplace(path); });
}

void SharedOutput::on_root(const std::function<void()>& work) try { job_.on_root(work); } catch (...) {  // on all ranks
  if (shared_) shared_->release();
  throw;
}

SharedFile& SharedOutput::shared() {
  if (!shared_) shared_.emplace(job_, file_ ? file_->temporary() : "", SharedFile::Mode::write, path_);
  return *shared_;
}

void SharedOutput::fill(const SiteRecords& records, const Box& box, std::span<const std::byte> bytes) {
  shared().write(records, box, bytes);
}

void SharedOutput::fill_slabs(const SiteRecords& records, const Box& box, const SharedFile::Fill& slab) {
  shared().write_slabs(records, box, slab);
}

void SharedOutput::commit() {
  if (shared_) shared_->close();
  shared_.reset();
  job_.on_root([this] { file_->commit(); });
}

}  // namespace quarkstar::runtime::mpi
