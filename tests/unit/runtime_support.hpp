#pragma once
// What the runtime's tests share: small sessions without GPUs, tasks whose body is a lambda, comparison of sums.
#include "runtime/graph/binned_sum.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/session.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace quarkstar::runtime_testing {

inline runtime::SessionOptions options(int workers, int threads_per_worker = 1, const std::string& policy = "static") {
  runtime::SessionOptions result;
  result.cpu_workers = workers;
  result.threads_per_worker = threads_per_worker;
  result.cuda_workers = 0;
  result.policy = policy;
  return result;
}

/// Tasks written as lambdas. They live in the script, so it waits for all of them when it goes.
class Script {
 public:
  using Body = std::function<void(runtime::Call&)>;

  Script() = default;
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  ~Script() { runtime::Session::current().wait_all(); }

  void submit(Body body, const runtime::AccessList& accesses = {}, runtime::Placement placement = {}, runtime::Cost cost = {}) {
    bodies_.push_back(std::move(body));
    const Body* kept = &bodies_.back();
    runtime::submit(codelet(), kept, accesses, cost, placement);
  }

 private:
  static void run(runtime::Call& call) { (*call.arguments<const Body*>())(call); }
  static const runtime::Codelet& codelet() {
    static const runtime::Codelet codelet("test.script", run);
    return codelet;
  }
  std::deque<Body> bodies_;
};

/// Holds tasks back until the test opens it. Gives up after half a minute, so that a failure is no hang.
class Gate {
 public:
  void open() { open_ = true; }
  /// True when it was opened in time.
  bool wait() const {
    for (int i = 0; i < 30000 && !open_; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return open_;
  }

 private:
  std::atomic<bool> open_{false};
};

/// Equal in everything that a later addition could still see, and in the bits of the value.
inline bool same_sum(const runtime::BinnedSum& a, const runtime::BinnedSum& b) {
  const auto total = [](const runtime::BinnedSum& s) {
    return (static_cast<__int128>(s.limb[0]) << 64) + (static_cast<__int128>(s.limb[1]) << 32) + s.limb[2];
  };
  if (a.poisoned || b.poisoned) return a.poisoned == b.poisoned;
  return a.window == b.window && total(a) == total(b) &&
         std::bit_cast<std::uint64_t>(value_of(a)) == std::bit_cast<std::uint64_t>(value_of(b));
}

}  // namespace quarkstar::runtime_testing
