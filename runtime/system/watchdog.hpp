#pragma once
// Notices that nothing happens any more: a rank that has stopped, a link that is cut, a task that never ends.
#include "runtime/system/stall.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace quarkstar::runtime {

class Session;
namespace mpi {
class Job;
struct Answer;
}  // namespace mpi

/// Guards a job from MPI_Init to its end. While tasks or messages are pending, or the main thread waits in a collective call, and neither
/// this rank nor any other has completed anything for the patience's `idle`, or a rank does not answer any more, prints for this rank what
/// runs and what is waited for (codelet; block, direction, peer and tag of a message; ranks that do not answer, or wait for nobody), gives
/// other ranks a moment to do the same, and ends the job with the exit code of ErrorKind::environment. The main thread may be anywhere
/// meanwhile.
class Watchdog {
 public:
  Watchdog(mpi::Job& job, const Patience& patience);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void set_patience(const Patience& patience);
  void set_idle(std::chrono::seconds idle);
  void set_silent(std::chrono::seconds silent);
  /// `idle` becomes so long at least; 0, for ever, stays.
  void allow(std::chrono::seconds idle);

  /// The session whose tasks and messages count from now on; nullptr: none.
  void watch(Session* session);

  /// Called by a worker around a task.
  static void begins(int worker, const char* codelet);
  static void ends(int worker);

 private:
  void run();
  void look();
  bool waits() const;
  std::int64_t progress() const;
  mpi::Answer answer() const;
  std::chrono::seconds time_to_answer() const;
  void call_roll(std::unique_lock<std::mutex>& lock);
  [[noreturn]] void report(const std::string& ranks);

  mpi::Job& job_;
  Patience patience_;
  Session* session_ = nullptr;
  Stall stall_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace quarkstar::runtime
