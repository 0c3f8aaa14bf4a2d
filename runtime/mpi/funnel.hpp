#pragma once
// Who may call MPI and when: one thread at a time, or one thread alone.
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/job.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>

namespace quarkstar::runtime::mpi {

/// Where MPI was initialised for one thread (MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED) that thread is in drive() while others work for it,
/// and makes the calls of all. Else it is off.
class Funnel {
 public:
  /// Before any call, and when all have been made.
  void turn(bool on) { on_ = on; }
  bool is_on() const { return on_; }
  /// What that thread does besides, until it finds nothing to do: returns whether there was something. Empty: nothing.
  void set_step(std::function<bool()> step);
  /// On the thread that may call MPI: makes the calls of others until ended() says so, which is asked after each of them and at least
  /// every 20 us or so. Throws what the step throws.
  void drive(const std::function<bool()>& ended);

  struct Calls {
    void (*function)(void*);
    void* object;
  };
  /// Returns when they have been made; throws what they throw.
  void run(const Calls& calls);

 private:
  bool on_ = false;
  std::thread::id driver_;  ///< under posting_
  std::function<bool()> step_;
  std::mutex posting_, turn_;
  std::condition_variable done_;
  const Calls* posted_ = nullptr;
  std::exception_ptr thrown_;
};

/// Of this process.
Funnel& funnel();

/// Makes calls of MPI: with the library to itself (Job::library()), or on the thread that alone may. Throws what they throw. Never returns
/// when the job is lost.
template <class Calls>
void call_mpi(Job& job, Calls&& calls) {
  using Plain = std::remove_reference_t<Calls>;
  const Waits waits;
  if (funnel().is_on())
    return funnel().run({[](void* object) { (*static_cast<Plain*>(object))(); }, const_cast<void*>(static_cast<const void*>(&calls))});
  {
    const std::lock_guard lock(job.library());
    if (is_at_work()) return calls();
  }
  wait_for_ever();
}

}  // namespace quarkstar::runtime::mpi
