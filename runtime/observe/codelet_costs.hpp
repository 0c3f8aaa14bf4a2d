#pragma once
// What tasks of each codelet took on each worker: for schedulers that predict.
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::runtime {

class Session;

/// Microseconds per byte of each codelet on each worker; recent tasks weigh more (the last ten or so), so that a worker that becomes slow
/// shows within some tasks. A session under a policy that does not keep owners has one; what
/// it has learnt is kept by device in a file beside the tune cache, from which the next one begins. A cost model of bytes over bandwidth
/// takes every codelet for equally efficient, and all workers of a kind for equally fast. For any thread.
class CodeletCosts {
 public:
  /// devices: by worker, what it is; workers of one device begin with the same costs. file: "": nothing is kept. One that cannot be read is
  /// taken for empty.
  CodeletCosts(std::vector<std::string> devices, std::string file);

  /// A task that did work. Those do not count that move no bytes, take less than 2 us or are faster than any memory (they do not do what
  /// was said of them), and a worker's first of a codelet, which touches its memory for the first time. What takes many times as long as
  /// expected counts for a part of that.
  void record(int worker, std::string_view codelet, double bytes, double us);
  /// What such a task is to take: as this worker's, else as those of other workers of its device, else as in the file; 0: not known.
  double predicted_us(int worker, std::string_view codelet, double bytes) const;

  /// Writes down what differs by a fifth or more from what is in the file, of codelets with eight tasks and more. Others may do so at the
  /// same time. Throws nothing: a file that cannot be written is named in a warning.
  void keep() const;

  /// Of the running session; nullptr where its policy asks for none.
  static CodeletCosts* of_session();
  static void start(const Session& session);
  /// throttled: some workers only looked slow (SessionOptions::throttles), so nothing is kept.
  static void end(bool throttled);

 private:
  struct Cost {
    double bytes = 0, us = 0, tasks = 0;  ///< sums in which what is older weighs less
    int seen = 0;
    double us_of(double of_bytes) const { return us / bytes * of_bytes; }
  };
  using Table = std::map<std::string, Cost, std::less<>>;
  struct alignas(64) Lane {  // own cache line: workers write these at the same time
    mutable std::mutex mutex;
    Table costs;
  };
  const Cost* kept(int worker, std::string_view codelet) const;

  std::vector<std::string> devices_;
  std::string file_;
  std::vector<Lane> lanes_;
  std::map<std::string, Table> kept_;  ///< by device
};

}  // namespace quarkstar::runtime
