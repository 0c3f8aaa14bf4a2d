#pragma once
// Writing that goes on while a campaign solves.
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace quarkstar::app::campaign {

/// Does jobs in their order on a thread of its own. Behind one that throws none is done.
class BackgroundWriter {
 public:
  BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;
  /// Does what is left. What fails then is not told: wait() before.
  ~BackgroundWriter();

  void add(std::function<void()> job);
  /// Until all are done. Throws what one of them has thrown, every time.
  void wait();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  ///< the first one is at work
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;  // behind what it uses
};

}  // namespace quarkstar::app::campaign
