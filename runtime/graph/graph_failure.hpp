#pragma once
// An exception in a codelet ends the graph: what it was, and who hears of it.
#include "runtime/graph/codelet.hpp"

#include <exception>

namespace quarkstar::runtime {

class Session;

/// The first exception of a task of the running session. From then on no task runs: those that are submitted already end at once, without
/// work, so that whoever waits for them goes on, and whoever submits, waits for tasks or looks at data throws an Error that names the
/// codelet, its block and its worker, every time. What is in the session's handles means nothing any more. The next session starts afresh.
/// All functions are for any thread.
class GraphFailure {
 public:
  static bool happened() noexcept;
  /// Throws the Error, where there is one: of an Error its kind and message, of want of memory ErrorKind::environment, of anything else
  /// ErrorKind::internal.
  static void throw_if_any();
  /// In a handler: the exception is that of this task.
  static void note(const Codelet& codelet, const Placement& placement, int worker) noexcept;
  /// For the start of a session.
  static void forget() noexcept;

  /// Of codelets whose tasks run in an ended graph too: those that run others one by one, and own their arguments.
  class RunsOthers {
   public:
    explicit RunsOthers(const Codelet& codelet);
  };
};

namespace detail {
/// Runs a task, or a part of one, unless the graph has ended; an exception ends it.
void run_guarded(const Codelet& codelet, Implementation implementation, Call& call, const Placement& placement) noexcept;
}  // namespace detail

/// Where tasks use memory of this scope: the Error of an ended graph leaves it only when no task runs any more. On several ranks, which
/// such an error ends, it does not wait.
class Settled {
 public:
  Settled() : before_(std::uncaught_exceptions()) {}
  ~Settled();
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;

 private:
  int before_;
};

/// Session::wait_all() for destructors: says nothing of failed tasks.
void wait_quietly(Session& session);

}  // namespace quarkstar::runtime
