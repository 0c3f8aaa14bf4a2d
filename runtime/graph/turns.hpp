#pragma once
// Several programs that submit to one graph: they take turns.
#include <functional>

namespace quarkstar::runtime {

/// A program submits tasks until it would have to wait for some, passes the turn to the next program in flight, and waits only when the
/// turn has come back: meanwhile the graph holds the tasks of all of them, and workers fill the gaps of one with the work of another. Each
/// program has a thread, but one runs at any time, and which one follows from the programs alone: all ranks of a job submit the same
/// sequence, and handles see the accesses of a sequential program. What a program reads after a turn must be its own.
class Turns {
 public:
  /// Who has the turn next: the next program in a ring, which waits with the turn for what it needs; or the one whose wait ended first, so
  /// that programs on slow and on fast workers do not wait for each other. The second is for one rank, and for programs that write no
  /// handle together: which of them submits first depends on time.
  enum class Order { ring, as_they_come };

  /// Runs program(0) ... program(count - 1), `in_flight` at a time; the next starts where one has ended. With one at a time they run here,
  /// one after another. When one throws no other starts, those in flight run to their end (see failed()), and then it is thrown from here.
  static void run(int count, int in_flight, const std::function<void(int)>& program, Order order = Order::ring);

  /// Gives the turn away; returns when it has come back. At once where this thread's program is alone.
  static void pass();
  /// Gives the turn away, and calls wait(), which waits for tasks of this program and does nothing else. Returns with the turn.
  static void wait(const std::function<void()>& wait);

  /// Which of the programs in flight this thread runs, from 0; 0 outside run().
  static int lane();
  /// How many programs are in flight in the process; 1 outside run(). For any thread.
  static int in_flight();
  /// Whether programs are in flight together here.
  static bool taken();
  /// Whether one of them has thrown, so that the others should come to an end.
  static bool failed();
};

}  // namespace quarkstar::runtime
