#include "apps/c/context.hpp"
#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"

#include <exception>
#include <utility>

namespace quarkstar::c {

Service::Service() : thread_([this] { serve(); }) {}

Service::~Service() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Service::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || work_ != nullptr; });
    if (ending_) return;
    const std::function<void()>& work = *std::exchange(work_, nullptr);
    lock.unlock();
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    if (lost_) runtime::mpi::wait_for_ever();  // nobody waits for this any more
    lock.lock();
    thrown_ = thrown;
    done_ = true;
    changed_.notify_all();
  }
}

void Service::run(const std::function<void()>& work, bool drives) {
  std::unique_lock lock(mutex_);
  done_ = false;
  work_ = &work;
  changed_.notify_all();
  const auto ended = [this] { return done_.load() || lost_.load(); };
  if (drives) {
    lock.unlock();
    try {
      runtime::mpi::funnel().drive(ended);
    } catch (const std::exception& error) {  // of a message: what works for us may wait for it for ever
      tell(error.what());
      runtime::mpi::give_up_work(runtime::mpi::Job::current());
      lose();
    }
    lock.lock();
  }
  changed_.wait(lock, ended);
  if (lost_) throw Error(ErrorKind::environment, "job", "lost", "");
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Service::tell(const std::string& message) {
  const std::lock_guard lock(mutex_);
  message_ = message;
}

void Service::lose() {
  {
    const std::lock_guard lock(mutex_);
    lost_ = true;
  }
  changed_.notify_all();
}

std::string Service::loss() const {
  const std::lock_guard lock(mutex_);
  return message_.empty() ? "the job has failed" : message_;
}

}  // namespace quarkstar::c
