#include "runtime/gpu/end_of_session.hpp"

#include <starpu.h>

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace quarkstar::runtime {
namespace {

std::mutex mutex;
std::vector<std::function<void()>>& kept() {
  static auto* all = new std::vector<std::function<void()>>;
  return *all;
}

}  // namespace

void at_end_of_session(std::function<void()> free) {
  if (starpu_worker_get_id() < 0) return;
  const std::lock_guard lock(mutex);
  kept().push_back(std::move(free));
}

void free_what_workers_kept() {
  std::vector<std::function<void()>> all;
  {
    const std::lock_guard lock(mutex);
    all.swap(kept());
  }
  if (all.empty()) return;
  std::thread([&all] {  // the current device is a thread's own
    while (!all.empty()) {
      all.back()();
      all.pop_back();
    }
  })
      .join();
}

}  // namespace quarkstar::runtime
