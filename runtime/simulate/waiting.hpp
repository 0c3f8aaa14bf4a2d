#pragma once
// Waiting for another thread; in a simulation for another actor: all share one thread, which std::condition_variable
// would stop.
#include <mutex>

#ifdef QUARKSTAR_SIMULATION
#include <memory>
#else
#include <condition_variable>
#endif

namespace quarkstar::runtime::simulate {

#ifdef QUARKSTAR_SIMULATION

/// For std::lock_guard and std::unique_lock.
class Mutex {
 public:
  Mutex();
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock();
  void unlock();

 private:
  friend class Condition;
  struct Native;
  std::unique_ptr<Native> native_;
};

/// As std::condition_variable.
class Condition {
 public:
  Condition();
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  template <class Predicate>
  void wait(std::unique_lock<Mutex>& lock, Predicate&& holds) {
    while (!holds()) wait_once(*lock.mutex());
  }
  void notify_one();
  void notify_all();

 private:
  void wait_once(Mutex& mutex);
  struct Native;
  std::unique_ptr<Native> native_;
};

#else

using Mutex = std::mutex;
using Condition = std::condition_variable;

#endif

}  // namespace quarkstar::runtime::simulate
