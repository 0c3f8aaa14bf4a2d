#include "apps/c/context.hpp"
#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace quarkstar::c {

namespace {

/// Waits for `is_there` for a short time without sleeping: to wake a thread that sleeps takes some 20 us.
template <class IsThere>
void look_for(IsThere&& is_there) {
  constexpr std::chrono::microseconds longest(200);
  for (const auto end = std::chrono::steady_clock::now() + longest; !is_there() && std::chrono::steady_clock::now() < end;)
    std::this_thread::yield();
}

}  // namespace

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
  runtime::mpi::work_for_host(uses_caller_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || work_ != nullptr; });
    if (ending_) return;
    const std::function<void()>& work = *work_.exchange(nullptr);
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
    uses_caller_ = false;
    done_ = true;
    changed_.notify_all();
    lock.unlock();
    look_for([this] { return work_ != nullptr || ending_; });
    lock.lock();
  }
}

void Service::run(const std::function<void()>& work, bool drives) {
  std::unique_lock lock(mutex_);
  done_ = ends_soon_ = false;
  uses_caller_ = true;
  work_ = &work;
  changed_.notify_all();
  const auto ended = [this] { return done_.load() || lost_.load(); };
  if (drives) {
    lock.unlock();
    try {
      runtime::mpi::funnel().drive(ended);
    } catch (const std::exception& error) {  // of a message: what works for us may wait for it for ever
      runtime::mpi::Job& job = runtime::mpi::Job::current();
      job.print_error(error.what());
      runtime::mpi::give_up_work(job);
      lose();
    }
    lock.lock();
  }
  changed_.wait(lock, [&] { return ended() || ends_soon_; });
  if (!ended()) {
    lock.unlock();
    look_for(ended);
    lock.lock();
    changed_.wait(lock, ended);
  }
  lock.unlock();
  // What is copied now needs nothing more of other ranks, and what is computed comes to a wait soon: the thread goes no further. One that
  // hangs in StarPU or in a device's driver does not come to a wait: it is taken to use nothing of the caller's any more.
  constexpr int patience_ms = 10000;
  for (int ms = 0; lost_ && uses_caller_ && ms < patience_ms; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (lost_) throw Error(ErrorKind::environment, "job", "lost", "");
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Service::ends_soon() {
  {
    const std::lock_guard lock(mutex_);
    ends_soon_ = true;
  }
  changed_.notify_all();
}

void Service::say(const std::function<void()>& words) {
  const std::lock_guard lock(saying_);
  if (!lost_) words();
}

void Service::tell(const std::string& message) {
  const std::lock_guard lock(mutex_);
  loss_.message = message;
}

void Service::blame(const std::string& parameter) {
  const std::lock_guard lock(mutex_);
  loss_.parameter = parameter;
}

void Service::lose() {
  {
    const std::lock_guard after_words(saying_);
    const std::lock_guard lock(mutex_);
    lost_ = true;
  }
  changed_.notify_all();
}

Service::Loss Service::loss() const {
  const std::lock_guard lock(mutex_);
  return loss_.message.empty() ? Loss{"the job has failed", ""} : loss_;
}

}  // namespace quarkstar::c
