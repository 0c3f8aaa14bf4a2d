#include "runtime/mpi/funnel.hpp"

#include <chrono>
#include <utility>

namespace quarkstar::runtime::mpi {

Funnel& funnel() {
  static auto* const of_process = new Funnel;  // a thread of a lost job waits here when the process ends
  return *of_process;
}

void Funnel::run(const Calls& calls) {
  {
    std::unique_lock lock(posting_);
    if (driver_ == std::this_thread::get_id()) {
      lock.unlock();
      return calls.function(calls.object);
    }
  }
  const std::lock_guard turn(turn_);  // one waits at a time
  std::unique_lock lock(posting_);
  posted_ = &calls;
  done_.wait(lock, [this] { return posted_ == nullptr; });
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Funnel::set_step(std::function<bool()> step) {
  auto set = [&] { step_ = std::move(step); };
  run({[](void* object) { (*static_cast<decltype(set)*>(object))(); }, &set});
}

void Funnel::drive(const std::function<bool()>& ended) {
  struct Driver {
    explicit Driver(Funnel& its) : funnel(its) { set(std::this_thread::get_id()); }
    ~Driver() { set({}); }
    void set(std::thread::id id) const {
      const std::lock_guard lock(funnel.posting_);
      funnel.driver_ = id;
    }
    Funnel& funnel;
  };
  const Driver driver(*this);
  constexpr int patient_rounds = 20000;
  for (int idle_rounds = 0; !ended();) {
    bool worked = false;
    {
      std::unique_lock lock(posting_);
      if (const Calls* calls = posted_; calls != nullptr) {
        worked = true;
        lock.unlock();
        std::exception_ptr thrown;
        try {
          calls->function(calls->object);
        } catch (...) {
          thrown = std::current_exception();
        }
        lock.lock();
        thrown_ = thrown;
        posted_ = nullptr;
        done_.notify_all();
      }
    }
    if (step_ && step_()) worked = true;
    idle_rounds = worked ? 0 : idle_rounds + 1;
    if (worked) continue;
    if (idle_rounds > patient_rounds) std::this_thread::sleep_for(std::chrono::microseconds(20));
    else std::this_thread::yield();
  }
}

}  // namespace quarkstar::runtime::mpi
