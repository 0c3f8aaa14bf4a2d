#include "apps/campaign/background_writer.hpp"

#include <csignal>
#include <utility>

namespace quarkstar::app::campaign {

BackgroundWriter::BackgroundWriter() : thread_([this] { work(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::add(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void BackgroundWriter::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty(); });
  if (failure_) std::rethrow_exception(failure_);
}

void BackgroundWriter::work() {
  sigset_t all;  // signals are for the thread that waits for them; here they would only interrupt calls
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    lock.unlock();
    std::exception_ptr failure;
    try {
      job();
    } catch (...) {
      failure = std::current_exception();
    }
    job = nullptr;  // what it holds may be large
    lock.lock();
    jobs_.pop_front();
    if (failure) {
      failure_ = failure;
      jobs_.clear();
    }
    changed_.notify_all();
  }
}

}  // namespace quarkstar::app::campaign
