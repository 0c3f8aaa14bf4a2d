#pragma once
// Notices that nothing happens any more: a rank that has stopped, a link that is cut, a task that never ends.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace quarkstar::runtime {

class Session;

/// While tasks or messages are pending and none of them completes for `limit`, prints for this rank what runs and what is waited for
/// (codelet; block, direction, peer and tag of a message; ranks that do not answer), gives other ranks a moment to do the same, and ends the job with the exit code
/// of ErrorKind::environment. The main thread may be anywhere meanwhile.
class Watchdog {
 public:
  Watchdog(Session& session, std::chrono::seconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Called by a worker around a task.
  static void begins(int worker, const char* codelet);
  static void ends(int worker);

 private:
  void run();
  [[noreturn]] void report();
  std::int64_t progress() const;

  Session& session_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace quarkstar::runtime
